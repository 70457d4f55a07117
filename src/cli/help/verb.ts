/** `agentcli help` and `agentcli version`. */
import { verb } from "../verb.ts";

export const helpVerb = verb({
  brief: "Print help of a verb, or on a topic: configuration, models, no-cloud, permissions, exit-codes",
  arguments: [
    { name: "topic", brief: "A topic, or the words of a verb", optional: true, repeated: true, completion: "topic" },
  ],
  options: {},
  examples: ["agentcli help", "agentcli help no-cloud", "agentcli help providers add"],
  load: async () => (await import("./run.ts")).showHelp,
});

export const versionVerb = verb({
  brief: "Print version, commit, form and runtime",
  arguments: [],
  options: {},
  examples: ["agentcli version", "agentcli version --json"],
  load: async () => (await import("./version.ts")).run,
});
