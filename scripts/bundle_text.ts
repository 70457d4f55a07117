/** What is changed in the text that `deno bundle` writes, so that it is the same wherever it was made. */

/** A line that names a module: a comment, or the key of a module that is evaluated when it is first used. */
const MODULE_LINE = /^(\/\/ |\s*")[^"\n]*?\bnpm\/[^/"\n]+\/((?:@[^/"\n]+\/)?[^/"\n]+)\/(\d[^/"\n]*)\//gm;

/**
 * The text with cache paths of packages (`../.cache/deno/npm/<host>/yaml/2.9.1/x.js`) written as `npm:yaml@2.9.1/x.js`.
 * Only whole lines that name a module are touched, never code.
 */
export function withoutCachePaths(text: string): string {
  return text.replace(MODULE_LINE, "$1npm:$2@$3/");
}

/** The first of `words` (paths of this machine, hosts) that the text still holds, with its line; null when none. */
export function firstLeak(text: string, words: readonly string[]): { word: string; line: number } | null {
  for (const word of words) {
    const at = word === "" ? -1 : text.indexOf(word);
    if (at >= 0) return { word, line: text.slice(0, at).split("\n").length };
  }
  return null;
}

/**
 * The text with every character beyond ASCII escaped. They stand in strings and comments alone, where `\\uXXXX` means the
 * same; the engine keeps a source of pure ASCII at one byte a character and reads it faster (12 % of the cpu of a start).
 */
export function asciiOnly(text: string): string {
  // deno-lint-ignore no-control-regex -- everything up to DEL is ASCII
  return text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
