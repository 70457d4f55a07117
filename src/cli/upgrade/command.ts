/** `agentcli upgrade`: whether there is a newer release. */
import { command, text } from "../command.ts";

export const UPGRADE_OPTIONS = {
  from: text("URL", "Address of the releases (default: the one this program was released at)"),
} as const;

export const upgradeCommand = command({
  brief: "Look up whether there is a newer release; changes nothing",
  detail:
    "The only command that looks for new versions, and only when you run it: one request, which says nothing about you or your project. Prints what to run if there is a newer release. An address of GitHub releases is looked up with GitHub's API; any other address is a folder with a NOTES.md of a release.",
  options: UPGRADE_OPTIONS,
  examples: ["agentcli upgrade", "agentcli upgrade --from https://mirror.example.com/agentcli/latest --json"],
  load: async () => (await import("./run.ts")).lookUpRelease,
});
