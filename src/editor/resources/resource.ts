/** A piece and a text: what stands there now, the text with the piece, the text without it. */
import { lstatSync } from "../../platform/files_sync.ts";
import { decodeBase64, type Piece } from "./artifact.ts";
import { sha256, textOf } from "../plan/disk.ts";
import { addItem, removeItem, removeMember, replaceItem, restoreEmpty, setMember } from "./json_edit.ts";
import { canonical, dataOf, type JsonNode, JsonProblem, nodeAt } from "./json_tree.ts";
import type { LiveText } from "../plan/draft.ts";
import { ownMarks, readSection, removeSection, type SectionMarks, SectionProblem, writeSection } from "./section.ts";

/** A piece of a file that is text to us. */
export type TextPiece = Exclude<Piece, { kind: "file" }>;

/** What stands in a piece's place. */
export interface PlaceState {
  /** Null when nothing does. */
  hash: string | null;
  /** Of an item: its place in the list. */
  index: number;
  /** The piece as it stands there. */
  found: Piece | null;
}

const NOTHING: PlaceState = { hash: null, index: -1, found: null };

function marksOf({ name, marks }: Extract<Piece, { kind: "section" }>): SectionMarks {
  return marks === undefined ? ownMarks(name) : { name, ...marks };
}

/** What is known of a piece that is looked for. */
export interface PieceSearch {
  /** The piece as it was written before. */
  versions: readonly Piece[];
  /** Whether another item, in canonical form, is known to be that of somebody else. */
  isOther(entry: string): boolean;
  /** It was written and is expected there. */
  isKnown: boolean;
}

/** For a piece of which nothing is known. */
export const UNKNOWN: PieceSearch = { versions: [], isOther: () => false, isKnown: false };

/** The value in the place of a piece, and of an item its index; null when there is none. */
function valueIn(
  file: LiveText,
  piece: Extract<Piece, { kind: "member" | "item" }>,
  { versions, isOther, isKnown }: PieceSearch,
): { node: JsonNode; index: number } | null {
  const place = file.isBlank ? null : nodeAt(file.json.root, piece.at);
  if (place === null) return null;
  if (piece.kind === "member") return { node: place, index: 0 };
  if (place.kind !== "array") return null;
  const values = [piece, ...versions].flatMap((one) => one.kind === "item" ? [one.value] : []);
  const index = file.hooksOf(place).find({ versions: values, isOther, loosely: isKnown });
  const node = place.children[index]?.value;
  return node === undefined ? null : { node, index };
}

/** What stands in the place of a piece. Throws `JsonProblem` and `SectionProblem` for a text that cannot be read. */
export async function stateIn(
  file: LiveText,
  piece: TextPiece,
  search: PieceSearch,
): Promise<PlaceState> {
  if (piece.kind === "section") {
    const content = readSection(file.text, marksOf(piece));
    return content === null ? NOTHING : { hash: await sha256(content), index: 0, found: { ...piece, content } };
  }
  const found = valueIn(file, piece, search);
  if (found === null) return NOTHING;
  const value = dataOf(found.node);
  return { hash: await sha256(canonical(value)), index: found.index, found: { ...piece, value } };
}

/**
 * Whether anything stands in the place of a piece, whatever it is; what cannot be read counts as something. `texts` looks
 * at files.
 */
export function isPresent(piece: Piece, texts: (path: string) => LiveText | null): boolean {
  const file = piece.kind === "file" ? null : texts(piece.path);
  if (piece.kind === "file" || file === null) return lstatSync(piece.path) !== null;
  try {
    if (piece.kind === "section") return readSection(file.text, marksOf(piece)) !== null;
    return valueIn(file, piece, UNKNOWN) !== null;
  } catch (error) {
    if (error instanceof JsonProblem || error instanceof SectionProblem) return true;
    throw error;
  }
}

/** Puts the piece into the text. `index`: the item that it replaces, or -1. */
export function putPiece(file: LiveText, piece: TextPiece, { index }: { index: number }): void {
  if (piece.kind === "section") {
    return file.set(writeSection(file.text, marksOf(piece), { content: piece.content }));
  }
  const { json } = file;
  if (piece.kind === "member") setMember(json, piece.at, piece.value);
  else {
    const item = index < 0
      ? addItem(json, piece.at, piece.value)
      : replaceItem(json, piece.at, { index, value: piece.value });
    const list = nodeAt(json.root, piece.at);
    if (list?.kind === "array") file.hooksOf(list).note(item);
  }
  file.changed();
}

/**
 * Takes the piece out of the text, and the empty lists and objects around it that `original` does not have; those that it
 * has empty are as they were found.
 */
export function takePiece(
  file: LiveText,
  piece: TextPiece,
  { index, original }: { index: number; original: LiveText | null },
): void {
  if (piece.kind === "section") return file.set(removeSection(file.text, marksOf(piece)));
  // Both are read before anything is changed: either may be no JSON.
  const { json } = file;
  const first = original === null || original.isBlank ? null : original.json.root;
  if (piece.kind === "member") removeMember(json, piece.at);
  else removeItem(json, piece.at, { index });
  file.changed();
  let path = piece.kind === "member" ? piece.at.slice(0, -1) : piece.at;
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

/** Whether nothing is left that anybody wrote: white space, or an empty object. */
export function isBare(text: string): boolean {
  return /^\ufeff?\s*(?:\{\s*\})?\s*$/.test(text);
}

/** The text of bytes; null when they are no text. */
export function textOfFile(bytes: Uint8Array | null): string | null {
  return bytes === null ? "" : textOf(bytes);
}

/** The bytes of a file piece. */
export function bytesOf(piece: Extract<Piece, { kind: "file" }>): Uint8Array<ArrayBuffer> {
  return decodeBase64(piece.content);
}
