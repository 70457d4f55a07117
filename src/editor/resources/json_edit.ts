/**
 * Changes to JSON with comments that touch nothing else: comments, order, indentation, line ends and the byte order
 * mark of everything around stay as they are. Adding and then removing gives back the same text. Each change costs
 * about the same however long the text is, so that thousands of entries can be changed one by one.
 */
import { TextProblem } from "../limits.ts";
import {
  type JsonContainer,
  type JsonDocument,
  type JsonNode,
  memberAt,
  nodeAt,
  parseJsonDocument,
  parseJsonTree,
  printChild,
} from "./json_tree.ts";

interface Layout {
  newline: string;
  /** One level. */
  indent: string;
}

export interface EditableJson extends JsonDocument {
  layout: Layout;
}

/** Returns a text to be changed; an empty one gets an empty object. Throws {@link TextProblem}. */
export function editableJson(text: string): EditableJson {
  const isEmpty = text.trim() === "";
  const layout = {
    newline: text.includes("\r\n") ? "\r\n" : "\n",
    indent: /^([ \t]+)["{[]/m.exec(text)?.[1] ?? "  ",
  };
  return { ...parseJsonDocument(isEmpty ? `${text.replace(/(?<![ \t\r\n])[ \t\r\n]+$/, "")}{}\n` : text), layout };
}

/** Returns a value as it is written after `before`, the white space that its line begins with. */
function rendered(value: unknown, { newline, indent }: Layout, before: string): JsonNode {
  return parseJsonTree(before + JSON.stringify(value, null, indent).split("\n").join(newline + before));
}

/** Returns the container at `path`. Throws {@link TextProblem} for a value of another kind. */
function containerAt(json: EditableJson, path: readonly string[], kind: JsonContainer["kind"]): JsonContainer {
  const node = nodeAt(json.root, path);
  if (node !== null && node.kind !== "plain" && node.kind === kind) return node;
  throw new TextProblem(`there is a value where ${kind === "array" ? "a list" : "an object"} is needed`);
}

/** Puts a value after the last child of a container, as the member `key` or as an item. */
function append(
  container: JsonContainer,
  { key, value }: { key: string | null; value: unknown },
  { newline, indent }: Layout,
): void {
  const { children, tail, indent: around } = container;
  const last = children.at(-1);
  const inside = last?.indent ?? around + indent;
  const kept = tail.trimEnd();
  const isOneLine = !tail.includes("\n") && !children.some((one) => printChild(one).includes("\n"));
  const before = last !== undefined && isOneLine ? " " : newline + inside;
  children.push({
    // Behind comments that follow the last child, so that they stay with it; white space alone is laid out again.
    lead: kept + before,
    key: key ?? "",
    label: key === null ? "" : `${JSON.stringify(key)}: `,
    value: rendered(value, { newline, indent }, inside),
    trail: "",
    indent: inside,
  });
  container.tail = last === undefined ? newline + around : tail.slice(kept.length);
}

/** Removes a child, with its comma and the white space before it. */
function cut(container: JsonContainer, index: number): void {
  const { children } = container;
  const [child, previous, next] = [children[index], children[index - 1], children[index + 1]];
  if (child === undefined) return;
  const hasComma = next !== undefined || container.comma;
  const rest = child.trail + (next?.lead ?? container.tail);
  const lead = leadLeft(child.lead, { before: previous === undefined ? "" : `${previous.trail},`, rest });
  if (next !== undefined) next.lead = lead + rest;
  else if (hasComma) container.tail = lead + rest;
  else if (previous === undefined) container.tail = child.lead.trim() + rest.trim() === "" ? "" : lead + rest;
  else {
    container.tail = previous.trail + lead + rest;
    previous.trail = "";
  }
  children.splice(index, 1);
  container.comma = hasComma && container.comma && children.length > 0;
}

/**
 * Returns what stays of the space before a child: its comments; also the line end of one that `rest` would fall into.
 */
function leadLeft(lead: string, { before, rest }: { before: string; rest: string }): string {
  const kept = lead.trimEnd();
  const line = (before + kept).split("\n").at(-1) ?? "";
  return line.includes("//") && !/^[ \t]*\r?\n/.test(rest) ? lead : kept;
}

/** Makes sure that `path` leads to a container: missing members are added, the last one as `empty`. */
function ensure(json: EditableJson, path: readonly string[], empty: unknown): void {
  path.forEach((name, depth) => {
    if (nodeAt(json.root, path.slice(0, depth + 1)) !== null) return;
    const container = containerAt(json, path.slice(0, depth), "object");
    append(container, { key: name, value: depth === path.length - 1 ? empty : {} }, json.layout);
  });
}

/** Sets the member at `path` to `value`. Throws {@link TextProblem} when that is not possible. */
export function setMember(json: EditableJson, path: readonly string[], value: unknown): void {
  const [above, key] = [path.slice(0, -1), path.at(-1) ?? ""];
  ensure(json, above, {});
  const container = containerAt(json, above, "object");
  const old = container.children[memberAt(container, key)];
  if (old === undefined) append(container, { key, value }, json.layout);
  else old.value = rendered(value, json.layout, old.value.indent);
}

/** Removes the member at `path`, if there is one. */
export function removeMember(json: EditableJson, path: readonly string[]): void {
  const container = nodeAt(json.root, path.slice(0, -1));
  if (container?.kind === "object") cut(container, memberAt(container, path.at(-1) ?? ""));
}

/** Puts `value` at the end of the list at `path`, which is created when it is missing. */
export function addItem(json: EditableJson, path: readonly string[], value: unknown): void {
  ensure(json, path, []);
  append(containerAt(json, path, "array"), { key: null, value }, json.layout);
}

/**
 * Restores what was between the brackets of an empty container; `original` is what was found. Does nothing
 * where the container was not an empty one of this kind, and where anything but white space between the brackets
 * differs.
 */
export function restoreEmpty(json: EditableJson, path: readonly string[], { original }: { original: JsonNode }): void {
  const [now, then] = [nodeAt(json.root, path), nodeAt(original, path)];
  if (!now || !then || now.kind === "plain" || then.kind !== now.kind) return;
  if (now.children.length + then.children.length === 0 && now.tail.trim() === then.tail.trim()) now.tail = then.tail;
}

/** Replaces the item `index` of the list at `path`. */
export function replaceItem(
  json: EditableJson,
  path: readonly string[],
  { index, value }: { index: number; value: unknown },
): void {
  const item = containerAt(json, path, "array").children[index];
  if (item === undefined) throw new TextProblem("the item that was to be replaced is gone");
  item.value = rendered(value, json.layout, item.value.indent);
}

/** Removes the item `index` of the list at `path`. */
export function removeItem(json: EditableJson, path: readonly string[], { index }: { index: number }): void {
  const container = nodeAt(json.root, path);
  if (container?.kind === "array") cut(container, index);
}
