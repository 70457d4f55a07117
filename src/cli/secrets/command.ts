/** `agentcli secrets …`: which paths are for local models alone. */
import { command, group, list, text } from "../command.ts";

const PATHS = {
  name: "path",
  brief: "A file or directory; it need not exist yet",
  repeated: true,
  completion: "file",
} as const;

export const SECRETS_OPTIONS = {
  model: text("PROVIDER[:MODEL]", "Tell of this provider instead of the one that is set", { completion: "model" }),
} as const;

export const ADD_OPTIONS = {
  localEndpoint: list("HOST", "Let this host (host, host:port or [v6]:port) count as local here; may be given again"),
} as const;

export const secretsCommand = group({
  brief: "Show and extend what only local models may read",
  detail:
    "A file .agentclisecret marks paths: `no-cloud: <path>` for local models alone, `list-only: <path>` for no model, `local-endpoints: <host>` for a server that counts as local. Patterns are those of .gitignore. Content is never printed.",
  commands: {
    add: command({
      brief: "Mark paths as no-cloud in the project's .agentclisecret, or let a host count as local there",
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
      brief: "Print the protected paths, the line that covers each, and whether the provider counts as local",
      arguments: [],
      options: SECRETS_OPTIONS,
      examples: ["agentcli secrets list", "agentcli secrets list --json"],
      load: async () => (await import("./show.ts")).listProtected,
    }),
    check: command({
      brief: "Say for each path whether it is protected, and why; exit 1 when one is not",
      arguments: [PATHS],
      options: SECRETS_OPTIONS,
      examples: ["agentcli secrets check .env", "agentcli secrets check .env src --json"],
      load: async () => (await import("./show.ts")).checkPaths,
    }),
    trust: command({
      brief: "Take the project's markers as they are now: lines that are gone, and hosts that are new",
      detail:
        "The home remembers what markers said, and which hosts counted as local when the project was first seen. A line that goes still protects, and a host that comes has no effect, until you say so here. With paths only these files are released: copies of protected content that a session left. Shows the difference and asks; without a terminal --yes is needed.",
      arguments: [{ ...PATHS, brief: "A file that holds protected content and may be open again", optional: true }],
      options: {},
      examples: ["agentcli secrets trust", "agentcli secrets trust --yes --json"],
      load: async () => (await import("./change.ts")).trustProject,
    }),
    "allow-fragment": command({
      brief: "Let lines of a protected file leave, where the leak scanner stops requests over them",
      detail:
        "For lines that are no secret though they stand in a protected file, such as a license header. The file stays protected. The lines are remembered as salted digests in the home; asks at a terminal, and needs --yes without one.",
      arguments: [{ name: "FILE:LINES", brief: "A protected file with a line, or with the first and the last one" }],
      options: {},
      examples: ["agentcli secrets allow-fragment .env:1 --yes"],
      load: async () => (await import("./change.ts")).allowFragment,
    }),
  },
});
