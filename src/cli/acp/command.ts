/** `agentcli acp`: an agent for editors and other clients of the Agent Client Protocol. */
import { RUN_OPTIONS } from "../run/command.ts";
import { command, flag, type Values } from "../command.ts";

const {
  model,
  maxTokens,
  temperature,
  systemPrompt,
  appendSystemPrompt,
  addDir,
  permissionMode,
  allowedTools,
  disallowedTools,
  tools,
  check,
  maxTurns,
  timeout,
} = RUN_OPTIONS;

/** Options of every session of the connection. */
export const ACP_OPTIONS = {
  ...{ model, maxTokens, temperature, systemPrompt, appendSystemPrompt },
  ...{ addDir, permissionMode, allowedTools, disallowedTools, tools, check, maxTurns, timeout },
  setup: flag("Find model servers and add them, as init-providers does, and end"),
} as const;

export type AcpOptions = Values<typeof ACP_OPTIONS>;

export const acpCommand = command({
  brief: "Serve editors over the Agent Client Protocol",
  detail:
    "Speaks version 1 of the protocol on standard input and output: one JSON-RPC message per line. Editors start it themselves; docs/editors.md has the settings of each. The options hold for every session; the editor can change mode, model and thinking.",
  options: ACP_OPTIONS,
  examples: ["agentcli acp", "agentcli acp --model demo", "agentcli acp --permission-mode plan"],
  connects: "anywhere",
  load: async () => (await import("./server.ts")).run,
});
