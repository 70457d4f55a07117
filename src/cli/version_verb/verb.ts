/** `agentcli version`. */
import { verb } from "../verb.ts";

export const versionVerb = verb({
  brief: "Print version, commit, form and runtime",
  arguments: [],
  options: {},
  examples: ["agentcli version", "agentcli version --json"],
  load: async () => (await import("./version.ts")).run,
});
