/** `agentcli help` and `agentcli version`. */
import { command } from "../command.ts";

export const helpCommand = command({
  brief: "Print help for a command or a topic: configuration, models, no-cloud, permissions, exit-codes",
  arguments: [
    { name: "topic", brief: "A topic or a command", optional: true, repeated: true, completion: "topic" },
  ],
  examples: ["agentcli help", "agentcli help no-cloud", "agentcli help providers add"],
  load: async () => (await import("./run.ts")).showHelp,
});

export const versionCommand = command({
  brief: "Print the version, commit, build form and runtime",
  examples: ["agentcli version", "agentcli version --json"],
  load: async () => (await import("./version.ts")).run,
});
