/** Declarations of the commands about conversations: `agentcli chat`, `acp` and `sessions`. */
import { RUN_OPTIONS } from "./run/command.ts";
import { choice, command, flag, group, integer, text, type Values } from "./command.ts";

export const chatCommand = command({
  brief: "Talk with a model, turn by turn",
  detail:
    "Answers render as they stream; what you type meanwhile goes to the model after the next tool result, or after the turn. Ctrl-C stops the turn, twice it exits; Ctrl-D exits. Type / for the commands, workflows and skills of the project among them, @ to attach a file or directory, ! to run a command; ? shows the keys. With piped input each line is a turn.",
  arguments: [{ name: "prompt", brief: "The first thing to say", optional: true }],
  options: RUN_OPTIONS,
  examples: [
    "agentcli chat --model demo",
    "agentcli chat --continue",
    'agentcli chat --permission-mode plan "What would it take to add a command?"',
  ],
  connects: "here",
  load: async () => (await import("./chat/begin.ts")).run,
});

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
    "Speaks version 1 of the protocol on standard input and output: one JSON-RPC message per line. Editors start it themselves; docs/editors.md has the settings of each. The options apply to every session; the editor can change mode, model and thinking.",
  options: ACP_OPTIONS,
  examples: ["agentcli acp", "agentcli acp --model demo", "agentcli acp --permission-mode plan"],
  connects: "anywhere",
  load: async () => (await import("./acp/server.ts")).run,
});

const SESSION = {
  name: "id",
  brief: "A session id, a prefix of one, or latest",
  completion: "session",
} as const;
const all = flag("Include the sessions of all projects");

export const LIST_OPTIONS = { all } as const;

export const EXPORT_FORMATS = ["markdown", "json", "html"] as const;

export const EXPORT_OPTIONS = {
  all,
  format: choice(
    EXPORT_FORMATS,
    "markdown or html for people, json for programs (default: by the ending of FILE, else markdown)",
  ),
  html: flag("The same as --format html"),
  output: text("FILE", "Write to a file instead of standard output", { completion: "file" }),
} as const;

export const PRUNE_OPTIONS = {
  all,
  olderThan: integer("DAYS", "Only sessions last used more than DAYS days ago", { maximum: 100_000 }),
} as const;

export const sessionsCommand = group({
  brief: "List, show, name, export and delete stored sessions",
  detail:
    "Sessions are stored in the home under projects/, one file each. They never contain protected content: a placeholder says where it came from.",
  commands: {
    list: command({
      brief: "List the sessions of this project, most recent first",
      options: LIST_OPTIONS,
      examples: ["agentcli sessions list", "agentcli sessions list --all --json"],
      load: async () => (await import("./sessions/run.ts")).listStored,
    }),
    show: command({
      brief: "Print a session",
      arguments: [SESSION],
      options: LIST_OPTIONS,
      examples: ["agentcli sessions show latest", "agentcli sessions show 1f0c --json"],
      load: async () => (await import("./sessions/run.ts")).showStored,
    }),
    rename: command({
      brief: "Name a session; lists show the name, and --resume takes it",
      detail: 'An empty name ("") removes the one it has. In a chat: /rename.',
      arguments: [SESSION, { name: "name", brief: "The name, in one line" }],
      options: LIST_OPTIONS,
      examples: [
        'agentcli sessions rename latest "The port of the pump"',
        'agentcli run --resume "The port of the pump" "Go on."',
      ],
      load: async () => (await import("./sessions/run.ts")).renameOne,
    }),
    export: command({
      brief: "Export a session as Markdown, JSON or HTML",
      detail:
        "Writes the whole conversation, including what a summary replaced, but never protected content. HTML is one file without scripts. An existing file is replaced only with --yes.",
      arguments: [SESSION],
      options: EXPORT_OPTIONS,
      examples: [
        "agentcli sessions export latest --output session.md",
        "agentcli sessions export 1f0c --format json",
        "agentcli sessions export latest --output session.html",
      ],
      load: async () => (await import("./sessions/run.ts")).exportStored,
    }),
    delete: command({
      brief: "Delete a session, after confirmation",
      arguments: [SESSION],
      options: LIST_OPTIONS,
      examples: ["agentcli sessions delete 1f0c --yes"],
      load: async () => (await import("./sessions/run.ts")).deleteOne,
    }),
    prune: command({
      brief: "Delete old sessions, after confirmation",
      options: PRUNE_OPTIONS,
      examples: ["agentcli sessions prune --older-than 30", "agentcli sessions prune --older-than 90 --all --yes"],
      load: async () => (await import("./sessions/run.ts")).pruneSessions,
    }),
  },
});
