/** The line that bash gives to a completion function, as words; and the part of a word that bash itself replaces. */

/** The words of a command line up to the cursor. The last one is being typed; it is empty after a space. */
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

/** How much of the beginning of `word` bash takes for words of their own: up to the last of its `breaks` (`:`, `=`). */
export function keptByShell(word: string, breaks: string): number {
  return Math.max(...["=", ":"].filter((sign) => breaks.includes(sign)).map((sign) => word.lastIndexOf(sign)), -1) + 1;
}
