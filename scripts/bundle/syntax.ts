/** The syntax tree of a piece of code, as far as the bundle needs it. */
// A parser: where functions and names stand cannot be seen from lines. Small, without dependencies, not in the bundle.
import { parse } from "npm:acorn@8.19.0";

/** A node of the tree; what else it holds depends on its type (ESTree). */
export interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/** A change of a text: what stands between the offsets goes. */
export interface Edit {
  from: number;
  to: number;
  text: string;
}

/** The tree of a module. Throws `SyntaxError`. */
export function treeOf(code: string): Node {
  return parse(code, { ecmaVersion: "latest", sourceType: "module" }) as unknown as Node;
}

/** Where the comments of a module stand, in the order of the text. Throws `SyntaxError`. */
export function commentsOf(code: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  const onComment = (_block: boolean, _text: string, start: number, end: number) => void found.push({ start, end });
  parse(code, { ecmaVersion: "latest", sourceType: "module", onComment });
  return found;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

/** The nodes right below, in the order of the text. */
export function childrenOf(node: Node): Node[] {
  const below = Object.values(node).flatMap((value) => Array.isArray(value) ? value : [value]).filter(isNode);
  return below.sort((one, other) => one.start - other.start);
}

/** The part of a text from one offset to another with the edits in it made; edits do not overlap. */
export function edited(code: string, edits: readonly Edit[], { from = 0, to = code.length } = {}): string {
  const inside = edits.filter((edit) => edit.from >= from && edit.to <= to)
    .sort((one, other) => one.from - other.from || one.to - other.to);
  let text = "";
  let at = from;
  for (const edit of inside) {
    text += code.slice(at, edit.from) + edit.text;
    at = edit.to;
  }
  return text + code.slice(at, to);
}
