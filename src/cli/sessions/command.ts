/** `agentcli sessions …`: what was said before. */
import { choice, command, flag, group, integer, text } from "../command.ts";

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
      load: async () => (await import("./run.ts")).listStored,
    }),
    show: command({
      brief: "Print a session",
      arguments: [SESSION],
      options: LIST_OPTIONS,
      examples: ["agentcli sessions show latest", "agentcli sessions show 1f0c --json"],
      load: async () => (await import("./run.ts")).showStored,
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
      load: async () => (await import("./run.ts")).renameOne,
    }),
    export: command({
      brief: "Export a session as Markdown, JSON or HTML",
      detail:
        "The whole conversation is written, also what a summary stands for now; never protected content. HTML is one file without scripts. An existing file is replaced only with --yes.",
      arguments: [SESSION],
      options: EXPORT_OPTIONS,
      examples: [
        "agentcli sessions export latest --output session.md",
        "agentcli sessions export 1f0c --format json",
        "agentcli sessions export latest --output session.html",
      ],
      load: async () => (await import("./run.ts")).exportStored,
    }),
    delete: command({
      brief: "Delete a session, after confirmation",
      arguments: [SESSION],
      options: LIST_OPTIONS,
      examples: ["agentcli sessions delete 1f0c --yes"],
      load: async () => (await import("./run.ts")).deleteOne,
    }),
    prune: command({
      brief: "Delete old sessions, after confirmation",
      options: PRUNE_OPTIONS,
      examples: ["agentcli sessions prune --older-than 30", "agentcli sessions prune --older-than 90 --all --yes"],
      load: async () => (await import("./run.ts")).pruneSessions,
    }),
  },
});
