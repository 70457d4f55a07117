/** `auth`: what clients of the protocol ask before they start a session. */
import { command, group } from "../command.ts";

export const authCommand = group({
  brief: "Whether a session can be started, for clients of the protocol",
  commands: {
    status: command({
      brief: "Say which provider is used and where its key comes from",
      arguments: [],
      options: {},
      examples: ["agentcli auth status --json"],
      load: async () => (await import("./status.ts")).run,
    }),
  },
});
