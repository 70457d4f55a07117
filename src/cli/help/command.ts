/** `agentcli help` and `agentcli version`. */
import { command } from "../command.ts";

export const helpCommand = command({
  brief: "Print help of a command, or on a topic: configuration, models, no-cloud, permissions, exit-codes",
  arguments: [
    { name: "topic", brief: "A topic, or the words of a command", optional: true, repeated: true, completion: "topic" },
  ],
  options: {},
  examples: ["agentcli help", "agentcli help no-cloud", "agentcli help providers add"],
  load: async () => (await import("./run.ts")).showHelp,
});

export const versionCommand = command({
  brief: "Print version, commit, form and runtime",
  arguments: [],
  options: {},
  examples: ["agentcli version", "agentcli version --json"],
  load: async () => (await import("./version.ts")).run,
});
