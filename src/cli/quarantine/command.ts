/** `agentcli quarantine …`: what commands of models made that could run code later. */
import { command, group } from "../command.ts";

export const quarantineCommand = group({
  brief: "List and put back what was moved away because it could run code later",
  detail:
    "In a project with protected paths a command of a model may not make hooks, settings of editors and assistants, or repositories: programs run what stands there without asking, with all that you may read. What is found after a command is moved to the home, below quarantine/, and nothing is deleted. Files that you made meanwhile are among it.",
  commands: {
    list: command({
      brief: "List what lies in quarantine, the oldest first",
      arguments: [],
      options: {},
      examples: ["agentcli quarantine list", "agentcli quarantine list --json"],
      load: async () => (await import("./run.ts")).listEntries,
    }),
    restore: command({
      brief: "Put files back where they were; exit 1 where something stands by now",
      arguments: [{ name: "id", brief: "An entry of the list" }],
      options: {},
      examples: ["agentcli quarantine restore 20260301-101500-1"],
      load: async () => (await import("./run.ts")).restoreEntry,
    }),
  },
});
