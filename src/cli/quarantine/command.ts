/** `agentcli quarantine …`: what commands of models made that could run code later. */
import { command, group } from "../command.ts";

export const quarantineCommand = group({
  brief: "List and restore files that were quarantined because they could run code later",
  detail:
    "In a project with protected paths, a command run by a model may not create hooks, editor or assistant settings, or repositories: other programs run their content without asking, with your permissions. Such files are moved to quarantine/ in the home after the command; nothing is deleted. Files that you created at the same time are moved, too.",
  commands: {
    list: command({
      brief: "List quarantined files, oldest first",
      examples: ["agentcli quarantine list", "agentcli quarantine list --json"],
      load: async () => (await import("./run.ts")).listEntries,
    }),
    restore: command({
      brief: "Restore files to where they were; exit 1 if something else is there now",
      arguments: [{ name: "id", brief: "An id from the list" }],
      examples: ["agentcli quarantine restore 20260301-101500-1"],
      load: async () => (await import("./run.ts")).restoreEntry,
    }),
  },
});
