/** Declarations of the commands about protected paths: `agentcli secrets`, `sandbox` and `quarantine`. */
import { command, flag, group, list, text } from "./command.ts";

export const quarantineCommand = group({
  brief: "List and restore files that were quarantined because they could run code later",
  detail:
    "In a project with protected paths, a command run by a model may not create hooks, editor or assistant settings, or repositories: other programs run their content without asking, with your permissions. A command that makes one is ended, and the files are moved to quarantine/ in the home; nothing is deleted. Files that you created at the same time are moved, too.",
  commands: {
    list: command({
      brief: "List quarantined files, oldest first",
      examples: ["agentcli quarantine list", "agentcli quarantine list --json"],
      load: async () => (await import("./quarantine.ts")).listEntries,
    }),
    restore: command({
      brief: "Restore files to where they were; exit 1 if something else is there now",
      arguments: [{ name: "id", brief: "An id from the list" }],
      examples: ["agentcli quarantine restore 20260301-101500-1"],
      load: async () => (await import("./quarantine.ts")).restoreEntry,
    }),
  },
});

export const SANDBOX_OPTIONS = {
  network: flag("Allow the network, including services on this machine"),
} as const;

export const sandboxCommand = command({
  brief: "Run a command in the sandbox, without the project's protected paths",
  detail:
    "The command sees the project without its protected paths and repositories, the system read-only, the directories in sandbox.read and sandbox.write, and the usual environment variables plus those in sandbox.env. Its output goes through pipes, is shown within half a second in most projects, and ends with the command if a path becomes protected, or a protected one is replaced, meanwhile (exit 6). Its exit code is passed on. If no sandbox is available, it does not run (exit 6). If it creates files that could run code later, it is ended, and they are moved to quarantine, see agentcli quarantine.",
  arguments: [{
    name: "command",
    brief: "A program and its arguments, or a shell command as one word, after --",
    repeated: true,
    completion: "file",
  }],
  options: SANDBOX_OPTIONS,
  examples: [
    "agentcli sandbox -- ls -la",
    "agentcli sandbox -- 'cat .env || echo hidden'",
    "agentcli sandbox --network -- true",
  ],
  load: async () => (await import("./sandbox.ts")).run,
});

const PATHS = {
  name: "path",
  brief: "A file or directory; it need not exist yet",
  repeated: true,
  completion: "file",
} as const;

export const SECRETS_OPTIONS = {
  model: text("PROVIDER[:MODEL]", "Report on this provider instead of the configured one", { completion: "model" }),
} as const;

export const ADD_OPTIONS = {
  localEndpoint: list(
    "HOST",
    "Treat this host (host, host:port or [v6]:port) as local in this project; can be repeated",
  ),
} as const;

export const secretsCommand = group({
  brief: "Show and change which files only local models may read",
  detail:
    "A file .agentclisecret marks paths: `no-cloud: <path>` for local models only, `list-only: <path>` for no model, `local-endpoints: <host>` for a server that counts as local. Patterns work as in .gitignore. Content is never printed. To stop protecting a path, remove its line from .agentclisecret and run `agentcli secrets trust`.",
  commands: {
    add: command({
      brief: "Mark paths as no-cloud in the project's .agentclisecret, or treat a host as local there",
      arguments: [{ ...PATHS, optional: true }],
      options: ADD_OPTIONS,
      examples: [
        "agentcli secrets add .env",
        "agentcli secrets add secrets 'keys/*.pem'",
        "agentcli secrets add --local-endpoint gpu-box:8000",
      ],
      load: async () => (await import("./secrets/change.ts")).addPaths,
    }),
    list: command({
      brief: "Print the protected paths, the rule that covers each, and whether the provider counts as local",
      options: SECRETS_OPTIONS,
      examples: ["agentcli secrets list", "agentcli secrets list --json"],
      load: async () => (await import("./secrets/show.ts")).listProtected,
    }),
    check: command({
      brief: "Report whether each path is protected, and why; exit 1 if one is not",
      arguments: [PATHS],
      options: SECRETS_OPTIONS,
      examples: ["agentcli secrets check .env", "agentcli secrets check .env src --json"],
      load: async () => (await import("./secrets/show.ts")).checkPaths,
    }),
    trust: command({
      brief: "Accept the project's markers as they are now: removed lines and new hosts",
      detail:
        "The home remembers all marker lines, and the local hosts from when the project was first seen. A removed line still protects, and an added host has no effect, until you accept the change here. With paths, only these files are released: copies of protected content that a session left. Shows the difference and asks for confirmation; without a terminal, --yes is required.",
      arguments: [{ ...PATHS, brief: "A copy of protected content to release", optional: true }],
      examples: ["agentcli secrets trust", "agentcli secrets trust --yes --json"],
      load: async () => (await import("./secrets/change.ts")).trustProject,
    }),
    "allow-fragment": command({
      brief: "Let lines of a protected file pass the leak scanner",
      detail:
        "For lines of a protected file that are not secret, such as a license header. The file stays protected. The lines are stored as salted digests in the home. Asks for confirmation; without a terminal, --yes is required.",
      arguments: [{ name: "FILE:LINES", brief: "A protected file and a line, or its first and last line" }],
      examples: ["agentcli secrets allow-fragment .env:1 --yes"],
      load: async () => (await import("./secrets/change.ts")).allowFragment,
    }),
  },
});
