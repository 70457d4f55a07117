/** `agentcli models …`: which model to run. */
import { command, group } from "../command.ts";

export const modelsCommand = group({
  brief: "Suggest models that fit this machine",
  commands: {
    suggest: command({
      brief: "Suggest up to three models that fit this machine, with the commands to get them",
      detail:
        "Reads the memory of the machine and of its graphics card, and compares it with a dated table in this program. Nothing is downloaded, and no network is used.",
      examples: ["agentcli models suggest", "agentcli models suggest --json"],
      load: async () => (await import("./suggest.ts")).suggestModels,
    }),
  },
});
