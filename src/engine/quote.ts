/** A command as it can be copied into a shell. For reading and copying only: nothing of ours is run that way. */
import { powershellQuoted, shellWord } from "../shell/quote.ts";

export type ShownVariable = { name: string; value: string } | { name: string; variable: string };

interface ShownCommand {
  argv: readonly string[];
  variables: readonly ShownVariable[];
}

/** One line for sh, or for PowerShell on Windows. */
export function shownCommand(command: ShownCommand, os: "linux" | "darwin" | "windows"): string {
  return os === "windows" ? forPowerShell(command) : forSh(command);
}

function forSh({ argv, variables }: ShownCommand): string {
  const settings = variables.map((each) =>
    `${each.name}=${"variable" in each ? `"$${each.variable}"` : shellWord(each.value)}`
  );
  return [...settings, ...argv.map(shellWord)].join(" ");
}

function forPowerShell({ argv, variables }: ShownCommand): string {
  const settings = variables.map((each) =>
    `$env:${each.name} = ${"variable" in each ? `$env:${each.variable}` : powershellQuoted(each.value)}; `
  );
  return settings.join("") + ["&", ...argv.map(powershellQuoted)].join(" ");
}

/** Options whose value is a key, by their names. */
const KEY_OPTION = /^--?[\w-]*(?:api-?keys?|token|secret|password)$/i;

/** Returns the words with the values of such options hidden: for showing and storing, never for running. */
export function withoutKeys(argv: readonly string[]): string[] {
  return argv.map((word, at) => {
    const [flag = "", ...value] = word.split("=");
    if (value.length > 0) return KEY_OPTION.test(flag) ? `${flag}=<hidden>` : word;
    const before = argv[at - 1] ?? "";
    return KEY_OPTION.test(before) && !word.startsWith("--") ? "<hidden>" : word;
  });
}
