/** Positions in a YAML text, and new text in the style around them. */
import { blockText, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from "./yaml.ts";

/** A mapping or a list. */
export type Collection = YAMLMap | YAMLSeq;

/** Offset of the first character of the line that holds `offset`. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Offset behind the line that `offset` stands in or ends. */
export function afterLine(text: string, offset: number): number {
  // A block text (`|`) ends behind its last line feed already.
  if (offset > 0 && text[offset - 1] === "\n") return offset;
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

/** Returns whether only spaces stand between the start of the line and `offset`. */
export function startsLine(text: string, offset: number): boolean {
  return /^ *$/.test(text.slice(lineStart(text, offset), offset));
}

/** Column of `offset`, from 0. */
export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/**
 * Behind the comment lines that follow at `start` (the start of a line) and are indented by `indent` or more: they belong to
 * what stands above. Blank lines count only when such a comment follows them.
 */
export function afterComments(text: string, place: { start: number; indent: number }): number {
  let kept = place.start;
  let position = place.start;
  while (position < text.length) {
    const feed = text.indexOf("\n", position);
    const end = feed < 0 ? text.length : feed + 1;
    const line = text.slice(position, end).trimEnd();
    const comment = /^( *)#/.exec(line);
    if (comment && (comment[1] ?? "").length >= place.indent) kept = end;
    else if (line !== "") break;
    position = end;
  }
  return kept;
}

/** The line ending of a text. */
export function lineEnding(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** Returns whether a collection is written with brackets. */
export function isFlow(node: Collection): boolean {
  return node.srcToken?.type === "flow-collection";
}

/** Returns whether a node is nothing: an empty value, as in `models:`. */
export function isEmptyValue(node: unknown): boolean {
  if (node === null || node === undefined) return true;
  return isScalar(node) && node.value === null && (node.range ? node.range[0] === node.range[1] : true);
}

/** Returns whether a node means nothing: an empty value, `~` or `null`. */
export function isNothing(node: unknown): boolean {
  return node === null || node === undefined || (isScalar(node) && node.value === null);
}

/** Offset of the first character of a node. */
export function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

/** Offset behind the colon of a pair, or behind its key where it has none. */
export function colonEnd(pair: Pair): number {
  const colon = pair.srcToken?.sep?.find((token) => token.type === "map-value-ind");
  return colon ? colon.offset + 1 : (pair.key as Node).range?.[1] ?? 0;
}

/** Offset of the dash of a list item. */
export function dashOf(list: YAMLSeq, index: number): number | null {
  if (list.srcToken?.type !== "block-seq") return null;
  return list.srcToken.items[index]?.start.find((token) => token.type === "seq-item-ind")?.offset ?? null;
}

/** Offset behind the last character of a node's content, without the comment and line end that follow. */
export function contentEnd(node: unknown): number {
  if (isMap(node) && !isFlow(node)) {
    const last = node.items.at(-1);
    if (last) return pairEnd(last);
  }
  if (isSeq(node) && !isFlow(node)) {
    const last = node.items.length - 1;
    const item = node.items[last];
    if (isEmptyValue(item)) return (dashOf(node, last) ?? startOf(node)) + 1;
    if (item) return contentEnd(item);
  }
  return (node as Node | null)?.range?.[1] ?? 0;
}

/** Offset behind the content of a pair. */
export function pairEnd(pair: Pair): number {
  return isEmptyValue(pair.value) ? colonEnd(pair) : contentEnd(pair.value);
}

function indented(text: string, indent: number): string {
  const space = " ".repeat(indent);
  return text.replace(/^(?=[^\n])/gm, space);
}

/** `key: value` in block style, every line indented, ending with a line feed. */
export function indentedPair(entry: readonly [key: string, value: unknown], indent: number): string {
  return indented(blockText(Object.fromEntries([entry])), indent);
}

/** `- value` in block style, every line indented, ending with a line feed. */
export function indentedItem(value: unknown, indent: number): string {
  return indented(blockText([value]), indent);
}

// Words that need no quotes inside brackets and are no number, truth value or nothing in any version of YAML.
const PLAIN = /^(?!(?:true|false|yes|no|on|off|y|n|null|nan|inf)$)[A-Za-z_][A-Za-z0-9_.\/-]*$/i;

function flowScalar(value: unknown, quoted: boolean): string {
  if (typeof value === "string" && !quoted && PLAIN.test(value)) return value;
  return JSON.stringify(value) ?? "null";
}

/** `value` on one line, with brackets: `{ id: x, alias: [a, b] }`; with every text quoted it is JSON. */
export function flowText(value: unknown, style: { quoted: boolean }): string {
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item, style)).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(([key, inner]) =>
      `${flowScalar(key, style.quoted)}: ${flowText(inner, style)}`
    );
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  return flowScalar(value, style.quoted);
}

/** A scalar, or a list of them, on one line, quoted as what it replaces was quoted. */
export function inlineText(value: unknown, quoting: string | null): string {
  if (typeof value === "string") {
    if (quoting === "QUOTE_DOUBLE" || /[\n\r]/.test(value)) return JSON.stringify(value);
    if (quoting === "QUOTE_SINGLE") return `'${value.replaceAll("'", "''")}'`;
  }
  if (typeof value === "object") return flowText(value, { quoted: false });
  return blockText(value).trimEnd();
}
