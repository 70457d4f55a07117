/** How models write a text that stands in a file plainer: tried one by one where old_string is not found as it is. */
import { decodeEntities } from "../plain_command.ts";
import { withoutInvisible } from "../signs.ts";

/** The line numbers that Read shows, and what stands behind them. */
const NUMBERED = /^ *(\d{1,7})(?:\t|\u2192|: ?|\| ?)(.*)$/s;

/** Returns a text without the line numbers of Read, where every line has one and they follow each other; else null. */
export function withoutLineNumbers(text: string): string | null {
  const parts = text.split("\n").map((line) => NUMBERED.exec(line));
  const first = Number(parts[0]?.[1]);
  if (!parts.every((part, index) => part !== null && Number(part[1]) === first + index)) return null;
  return parts.map((part) => part?.[2] ?? "").join("\n");
}

function withoutSomeNumbers(text: string): string {
  return text.replace(/^ *\d{1,7}[\t\u2192]/gm, "");
}

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/** A text that was escaped once more than it should be. */
function unescaped(text: string): string {
  return text.replace(/\\([ntr"'\\])/g, (_, character) => ESCAPED[character] ?? character);
}

/** In the order in which they are tried, each for old_string and new_string alike; null where it does not apply. */
export const PLAINER: readonly ((text: string) => string | null)[] = [
  withoutLineNumbers,
  withoutSomeNumbers,
  withoutInvisible,
  unescaped,
  decodeEntities,
];
