/** `agentcli secrets …`: which paths are for local models alone. */
import { command, group, list, text } from "../command.ts";

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
      load: async () => (await import("./change.ts")).addPaths,
    }),
    list: command({
      brief: "Print the protected paths, the rule that covers each, and whether the provider counts as local",
      options: SECRETS_OPTIONS,
      examples: ["agentcli secrets list", "agentcli secrets list --json"],
      load: async () => (await import("./show.ts")).listProtected,
    }),
    check: command({
      brief: "Report whether each path is protected, and why; exit 1 if one is not",
      arguments: [PATHS],
      options: SECRETS_OPTIONS,
      examples: ["agentcli secrets check .env", "agentcli secrets check .env src --json"],
      load: async () => (await import("./show.ts")).checkPaths,
    }),
    trust: command({
      brief: "Accept the project's markers as they are now: removed lines and new hosts",
      detail:
        "The home remembers all marker lines, and the local hosts from when the project was first seen. A removed line still protects, and an added host has no effect, until you accept the change here. With paths, only these files are released: copies of protected content that a session left. Shows the difference and asks for confirmation; without a terminal, --yes is required.",
      arguments: [{ ...PATHS, brief: "A copy of protected content to release", optional: true }],
      examples: ["agentcli secrets trust", "agentcli secrets trust --yes --json"],
      load: async () => (await import("./change.ts")).trustProject,
    }),
    "allow-fragment": command({
      brief: "Let lines of a protected file pass the leak scanner",
      detail:
        "For lines of a protected file that are not secret, such as a license header. The file stays protected. The lines are stored as salted digests in the home. Asks for confirmation; without a terminal, --yes is required.",
      arguments: [{ name: "FILE:LINES", brief: "A protected file and a line, or its first and last line" }],
      examples: ["agentcli secrets allow-fragment .env:1 --yes"],
      load: async () => (await import("./change.ts")).allowFragment,
    }),
  },
});
