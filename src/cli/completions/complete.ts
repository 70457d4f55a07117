/** Finds what can stand at the cursor, for the completion scripts. */
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import type { Context, Invocation } from "../command.ts";
import { type Candidate, type Wanted, wantedAt } from "./position.ts";
import { lookUp } from "./values.ts";
import type { COMPLETE_OPTIONS } from "./command.ts";

/** Values that no shell reads as anything but a word. Others are not offered: quoting them differs from shell to shell. */
const PLAIN = /^[\w@%+:,./][\w@%+=:,./~-]*$|^--[\w-]+(?:=[\w@%+=:,./~-]*)?$/;

/** Runs the command. */
export async function run(
  { options, arguments: words, context }: Invocation<typeof COMPLETE_OPTIONS>,
): Promise<void> {
  const { loadTree } = await import("../tree.ts");
  const line = options.line === undefined ? null : splitLine(options.line);
  const typed = { words: line?.words.slice(1) ?? words, current: line?.current ?? options.word ?? "" };
  const wanted = wantedAt(await loadTree(), typed.words, { current: typed.current });
  const found = await candidates(wanted, context);
  const kept = line === null ? 0 : keptByShell(typed.current, options.breaks ?? "");
  const lines = found
    .filter(({ value }) => value.startsWith(typed.current) && PLAIN.test(value))
    .map(({ value, brief }) => `${value.slice(kept)}\t${clean(brief)}\n`);
  const rest = wanted.kind === "values" && (wanted.of === "file" || wanted.of === "directory") ? wanted.of : "none";
  await context.io.stdout.write(`${lines.join("")}:${rest}\n`);
}

async function candidates(wanted: Wanted, context: Context): Promise<Candidate[]> {
  if (wanted.kind === "words") return wanted.words;
  try {
    const found = await lookUp(wanted, context);
    return found.map(({ value, brief }) => ({ value: wanted.before + value, brief }));
  } catch (error) {
    if (error instanceof AgentcliError) return [];
    throw error;
  }
}

/** Splits a command line up to the cursor. The last word is being typed; it is empty after a space. */
export function splitLine(line: string): { words: string[]; current: string } {
  const words: string[] = [];
  let current: string | null = null;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? "";
    if (quote !== "") {
      if (character === quote) quote = "";
      else if (character === "\\" && quote === '"' && /["\\$`]/.test(line[at + 1] ?? "")) current += line[++at] ?? "";
      else current += character;
    } else if (/\s/.test(character)) {
      if (current !== null) words.push(current);
      current = null;
    } else {
      current ??= "";
      if (character === "\\") current += line[++at] ?? "";
      else if (character === "'" || character === '"') quote = character;
      else current += character;
    }
  }
  return { words, current: current ?? "" };
}

/** Returns the length of the prefix of `word` that bash treats as separate words: up to the last of its `breaks` (`:`, `=`). */
export function keptByShell(word: string, breaks: string): number {
  return Math.max(...["=", ":"].filter((sign) => breaks.includes(sign)).map((sign) => word.lastIndexOf(sign)), -1) + 1;
}
