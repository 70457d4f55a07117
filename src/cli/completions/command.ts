/** `agentcli completions <shell>`, and the hidden command that the scripts call. */
import { command, text } from "../command.ts";

/** Shells that there is a completion script for. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
export type Shell = typeof SHELLS[number];

export const COMPLETE_OPTIONS = {
  word: text("WORD", "The word being typed, up to the cursor", { hidden: true }),
  line: text("LINE", "The whole line up to the cursor, in place of the words", { hidden: true }),
  breaks: text("SIGNS", "Where the shell splits words", { hidden: true }),
} as const;

export const completionsCommand = command({
  brief: "Print a completion script for a shell",
  detail:
    'Providers, models, roles, settings and sessions are looked up on each completion; no server is contacted. To enable it, add a line to the startup file of your shell: for bash and zsh  eval "$(agentcli completions bash)"  with the name of the shell, for fish  agentcli completions fish | source',
  arguments: [{ name: "shell", brief: SHELLS.join(", "), values: SHELLS }],
  examples: ["agentcli completions bash", "agentcli completions fish"],
  load: async () => (await import("./scripts.ts")).run,
});

export const completeCommand = command({
  brief: "Print the completions at the cursor",
  arguments: [{ name: "word", brief: "A word before the cursor", optional: true, repeated: true }],
  options: COMPLETE_OPTIONS,
  examples: [],
  hidden: true,
  load: async () => (await import("./complete.ts")).run,
});
