/** What is changed in the text that `deno bundle` writes, so that it is the same wherever it was made, and shorter. */
import { childrenOf, type Node, treeOf } from "./bundle_syntax.ts";

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

/**
 * The text indented by a tab where the bundler writes two spaces: a twentieth of the file, and each megabyte costs every
 * start 2.4 ms. Lines of template literals stay as they are. Throws `SyntaxError`.
 */
export function tabIndented(code: string): string {
  const kept = templateParts(treeOf(code));
  let next = 0;
  return code.replace(/^(?: {2})+/gm, (spaces, at) => {
    while ((kept[next]?.end ?? Infinity) < at) next++;
    const inside = (kept[next]?.start ?? Infinity) < at;
    return inside ? spaces : "\t".repeat(spaces.length / 2);
  });
}

/** The literal parts of templates, in the order of the text. */
function templateParts(node: Node): Node[] {
  return node.type === "TemplateElement" ? [node] : childrenOf(node).flatMap(templateParts);
}
