/**
 * Positions in a YAML text, and one change made in the text itself, in the style around it. Functions that change it
 * return the new text, or null where the layout is unusual.
 */
import {
  blockText,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type KeyPath,
  keyText,
  type Node,
  nodeAt,
  type Pair,
  pairOf,
  type ParsedYaml,
  type YAMLMap,
  type YAMLSeq,
} from "./yaml.ts";

type Collection = YAMLMap | YAMLSeq;

/** Offset of the first character of the line that holds `offset`. */
function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Offset after the line that `offset` stands in or ends. */
function afterLine(text: string, offset: number): number {
  // A block text (`|`) ends after its last line feed already.
  if (offset > 0 && text[offset - 1] === "\n") return offset;
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

/** Returns whether only spaces stand between the start of the line and `offset`. */
function startsLine(text: string, offset: number): boolean {
  return /^ *$/.test(text.slice(lineStart(text, offset), offset));
}

/** Column of `offset`, from 0. */
function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/**
 * Offset after the comment lines that follow at `start` (the start of a line) and are indented by `indent` or more:
 * they belong to what is above. Blank lines count only when such a comment follows them.
 */
function afterComments(text: string, place: { start: number; indent: number }): number {
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
function isFlow(node: Collection): boolean {
  return node.srcToken?.type === "flow-collection";
}

/** Returns whether a node is an empty value, as in `models:`. */
function isEmptyValue(node: unknown): boolean {
  if (node === null || node === undefined) return true;
  return isScalar(node) && node.value === null && (node.range ? node.range[0] === node.range[1] : true);
}

/** Returns whether a node means nothing: an empty value, `~` or `null`. */
function isNothing(node: unknown): boolean {
  return node === null || node === undefined || (isScalar(node) && node.value === null);
}

function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

/** Offset after the colon of a pair, or after its key where it has none. */
function colonEnd(pair: Pair): number {
  const colon = pair.srcToken?.sep?.find((token) => token.type === "map-value-ind");
  return colon ? colon.offset + 1 : (pair.key as Node).range?.[1] ?? 0;
}

function dashOf(list: YAMLSeq, index: number): number | null {
  if (list.srcToken?.type !== "block-seq") return null;
  return list.srcToken.items[index]?.start.find((token) => token.type === "seq-item-ind")?.offset ?? null;
}

/** Offset after the last character of a node's content, without the comment and line end that follow. */
function contentEnd(node: unknown): number {
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

function pairEnd(pair: Pair): number {
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

// Words that need no quotes inside brackets and are no number, truth value or nothing in any version of YAML.
const PLAIN = /^(?!(?:true|false|yes|no|on|off|y|n|null|nan|inf)$)[A-Za-z_][A-Za-z0-9_.\/-]*$/i;

function flowScalar(value: unknown, quoted: boolean): string {
  if (typeof value === "string" && !quoted && PLAIN.test(value)) return value;
  return JSON.stringify(value) ?? "null";
}

/** `value` on one line, with brackets: `{ id: x, alias: [a, b] }`; with every text quoted it is JSON. */
function flowText(value: unknown, style: { quoted: boolean }): string {
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item, style)).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(([key, inner]) =>
      `${flowScalar(key, style.quoted)}: ${flowText(inner, style)}`
    );
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  return flowScalar(value, style.quoted);
}

/** A scalar, or a list of them, on one line, quoted like what it replaces. */
function inlineText(value: unknown, quoting: string | null): string {
  if (typeof value === "string") {
    if (quoting === "QUOTE_DOUBLE" || /[\n\r]/.test(value)) return JSON.stringify(value);
    if (quoting === "QUOTE_SINGLE") return `'${value.replaceAll("'", "''")}'`;
  }
  if (typeof value === "object") return flowText(value, { quoted: false });
  return blockText(value).trimEnd();
}

/** The value to set, and the keys of the same mapping that it should follow. */
interface Setting {
  value: unknown;
  /** All keys in their usual order. */
  order?: readonly string[];
}

interface Range {
  start: number;
  end: number;
}

function splice(text: string, range: Range, replacement: string): string {
  return text.slice(0, range.start) + replacement + text.slice(range.end);
}

function insertLines(text: string, offset: number, lines: string): string {
  const ending = lineEnding(text);
  const before = offset > 0 && text[offset - 1] !== "\n" ? ending : "";
  return splice(text, { start: offset, end: offset }, before + lines.replaceAll("\n", ending));
}

/** The node at a path without following aliases: writing behind one would change what others share. */
const ownNode = (parsed: ParsedYaml, path: KeyPath) => nodeAt(parsed, path, { own: true });

function isEmptyCollection(node: unknown): boolean {
  return (isMap(node) || isSeq(node)) && node.items.length === 0;
}

/** Sets the value at a path; parents that are missing or empty are made with it. */
export function setIn(parsed: ParsedYaml, path: KeyPath, setting: Setting): string | null {
  const key = path.at(-1);
  if (key === undefined) return null;
  const above = path.slice(0, -1);
  const holder = ownNode(parsed, above);
  if (isAlias(holder)) return null;
  if (above.length > 0 && (isNothing(holder) || isEmptyCollection(holder))) {
    const value = typeof key === "number" ? [setting.value] : Object.fromEntries([[key, setting.value]]);
    return setIn(parsed, above, { ...setting, value });
  }
  if (isMap(holder)) {
    const pair = pairOf(holder, String(key));
    return pair
      ? replaceValue(parsed, { holder, pair, value: setting.value })
      : addPair(parsed, holder, { ...setting, key: String(key) });
  }
  if (isSeq(holder) && Number(key) === holder.items.length) return addItem(parsed, holder, setting.value);
  if (isNothing(holder)) {
    return insertLines(parsed.text, parsed.text.length, indentedPair([String(key), setting.value], 0));
  }
  return null;
}

function flowStyle(holder: Collection): { quoted: boolean } {
  const first = isMap(holder) ? holder.items[0]?.key : holder.items[0];
  return { quoted: isScalar(first) && first.type === "QUOTE_DOUBLE" };
}

/** Returns whether a value takes more than the rest of a line. */
function isCompound(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => typeof item === "object" && item !== null);
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function replaceValue(
  { text }: ParsedYaml,
  { holder, pair, value }: { holder: YAMLMap; pair: Pair; value: unknown },
): string | null {
  const old = pair.value;
  if (isAlias(old)) return null;
  const compound = isCompound(value);
  if (isFlow(holder)) {
    const rendered = flowText(value, flowStyle(holder));
    if (isEmptyValue(old)) return splice(text, { start: colonEnd(pair), end: colonEnd(pair) }, ` ${rendered}`);
    return splice(text, { start: startOf(old), end: contentEnd(old) }, rendered);
  }
  const indent = columnOf(text, startOf(pair.key));
  if (isNothing(old) || isEmptyCollection(old)) {
    // The value goes; what follows on the line, a comment, stays there.
    const emptied = isEmptyValue(old) ? text : splice(text, { start: colonEnd(pair), end: contentEnd(old) }, "");
    if (!compound) {
      return splice(emptied, { start: colonEnd(pair), end: colonEnd(pair) }, ` ${inlineText(value, null)}`);
    }
    const lines = indentedPair([String(keyText(pair)), value], indent);
    return insertLines(emptied, afterLine(emptied, colonEnd(pair)), lines.slice(lines.indexOf("\n") + 1));
  }
  if (isScalar(old) && !compound) {
    const range = { start: startOf(old), end: contentEnd(old) };
    const ending = text.slice(range.start, range.end).endsWith("\n") ? lineEnding(text) : "";
    return splice(text, range, inlineText(value, old.type ?? null) + ending);
  }
  const end = pairEnd(pair);
  const lines = indentedPair([String(keyText(pair)), value], indent).trim().replaceAll("\n", lineEnding(text));
  return splice(text, { start: startOf(pair.key), end }, lines + (text[end - 1] === "\n" ? lineEnding(text) : ""));
}

/** The pair that a new key should follow: the last one that comes before it in the usual order. */
function predecessor(map: YAMLMap, key: string, order: readonly string[]): Pair | undefined {
  const earlier = order.slice(0, Math.max(0, order.indexOf(key)));
  return map.items.findLast((pair) => earlier.includes(keyText(pair) ?? ""));
}

function addPair({ text }: ParsedYaml, map: YAMLMap, setting: Setting & { key: string }): string | null {
  const last = map.items.at(-1);
  if (!last) return null;
  if (isFlow(map)) {
    const style = flowStyle(map);
    const added = flowText(Object.fromEntries([[setting.key, setting.value]]), style).replace(/^\{ ?| ?\}$/g, "");
    return splice(text, { start: pairEnd(last), end: pairEnd(last) }, `, ${added}`);
  }
  const first = map.items[0];
  const indent = columnOf(text, startOf(first?.key));
  const lines = indentedPair([setting.key, setting.value], indent);
  const before = predecessor(map, setting.key, setting.order ?? []);
  // At the end the comments of the same level stay above; those of the top level, and those in between, stay below.
  const offset = before && before !== last
    ? afterComments(text, { start: afterLine(text, pairEnd(before)), indent: indent + 1 })
    : afterComments(text, { start: afterLine(text, pairEnd(last)), indent: Math.max(1, indent) });
  return insertLines(text, offset, lines);
}

function addItem({ text }: ParsedYaml, list: YAMLSeq, value: unknown): string | null {
  const last = list.items.length - 1;
  if (last < 0) return null;
  if (isFlow(list)) {
    const end = contentEnd(list.items[last]);
    const first = list.items[0];
    const style = isMap(first) ? flowStyle(first) : flowStyle(list);
    return splice(text, { start: end, end }, `, ${flowText(value, style)}`);
  }
  const dash = dashOf(list, 0);
  if (dash === null) return null;
  const indent = columnOf(text, dash);
  const offset = afterComments(text, { start: afterLine(text, contentEnd(list)), indent });
  return insertLines(text, offset, indented(blockText([value]), indent));
}

/** Removes the value at a path; the last one of a collection leaves `{}` or `[]`. */
export function removeFrom(parsed: ParsedYaml, path: KeyPath): string | null {
  const key = path.at(-1);
  if (key === undefined) return null;
  const above = path.slice(0, -1);
  const holder = ownNode(parsed, above);
  if (!isMap(holder) && !isSeq(holder)) return null;
  const index = isMap(holder) ? holder.items.findIndex((pair) => keyText(pair) === key) : Number(key);
  const ranges = rangesOf(holder);
  const range = ranges[index];
  if (!range) return null;
  if (isFlow(holder)) return splice(parsed.text, withComma(ranges, index), "");
  const lines = linesOf(parsed.text, range, ranges[index + 1]);
  if (holder.items.length > 1) return splice(parsed.text, lines, "");
  const parent = pairAbove(parsed, above);
  if (!parent || !startsLine(parsed.text, range.start)) return null;
  const removed = splice(parsed.text, lines, "");
  return splice(removed, { start: colonEnd(parent), end: colonEnd(parent) }, isMap(holder) ? " {}" : " []");
}

/** Returns where each entry of a collection starts (key or dash) and ends. */
function rangesOf(holder: Collection): Range[] {
  if (isMap(holder)) return holder.items.map((pair) => ({ start: startOf(pair.key), end: pairEnd(pair) }));
  return holder.items.map((item, index) => {
    const dash = dashOf(holder as YAMLSeq, index);
    return { start: dash ?? startOf(item), end: isEmptyValue(item) && dash !== null ? dash + 1 : contentEnd(item) };
  });
}

function withComma(ranges: readonly Range[], index: number): Range {
  const own = ranges[index] ?? { start: 0, end: 0 };
  const next = ranges[index + 1];
  if (next) return { start: own.start, end: next.start };
  return { start: ranges[index - 1]?.end ?? own.start, end: own.end };
}

/** The whole lines of an entry with the comments inside it; from its start to the next one where it shares a line. */
function linesOf(text: string, range: Range, next: Range | undefined): Range {
  if (!startsLine(text, range.start) && next) return { start: range.start, end: next.start };
  const end = afterComments(text, { start: afterLine(text, range.end), indent: columnOf(text, range.start) + 1 });
  return { start: lineStart(text, range.start), end };
}

function pairAbove(parsed: ParsedYaml, path: KeyPath): Pair | undefined {
  const map = ownNode(parsed, path.slice(0, -1));
  return isMap(map) ? pairOf(map, String(path.at(-1))) : undefined;
}
