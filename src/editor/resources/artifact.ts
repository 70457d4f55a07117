/** What is installed: an artifact is a name and the pieces of files that it consists of. */
import { AgentcliError } from "../../errors.ts";
import * as z from "../../config/zod.ts";
import { DIALECT_IDS, SCOPES } from "../dialect.ts";
import { sha256 } from "../plan/disk.ts";
import { canonical } from "./json_tree.ts";

/** The kinds of artifacts. */
export const KINDS = ["rule", "workflow", "skill", "hook", "mcp", "instructions"] as const;

/** One of them. */
export type ArtifactKind = (typeof KINDS)[number];

const FilePiece = z.object({
  kind: z.literal("file"),
  path: z.string(),
  /** The whole file, base64: what a skill bundles need not be text. */
  content: z.string(),
  executable: z.boolean(),
});
/** A member of an object of a JSON file. */
const MemberPiece = z.object({
  kind: z.literal("member"),
  path: z.string(),
  at: z.array(z.string()),
  value: z.unknown(),
});
/** An item of a list of a JSON file. */
const ItemPiece = z.object({ kind: z.literal("item"), path: z.string(), at: z.array(z.string()), value: z.unknown() });
/** A marked section of a markdown file; `limit`: characters that the whole file may have. */
const SectionPiece = z.object({
  kind: z.literal("section"),
  path: z.string(),
  name: z.string(),
  /** The lines around it, of a section that another installer has made; else they are those of ours. */
  marks: z.object({ begin: z.string(), end: z.string() }).optional(),
  content: z.string(),
  limit: z.number().nullable(),
});

/** The shape of a piece in the ledger. */
export const PieceSchema = z.discriminatedUnion("kind", [FilePiece, MemberPiece, ItemPiece, SectionPiece]);

/** What one artifact puts into one place. Paths are absolute. */
export type Piece = z.infer<typeof PieceSchema>;

/** The shape of an artifact without its pieces. */
export const ArtifactHead = z.object({
  kind: z.enum(KINDS),
  name: z.string(),
  scope: z.enum(SCOPES),
  dialect: z.enum(DIALECT_IDS),
  /** Absolute: the project, the home or the system directory. Nothing between it and a file may be a link. */
  base: z.string(),
});

/** An artifact as it should be. */
export interface Artifact extends z.infer<typeof ArtifactHead> {
  pieces: Piece[];
}

/** `rule:style`, the word for an artifact on the command line. */
export function artifactId({ kind, name }: Pick<Artifact, "kind" | "name">): string {
  return `${kind}:${name}`;
}

/** Tells artifacts apart: kind, name and where it is installed. */
export function artifactKey(one: Omit<Artifact, "pieces">): string {
  return `${artifactId(one)} ${one.scope} ${one.base}`;
}

/** Tells pieces of one artifact apart; two versions of one piece have the same. */
export function pieceKey(piece: Piece): string {
  if (piece.kind === "file") return `file ${piece.path}`;
  if (piece.kind === "section") return `section ${piece.path} ${piece.name}`;
  return `${piece.kind} ${piece.path} ${piece.at.join("/")}`;
}

/** Hash of what a piece puts there. */
export function pieceHash(piece: Piece): Promise<string> {
  if (piece.kind === "file") return sha256(decodeBase64(piece.content));
  return sha256(piece.kind === "section" ? piece.content : canonical(piece.value));
}

/** Bytes as base64. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** The bytes of a base64 text. Throws `internal` for a damaged one. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch (cause) {
    throw new AgentcliError("home_unusable", "the editor's ledger holds a damaged file", { cause });
  }
}

/** A text as the content of a file piece. */
export function fileContent(text: string): string {
  return encodeBase64(new TextEncoder().encode(text));
}
