/** A resource in a text: what is there, the text with it, the text without it. */
import { utf8Text } from "../../platform/text.ts";
import type { Resource } from "./artifact.ts";
import { addItem, removeItem, removeMember, replaceItem, restoreEmpty, setMember } from "./json_edit.ts";
import { dataOf, type JsonNode, nodeAt } from "./json_tree.ts";
import type { LiveText } from "../plan/draft.ts";
import { readTable, removeTable, writeTable } from "./toml_table.ts";
import { ownMarks, readSection, removeSection, type SectionMarks, writeSection } from "./section.ts";

/** A resource of a file that is read as text. */
export type TextResource = Exclude<Resource, { kind: "file" }>;

/** A resource as a file has it now. */
export interface FoundResource {
  found: Resource;
  /** Of an item: its place in the list. */
  index: number;
}

function marksOf({ name, marks }: Extract<Resource, { kind: "section" }>): SectionMarks {
  return marks === undefined ? ownMarks(name) : { name, ...marks };
}

interface ResourceSearch {
  /** The resource as it was written before. */
  versions: readonly Resource[];
  /** Whether another item, in canonical form, is known to be that of somebody else. */
  isOther(entry: string): boolean;
  /** It was written and is expected there. */
  isKnown: boolean;
}

/** For an unknown resource. */
const UNKNOWN: ResourceSearch = { versions: [], isOther: () => false, isKnown: false };

/** Returns what is in the place of a resource; null for nothing. Throws {@link TextProblem}. */
export function findIn(file: LiveText, resource: TextResource, search: ResourceSearch = UNKNOWN): FoundResource | null {
  if ("content" in resource) {
    const content = resource.kind === "section"
      ? readSection(file.text, marksOf(resource))
      : readTable(file.text, resource.at);
    return content === null ? null : { found: { ...resource, content }, index: 0 };
  }
  const place = file.isBlank ? null : nodeAt(file.json.root, resource.at);
  if (place === null) return null;
  if (resource.kind === "member") return { found: { ...resource, value: dataOf(place) }, index: 0 };
  if (place.kind !== "array") return null;
  const { versions, isOther, isKnown } = search;
  const values = [resource, ...versions].flatMap((one) => one.kind === "item" ? [one.value] : []);
  const index = file.hooks.find(place, { versions: values, isOther, loosely: isKnown });
  const node = place.children[index]?.value;
  return node === undefined ? null : { found: { ...resource, value: dataOf(node) }, index };
}

/** Puts the resource into the text. `index`: the item that it replaces, or -1. */
export function putResource(file: LiveText, resource: TextResource, { index }: { index: number }): void {
  if (resource.kind === "section") {
    return file.set(writeSection(file.text, marksOf(resource), resource));
  }
  if (resource.kind === "table") return file.set(writeTable(file.text, resource.at, resource));
  const { json } = file;
  if (resource.kind === "member") setMember(json, resource.at, resource.value);
  else if (index < 0) addItem(json, resource.at, resource.value);
  else replaceItem(json, resource.at, { index, value: resource.value });
  file.changed();
}

/**
 * Removes the resource from the text, and the empty lists and objects around it that `original` does not have; its own
 * empty ones are restored.
 */
export function takeResource(
  file: LiveText,
  resource: TextResource,
  { index, original }: { index: number; original: LiveText | null },
): void {
  if (resource.kind === "section") return file.set(removeSection(file.text, marksOf(resource)));
  if (resource.kind === "table") return file.set(removeTable(file.text, resource.at));
  // Both are read before anything is changed: either may not be JSON.
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

/** Returns whether only white space or an empty object is left. */
export function isBare(text: string): boolean {
  return /^(?:\{\s*\})?$/.test(text.replace(/^\ufeff/, "").trim());
}

/** Returns whether a member is one that the file needs for its others. */
export function isNeeded(file: LiveText, { header, at }: Extract<Resource, { kind: "member" }>): boolean {
  const above = header === true && !file.isBlank ? nodeAt(file.json.root, at.slice(0, -1)) : null;
  return above?.kind === "object" && above.children.some(({ key }) => key !== at.at(-1));
}

/** Returns the text of bytes; null when they are not text. */
export function textOfFile(bytes: Uint8Array | null): string | null {
  return bytes === null ? "" : utf8Text(bytes, { stays: true });
}
