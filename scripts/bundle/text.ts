/** What is changed in the text that `deno bundle` writes, so that it is the same wherever it was made, and shorter. */
import { childrenOf, commentsOf, edited, type Node, treeOf } from "./syntax.ts";

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
 * Returns the text with every character beyond ASCII escaped. Such characters occur only in strings and comments, where
 * `\\uXXXX` means the same. The engine stores a source of pure ASCII with one byte per character, and reads it faster
 * (12 % of the cpu of a start).
 */
export function asciiOnly(text: string): string {
  // deno-lint-ignore no-control-regex -- everything up to DEL is ASCII
  return text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * The text indented by a tab where the bundler writes two spaces: a twentieth of the file, and each megabyte costs
 * every start up to 2 ms. Lines of template literals stay as they are. Throws `SyntaxError`.
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

/** A line that names a module. */
const TITLE = /^\/\/ \S+$/;
/** What a licence wants kept. */
const LEGAL = /^\/\*!|@license|@preserve|@copyright/i;

/**
 * The text without the comments that the bundler left: notes for itself (`@__PURE__`), and docstrings of methods, which
 * are read in the sources. Throws `SyntaxError`.
 */
export function withoutComments(code: string): string {
  const edits = commentsOf(code).map(({ start, end }) => ({ start, end, line: code.lastIndexOf("\n", start) + 1 }))
    .filter(({ start, end, line }) => {
      const text = code.slice(start, end);
      return !LEGAL.test(text) && !(start === line && TITLE.test(text));
    })
    .map(({ start, end, line }) => {
      const alone = code.slice(line, start).trim() === "" && code[end] === "\n";
      if (alone) return { from: line, to: end + 1, text: "" };
      // One space less, so that `= /* note */ value` stays as it is written elsewhere.
      return { from: start, to: code[end] === " " ? end + 1 : end, text: "" };
    });
  return edited(code, edits);
}

/** The literal parts of templates, in the order of the text. */
function templateParts(node: Node): Node[] {
  return node.type === "TemplateElement" ? [node] : childrenOf(node).flatMap(templateParts);
}
