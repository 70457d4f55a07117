/** A resource in a text: its state there, the text with it, the text without it. */
import { TextProblem } from "../limits.ts";
import { sha256 } from "../../platform/digest.ts";
import { lstatSync } from "../../platform/files_sync.ts";
import { decodeBase64, type Resource } from "./artifact.ts";
import { textOf } from "../plan/disk.ts";
import { addItem, removeItem, removeMember, replaceItem, restoreEmpty, setMember } from "./json_edit.ts";
import { canonical, dataOf, type JsonNode, nodeAt } from "./json_tree.ts";
import type { LiveText } from "../plan/draft.ts";
import { readTable, removeTable, writeTable } from "./toml_table.ts";
import { ownMarks, readSection, removeSection, type SectionMarks, writeSection } from "./section.ts";

/** A resource of a file that is text to us. */
export type TextResource = Exclude<Resource, { kind: "file" }>;

export interface PlaceState {
  /** Null when nothing is there. */
  hash: string | null;
  /** Of an item: its place in the list. */
  index: number;
  /** The resource as it is there. */
  found: Resource | null;
}

const NOTHING: PlaceState = { hash: null, index: -1, found: null };

function marksOf({ name, marks }: Extract<Resource, { kind: "section" }>): SectionMarks {
  return marks === undefined ? ownMarks(name) : { name, ...marks };
}

export interface ResourceSearch {
  /** The resource as it was written before. */
  versions: readonly Resource[];
  /** Whether another item, in canonical form, is known to be that of somebody else. */
  isOther(entry: string): boolean;
  /** It was written and is expected there. */
  isKnown: boolean;
}

/** For a resource of which nothing is known. */
export const UNKNOWN: ResourceSearch = { versions: [], isOther: () => false, isKnown: false };

/** Returns the value in the place of a resource, and of an item its index; null when there is none. */
function valueIn(
  file: LiveText,
  resource: Extract<Resource, { kind: "member" | "item" }>,
  { versions, isOther, isKnown }: ResourceSearch,
): { node: JsonNode; index: number } | null {
  const place = file.isBlank ? null : nodeAt(file.json.root, resource.at);
  if (place === null) return null;
  if (resource.kind === "member") return { node: place, index: 0 };
  if (place.kind !== "array") return null;
  const values = [resource, ...versions].flatMap((one) => one.kind === "item" ? [one.value] : []);
  const index = file.hooksOf(place).find({ versions: values, isOther, loosely: isKnown });
  const node = place.children[index]?.value;
  return node === undefined ? null : { node, index };
}

/** Returns the state of a resource's place. Throws a {@link TextProblem} for a text that cannot be read. */
export async function stateIn(
  file: LiveText,
  resource: TextResource,
  search: ResourceSearch,
): Promise<PlaceState> {
  if (resource.kind === "section") {
    const content = readSection(file.text, marksOf(resource));
    return content === null ? NOTHING : { hash: await sha256(content), index: 0, found: { ...resource, content } };
  }
  if (resource.kind === "table") {
    const content = readTable(file.text, resource.at);
    return content === null ? NOTHING : { hash: await sha256(content), index: 0, found: { ...resource, content } };
  }
  const found = valueIn(file, resource, search);
  if (found === null) return NOTHING;
  const value = dataOf(found.node);
  return { hash: await sha256(canonical(value)), index: found.index, found: { ...resource, value } };
}

/**
 * Returns whether anything stands in the place of a resource, whatever it is; what cannot be read counts as something. `texts` looks
 * at files.
 */
export function isPresent(resource: Resource, texts: (path: string) => LiveText | null): boolean {
  const file = resource.kind === "file" ? null : texts(resource.path);
  if (resource.kind === "file" || file === null) return lstatSync(resource.path) !== null;
  try {
    if (resource.kind === "section") return readSection(file.text, marksOf(resource)) !== null;
    if (resource.kind === "table") return readTable(file.text, resource.at) !== null;
    return valueIn(file, resource, UNKNOWN) !== null;
  } catch (error) {
    if (error instanceof TextProblem) return true;
    throw error;
  }
}

/** Puts the resource into the text. `index`: the item that it replaces, or -1. */
export function putResource(file: LiveText, resource: TextResource, { index }: { index: number }): void {
  if (resource.kind === "section") {
    return file.set(writeSection(file.text, marksOf(resource), { content: resource.content }));
  }
  if (resource.kind === "table") return file.set(writeTable(file.text, resource.at, resource));
  const { json } = file;
  if (resource.kind === "member") setMember(json, resource.at, resource.value);
  else {
    const item = index < 0
      ? addItem(json, resource.at, resource.value)
      : replaceItem(json, resource.at, { index, value: resource.value });
    const list = nodeAt(json.root, resource.at);
    if (list?.kind === "array") file.hooksOf(list).note(item);
  }
  file.changed();
}

/**
 * Takes the resource out of the text, and the empty lists and objects around it that `original` does not have; those that it
 * has empty are as they were found.
 */
export function takeResource(
  file: LiveText,
  resource: TextResource,
  { index, original }: { index: number; original: LiveText | null },
): void {
  if (resource.kind === "section") return file.set(removeSection(file.text, marksOf(resource)));
  if (resource.kind === "table") return file.set(removeTable(file.text, resource.at));
  // Both are read before anything is changed: either may be no JSON.
  const { json } = file;
  const first = original === null || original.isBlank ? null : original.json.root;
  if (resource.kind === "member") removeMember(json, resource.at);
  else removeItem(json, resource.at, { index });
  file.changed();
  let path = resource.kind === "member" ? resource.at.slice(0, -1) : resource.at;
  for (;; path = path.slice(0, -1)) {
    if (!isEmpty(nodeAt(json.root, path))) return;
    if (first !== null && nodeAt(first, path) !== null) return restoreEmpty(json, path, { original: first });
    if (path.length === 0) break;
    removeMember(json, path);
  }
  // The file was there and held nothing.
  if (original !== null && isBare(file.text)) file.set(original.text);
}

function isEmpty(node: JsonNode | null): boolean {
  return node !== null && node.kind !== "plain" && node.children.length === 0;
}

/** Returns whether nothing is left that anybody wrote: white space, or an empty object. */
export function isBare(text: string): boolean {
  return /^\ufeff?\s*(?:\{\s*\})?\s*$/.test(text);
}

/** Returns whether a member is what the file needs for the others that it has. */
export function isNeeded(file: LiveText, { header, at }: Extract<Resource, { kind: "member" }>): boolean {
  const above = header === true && !file.isBlank ? nodeAt(file.json.root, at.slice(0, -1)) : null;
  return above?.kind === "object" && above.children.some(({ key }) => key !== at.at(-1));
}

/** Returns the text of bytes; null when they are no text. */
export function textOfFile(bytes: Uint8Array | null): string | null {
  return bytes === null ? "" : textOf(bytes);
}

/** Returns the bytes of a file resource. */
export function bytesOf(resource: Extract<Resource, { kind: "file" }>): Uint8Array<ArrayBuffer> {
  return decodeBase64(resource.content);
}
