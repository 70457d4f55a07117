/**
 * The commands. Each declaration is loaded when it is named: declaring all of them would cost every start half a
 * millisecond.
 */
import { type Command, type Group, group } from "./command.ts";

// deno-lint-ignore no-explicit-any -- commands with different options
type Node = Command<any> | Group;

const BRIEF = "agentcli: run agent turns with models on your own machine";

/** The commands below the name of the program, in the order of the help. */
const COMMANDS: Readonly<Record<string, () => Promise<Node>>> = {
  run: async () => (await import("./run/command.ts")).runCommand,
  chat: async () => (await import("./conversation_commands.ts")).chatCommand,
  acp: async () => (await import("./conversation_commands.ts")).acpCommand,
  "init-providers": async () => (await import("./program_commands.ts")).initProvidersCommand,
  providers: async () => (await import("./providers/command.ts")).providersCommand,
  config: async () => (await import("./program_commands.ts")).configCommand,
  mcp: async () => (await import("./mcp/command.ts")).mcpCommand,
  "local-model": async () => (await import("./local_model/command.ts")).localModelCommand,
  models: async () => (await import("./program_commands.ts")).modelsCommand,
  secrets: async () => (await import("./boundary_commands.ts")).secretsCommand,
  sandbox: async () => (await import("./boundary_commands.ts")).sandboxCommand,
  quarantine: async () => (await import("./boundary_commands.ts")).quarantineCommand,
  editor: async () => (await import("./editor/command.ts")).editorCommand,
  auth: async () => (await import("./program_commands.ts")).authCommand,
  sessions: async () => (await import("./conversation_commands.ts")).sessionsCommand,
  doctor: async () => (await import("./program_commands.ts")).doctorCommand,
  completions: async () => (await import("./program_commands.ts")).completionsCommand,
  help: async () => (await import("./program_commands.ts")).helpCommand,
  upgrade: async () => (await import("./program_commands.ts")).upgradeCommand,
  version: async () => (await import("./program_commands.ts")).versionCommand,
  __complete: async () => (await import("./program_commands.ts")).completeCommand,
};

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

/** The tree of commands; with `only`, those of these names that exist. */
export async function loadTree(only: readonly string[] = COMMAND_NAMES): Promise<Group> {
  const named = Object.entries(COMMANDS).filter(([name]) => only.includes(name));
  const commands = await Promise.all(named.map(async ([name, load]) => [name, await load()] as const));
  return group({ brief: BRIEF, commands: Object.fromEntries(commands), usual: "chat" });
}
