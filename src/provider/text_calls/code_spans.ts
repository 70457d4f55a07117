/** Where a text is Markdown code: fenced blocks and inline backticks, as CommonMark cuts them. */

/** Finds the ends of code in one text. */
export interface CodeSpans {
  /** Offset behind the code that the run of backticks or tildes at `at` opens; behind the run when it opens nothing. */
  endOf(at: number): number;
}

/** Ready for `text`; every run is asked for at most once, left to right, which keeps the whole linear. */
export function createCodeSpans(text: string): CodeSpans {
  let closers: ReadonlyMap<number, number> | null = null;
  return {
    endOf(at) {
      const character = text.charAt(at);
      let end = at;
      while (text.charAt(end) === character) end++;
      if (end - at >= 3 && opensFence(text, at, end)) {
        return endOfFence(text, { fence: text.slice(at, end), from: end });
      }
      if (character === "~") return end;
      closers ??= pairInline(text);
      return closers.get(at) ?? end;
    },
  };
}

/** Only white space and quote signs stand before it on its line, and no backtick after backticks. */
function opensFence(text: string, at: number, end: number): boolean {
  let before = at - 1;
  while (before >= 0 && " \t>".includes(text.charAt(before))) before--;
  if (before >= 0 && text.charAt(before) !== "\n") return false;
  if (text.charAt(at) === "~") return true;
  const backtick = text.indexOf("`", end);
  const lineEnd = text.indexOf("\n", end);
  return backtick < 0 || (lineEnd >= 0 && lineEnd < backtick);
}

/** A fence without an end takes the rest. */
function endOfFence(text: string, fence: { fence: string; from: number }): number {
  const closing = /^[ \t>]*(`{3,}|~{3,})[ \t]*\r?$/gm;
  closing.lastIndex = fence.from;
  for (let found = closing.exec(text); found !== null; found = closing.exec(text)) {
    if (found[1]?.startsWith(fence.fence)) return closing.lastIndex;
  }
  return text.length;
}

/** Start of each run of backticks that has a closing run of the same length in its paragraph → offset behind that run. */
function pairInline(text: string): ReadonlyMap<number, number> {
  const runs: { start: number; length: number; paragraph: number }[] = [];
  let paragraph = 0;
  for (const found of text.matchAll(/`+|\n[ \t\r]*\n/g)) {
    if (found[0].startsWith("\n")) paragraph++;
    else runs.push({ start: found.index, length: found[0].length, paragraph });
  }
  const closers = new Map<number, number>();
  const nextOfLength = new Map<number, { start: number; paragraph: number }>();
  for (const run of runs.reverse()) {
    const next = nextOfLength.get(run.length);
    if (next?.paragraph === run.paragraph) closers.set(run.start, next.start + run.length);
    nextOfLength.set(run.length, run);
  }
  return closers;
}
