/** A piece and a text: what stands there now, the text with the piece, the text without it. */
import { lstatInPlace } from "../platform/files_in_place.ts";
import { canonical, dataOf, type JsonNode, JsonProblem, nodeAt, parseJsonTree } from "./json_tree.ts";
import { decodeBase64, type Piece } from "./artifact.ts";
import { addItem, removeItem, removeMember, replaceItem, restoreEmpty, setMember } from "./json_edit.ts";
import { ownMarks, readSection, removeSection, type SectionMarks, SectionProblem, writeSection } from "./section.ts";
import { findItem } from "./hook_item.ts";
import { lookAt, sha256, textOf } from "./disk.ts";

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
  /** Values of other items that are known, in canonical form. */
  others: ReadonlySet<string>;
  /** It was written and is expected there. */
  isKnown: boolean;
}

const UNKNOWN: PieceSearch = { versions: [], others: new Set(), isKnown: false };

function itemIn(list: JsonNode | null, piece: Piece, { versions, others, isKnown }: PieceSearch): number {
  const values = [piece, ...versions].flatMap((one) => one.kind === "item" ? [one.value] : []);
  return findItem(list, { versions: values, others, loosely: isKnown });
}

/** What stands in the place of a piece. Throws `JsonProblem` and `SectionProblem` for a text that cannot be read. */
export async function stateIn(
  text: string,
  piece: TextPiece,
  search: PieceSearch,
): Promise<PlaceState> {
  if (piece.kind === "section") {
    const content = readSection(text, marksOf(piece));
    return content === null ? NOTHING : { hash: await sha256(content), index: 0, found: { ...piece, content } };
  }
  if (isBlank(text)) return NOTHING;
  const place = nodeAt(parseJsonTree(text), piece.at);
  const index = piece.kind === "member" ? 0 : itemIn(place, piece, search);
  const node = piece.kind === "member" ? place : place?.kind === "array" ? place.items[index] : undefined;
  if (node === undefined || node === null) return NOTHING;
  const value = dataOf(node);
  return { hash: await sha256(canonical(value)), index, found: { ...piece, value } };
}

/** Whether anything stands in the place of a piece, whatever it is; what cannot be read counts as something. */
export function isInPlace(piece: Piece): boolean {
  const text = lookAt(piece.path);
  if (piece.kind === "file") return lstatInPlace(piece.path) !== null;
  if (text === null) return lstatInPlace(piece.path) !== null;
  try {
    if (piece.kind === "section") return readSection(text, marksOf(piece)) !== null;
    const node = text.trim() === "" ? null : nodeAt(parseJsonTree(text), piece.at);
    return piece.kind === "member" ? node !== null : itemIn(node, piece, UNKNOWN) >= 0;
  } catch (error) {
    if (error instanceof JsonProblem || error instanceof SectionProblem) return true;
    throw error;
  }
}

/** The text with the piece in it. `index`: the item that it replaces, or -1. */
export function withPiece(text: string, piece: TextPiece, { index }: { index: number }): string {
  if (piece.kind === "section") return writeSection(text, marksOf(piece), { content: piece.content });
  if (piece.kind === "member") return setMember(text, piece.at, piece.value);
  return index < 0 ? addItem(text, piece.at, piece.value) : replaceItem(text, piece.at, { index, value: piece.value });
}

/**
 * The text without the piece, and without the empty lists and objects around it that `original` does not have; those that
 * it has empty are as they were found.
 */
export function withoutPiece(
  text: string,
  piece: TextPiece,
  { index, original }: { index: number; original: string | null },
): string {
  if (piece.kind === "section") return removeSection(text, marksOf(piece));
  let result = piece.kind === "member" ? removeMember(text, piece.at) : removeItem(text, piece.at, { index });
  const first = original === null || isBlank(original) ? null : original;
  let path = piece.kind === "member" ? piece.at.slice(0, -1) : piece.at;
  for (;; path = path.slice(0, -1)) {
    if (!isEmpty(nodeAt(parseJsonTree(result), path))) return result;
    if (first !== null && nodeAt(parseJsonTree(first), path) !== null) {
      return restoreEmpty(result, path, { original: first });
    }
    if (path.length === 0) break;
    result = removeMember(result, path);
  }
  // The file was there and held nothing.
  return original !== null && isBare(result) ? original : result;
}

/** Whether a text has nothing but white space, a byte order mark aside. */
function isBlank(text: string): boolean {
  return text.replace(/^\ufeff/, "").trim() === "";
}

function isEmpty(node: JsonNode | null): boolean {
  return (node?.kind === "array" && node.items.length === 0) || (node?.kind === "object" && node.members.length === 0);
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
