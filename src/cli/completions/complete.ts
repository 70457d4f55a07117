/**
 * What completion scripts call. Prints one `value<tab>description` a line, and last `:none`, `:file` or `:directory`: what
 * the shell is to add itself. Says nothing else: whatever is wrong, there is then nothing to offer.
 */
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import type { Context, Invocation } from "../verb.ts";
import { keptByShell, splitLine } from "./line.ts";
import { type Candidate, type Wanted, wantedAt } from "./position.ts";
import { lookUp } from "./values.ts";
import type { COMPLETE_OPTIONS } from "./verb.ts";

/** Values that no shell reads as anything but a word. Others are not offered: quoting them differs from shell to shell. */
const PLAIN = /^[\w@%+:,./][\w@%+=:,./~-]*$|^--[\w-]+(?:=[\w@%+=:,./~-]*)?$/;

/** Runs the verb. */
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
