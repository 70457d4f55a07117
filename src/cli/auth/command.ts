/** `auth`: what clients of the protocol ask before they start a session. */
import { command, group } from "../command.ts";

export const authCommand = group({
  brief: "Report whether a session can start, for protocol clients",
  commands: {
    status: command({
      brief: "Print the provider in use and the source of its key",
      examples: ["agentcli auth status --json"],
      load: async () => (await import("./status.ts")).run,
    }),
  },
});
