/** `auth`: what clients of the protocol ask before they start a session. */
import { group, verb } from "../verb.ts";

export const authVerb = group({
  brief: "Whether a session can be started, for clients of the protocol",
  verbs: {
    status: verb({
      brief: "Say which provider is used and where its key comes from",
      arguments: [],
      options: {},
      examples: ["agentcli auth status --json"],
      load: async () => (await import("./status.ts")).run,
    }),
  },
});
