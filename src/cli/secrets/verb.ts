/** `agentcli secrets …`: which paths are for local models alone. */
import { text } from "../option.ts";
import { group, verb } from "../verb.ts";

const PATHS = {
  name: "path",
  brief: "A file or directory; it need not exist yet",
  repeated: true,
  completion: "file",
} as const;

export const SECRETS_OPTIONS = {
  model: text("PROVIDER[:MODEL]", "Tell of this provider instead of the one that is set", { completion: "model" }),
} as const;

export const secretsVerb = group({
  brief: "Show and extend what only local models may read",
  detail:
    "A file .agentclisecret marks paths: `no-cloud: <path>` for local models alone, `list-only: <path>` for no model, `local-endpoints: <host>` for a server that counts as local. Content is never printed.",
  verbs: {
    add: verb({
      brief: "Mark paths as no-cloud in the project's .agentclisecret",
      arguments: [PATHS],
      options: {},
      examples: ["agentcli secrets add .env", "agentcli secrets add secrets 'keys/*.pem'"],
      load: () => import("./add.ts"),
    }),
    list: verb({
      brief: "Print the protected paths, the line that covers each, and whether the provider counts as local",
      arguments: [],
      options: SECRETS_OPTIONS,
      examples: ["agentcli secrets list", "agentcli secrets list --json"],
      load: () => import("./list.ts"),
    }),
    check: verb({
      brief: "Say for each path whether it is protected, and why; exit 1 when one is not",
      arguments: [PATHS],
      options: SECRETS_OPTIONS,
      examples: ["agentcli secrets check .env", "agentcli secrets check .env src --json"],
      load: () => import("./check.ts"),
    }),
  },
});
