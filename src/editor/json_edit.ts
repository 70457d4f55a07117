/**
 * Changes of JSON with comments that touch nothing else: comments, order, indentation, line ends and the byte order mark
 * of everything around stay as they are. Adding and then removing gives back the same text.
 */
import { type JsonNode, JsonProblem, nodeAt, parseJsonTree } from "./json_tree.ts";

/** How the text is laid out. */
interface Layout {
  newline: string;
  /** One level. */
  indent: string;
}

function layoutOf(text: string): Layout {
  return {
    newline: text.includes("\r\n") ? "\r\n" : "\n",
    indent: /^([ \t]+)["{[]/m.exec(text)?.[1] ?? "  ",
  };
}

/** The white space that the line of an offset begins with. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^\ufeff?([ \t]*)/.exec(text.slice(start, offset))?.[1] ?? "";
}

function rendered(value: unknown, { newline, indent }: Layout, before: string): string {
  return JSON.stringify(value, null, indent).split("\n").join(newline + before);
}

/** The children of a container as spans; for a plain value there are none. */
function childrenOf(node: JsonNode): { start: number; end: number }[] {
  return node.kind === "object" ? node.members : node.kind === "array" ? node.items : [];
}

/** Puts `child` behind the last child of a container. */
function append(text: string, container: JsonNode, child: string): string {
  if (container.kind === "plain") throw new JsonProblem("a value stands where an object or a list is needed");
  const layout = layoutOf(text);
  const close = container.end - 1;
  const last = childrenOf(container).at(-1);
  const oneLine = last !== undefined && !text.slice(container.start, container.end).includes("\n");
  if (last === undefined) {
    const inner = text.slice(container.start + 1, close);
    const around = indentAt(text, container.start);
    // White space alone is laid out anew; a comment stays.
    const kept = inner.trim() === "" ? "" : inner.trimEnd();
    const before = layout.newline + around + layout.indent;
    return text.slice(0, container.start + 1) + kept + before + child + layout.newline + around + text.slice(close);
  }
  const trailing = container.comma ? "," : "";
  // Behind comments that follow the last child, so that they stay with it.
  const end = container.start + text.slice(container.start, close).trimEnd().length;
  const before = oneLine ? " " : layout.newline + indentAt(text, last.start);
  const withComma = container.comma ? text.slice(0, end) : `${text.slice(0, last.end)},${text.slice(last.end, end)}`;
  return withComma + before + child + trailing + text.slice(end);
}

/** Takes a child out, with its comma and the white space before it. */
function cut(text: string, container: JsonNode, index: number): string {
  const children = childrenOf(container);
  const child = children[index];
  if (child === undefined || container.kind === "plain") return text;
  const previous = children[index - 1];
  const from = previous?.end ?? container.start + 1;
  if (index < children.length - 1 || container.comma) {
    const comma = commaBehind(text, child.end);
    const rest = text.slice(child.end, comma) + text.slice(comma + 1);
    return text.slice(0, blankStart(text, { from, to: child.start, rest })) + rest;
  }
  const rest = text.slice(child.end);
  const start = blankStart(text, { from, to: child.start, rest });
  if (previous === undefined) {
    const alone = text.slice(container.start + 1, child.start).trim() + text.slice(child.end, container.end - 1).trim();
    return alone === ""
      ? text.slice(0, container.start + 1) + text.slice(container.end - 1)
      : text.slice(0, start) + rest;
  }
  const comma = commaBehind(text, previous.end);
  return text.slice(0, comma) + text.slice(comma + 1, start) + rest;
}

/** Where the white space before `to` begins; where it ends a line comment that `rest` would fall into, behind it. */
function blankStart(text: string, { from, to, rest }: { from: number; to: number; rest: string }): number {
  const start = text.slice(0, to).trimEnd().length;
  const line = text.slice(from, start).split("\n").at(-1) ?? "";
  return line.includes("//") && !/^[ \t]*\r?\n/.test(rest) ? to : start;
}

/** The comma behind an offset, comments passed over. */
function commaBehind(text: string, offset: number): number {
  const comma = /(?:[ \t\r\n]|\/\/[^\n]*|\/\*[^]*?\*\/)*,/y;
  comma.lastIndex = offset;
  const found = comma.exec(text);
  if (found === null) throw new JsonProblem("a comma was expected");
  return offset + found[0].length - 1;
}

/** Makes sure that `path` leads to a container: missing members are added, the last one as `empty`. */
function ensure(text: string, path: readonly string[], empty: "{}" | "[]"): string {
  let result = text.replace(/^\ufeff/, "").trim() === "" ? `${text.replace(/[ \t\r\n]+$/, "")}{}\n` : text;
  path.forEach((name, depth) => {
    const root = parseJsonTree(result);
    if (nodeAt(root, path.slice(0, depth + 1)) !== null) return;
    const parent = nodeAt(root, path.slice(0, depth));
    if (parent?.kind !== "object") throw new JsonProblem("a value stands where an object is needed");
    const value = depth === path.length - 1 ? empty : "{}";
    result = append(result, parent, `${JSON.stringify(name)}: ${value}`);
  });
  return result;
}

/** The text with the member at `path` set to `value`. Throws {@link JsonProblem} when that is not possible. */
export function setMember(text: string, path: readonly string[], value: unknown): string {
  const name = path.at(-1) ?? "";
  const ready = ensure(text, path.slice(0, -1), "{}");
  const container = nodeAt(parseJsonTree(ready), path.slice(0, -1));
  if (container?.kind !== "object") throw new JsonProblem("a value stands where an object is needed");
  const old = nodeAt(container, [name]);
  const layout = layoutOf(ready);
  if (old !== null) {
    return ready.slice(0, old.start) + rendered(value, layout, indentAt(ready, old.start)) + ready.slice(old.end);
  }
  const first = container.members[0];
  const before = first === undefined ? indentAt(ready, container.start) + layout.indent : indentAt(ready, first.start);
  return append(ready, container, `${JSON.stringify(name)}: ${rendered(value, layout, before)}`);
}

/** The text without the member at `path`; unchanged when there is none. */
export function removeMember(text: string, path: readonly string[]): string {
  const container = nodeAt(parseJsonTree(text), path.slice(0, -1));
  if (container?.kind !== "object") return text;
  const index = container.members.findIndex(({ key }) => key === path.at(-1));
  return index < 0 ? text : cut(text, container, index);
}

/** The text with `value` at the end of the list at `path`, which is made when it is missing. */
export function addItem(text: string, path: readonly string[], value: unknown): string {
  const ready = ensure(text, path, "[]");
  const container = nodeAt(parseJsonTree(ready), path);
  if (container?.kind !== "array") throw new JsonProblem("a value stands where a list is needed");
  const layout = layoutOf(ready);
  const first = container.items[0];
  const before = first === undefined ? indentAt(ready, container.start) + layout.indent : indentAt(ready, first.start);
  return append(ready, container, rendered(value, layout, before));
}

/**
 * The text with what stands between the brackets of an empty container as it was found: `original` is the text of then.
 * Unchanged where the container was no empty one of this kind, and where anything but white space between the brackets
 * differs.
 */
export function restoreEmpty(text: string, path: readonly string[], { original }: { original: string }): string {
  const [now, then] = [text, original].map((one) => nodeAt(parseJsonTree(one), path));
  if (!now || !then || now.kind !== then.kind || childrenOf(now).length + childrenOf(then).length > 0) return text;
  const [inner, found] = [text.slice(now.start + 1, now.end - 1), original.slice(then.start + 1, then.end - 1)];
  if (now.kind === "plain" || inner.trim() !== found.trim()) return text;
  return text.slice(0, now.start + 1) + found + text.slice(now.end - 1);
}

/** The text with the item `index` of the list at `path` replaced. */
export function replaceItem(text: string, path: readonly string[], change: { index: number; value: unknown }): string {
  const container = nodeAt(parseJsonTree(text), path);
  const old = container?.kind === "array" ? container.items[change.index] : undefined;
  if (old === undefined) return text;
  return text.slice(0, old.start) + rendered(change.value, layoutOf(text), indentAt(text, old.start)) +
    text.slice(old.end);
}

/** The text without the item `index` of the list at `path`. */
export function removeItem(text: string, path: readonly string[], { index }: { index: number }): string {
  const container = nodeAt(parseJsonTree(text), path);
  return container?.kind === "array" ? cut(text, container, index) : text;
}
