/** `agentcli providers probe`: measure one model. */
import { flag, integer, verb } from "../../verb.ts";

export const PROBE_OPTIONS = {
  write: flag("Store what was found in providers.yaml: context_window, tool_calls, reasoning"),
  timeout: integer("SECONDS", "Longest time for everything (default: 300)", { minimum: 1, maximum: 86_400 }),
  maxPrompt: integer("TOKENS", "Longest prompt that is sent to prove the window (default: 32768)", {
    minimum: 512,
    maximum: 10_000_000,
  }),
} as const;

export const probeVerb = verb({
  brief: "Measure one model: window, speed, tool calls, edits",
  detail:
    "Sends about twenty requests with made-up text, nothing of yours. The server may load the model for it, and a provider that charges for tokens charges for these. Exit 0 when the model replies, whatever else it can do. Of a server that writes several replies at once, `stop on abort` says little.",
  arguments: [{ name: "model", brief: "<provider>[:<model or alias>]", completion: "model" }],
  options: PROBE_OPTIONS,
  examples: [
    "agentcli providers probe demo",
    "agentcli providers probe runtime_a:qwen3:8b --write",
    "agentcli providers probe runtime_b --max-prompt 8192 --timeout 120 --json",
  ],
  connects: true,
  load: async () => (await import("./run.ts")).run,
});
