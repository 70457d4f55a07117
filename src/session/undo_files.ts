/** Stores changes for undo: one list of changes a session, and the contents they replaced. */
import { AgentcliError } from "../errors.ts";
import { sha256 } from "../platform/digest.ts";
import type { Home } from "../platform/home.ts";
import { openJournal, readPieces } from "../platform/journal.ts";
import { lineText } from "./line.ts";
import { fileLines } from "./load.ts";
import { undoName } from "./place.ts";

/** A state of a file, known by its content: a SHA-256 in hex, or that there was none. */
export type FileState = { kind: "absent" } | { kind: "content"; digest: string };

/** One change as it is stored. Of a protected one only that there was one: its name, too, may hold protected content. */
export type StoredChange =
  | { kind: "open"; turn: number; path: string; before: FileState; kept: boolean; after: string }
  | { kind: "redacted"; turn: number; path: string }
  | { kind: "undone"; turn: number; path: string };

function listName(sessionId: string): string {
  return `${undoName(sessionId)}/changes.jsonl`;
}

function contentName(sessionId: string, digest: string): string {
  return `${undoName(sessionId)}/${digest}`;
}

/** Adds a change; the disk has it when this resolves. Throws the system's errors. */
export async function addChange(home: Home, sessionId: string, change: StoredChange): Promise<void> {
  const journal = await openJournal(home, listName(sessionId));
  try {
    await journal.append(new TextEncoder().encode(lineText(change)));
  } finally {
    journal.close();
  }
}

/** Keeps a content under its digest, once. Throws the system's errors. */
export async function keepContent(
  home: Home,
  sessionId: string,
  content: { digest: string; bytes: Uint8Array },
): Promise<void> {
  const journal = await openJournal(home, contentName(sessionId, content.digest));
  try {
    if (journal.size === content.bytes.length) return;
    // A writer that was killed left a part of it.
    await journal.cut(0);
    await journal.append(content.bytes);
  } finally {
    journal.close();
  }
}

/** A content that was kept. Throws `turn_failed` when it is gone or damaged. */
export async function keptContent(
  home: Home,
  sessionId: string,
  { digest }: { digest: string },
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readPieces(home, contentName(sessionId, digest))) pieces.push(piece);
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  if (await sha256(bytes) !== digest) throw new AgentcliError("turn_failed", "what was kept for undo is gone");
  return bytes;
}

/** The changes of a session in their order; lines that cannot be read are left out. */
export async function storedChanges(home: Home, sessionId: string): Promise<StoredChange[]> {
  const changes: StoredChange[] = [];
  for await (const { text } of fileLines(home, listName(sessionId))) {
    const change = text === null ? null : readChange(text);
    if (change !== null) changes.push(change);
  }
  return changes;
}

function readChange(text: string): StoredChange | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || !("kind" in value) || !("turn" in value)) return null;
  const { kind, turn } = value;
  if (typeof turn !== "number") return null;
  if (!("path" in value) || typeof value.path !== "string") return null;
  const { path } = value;
  if (kind === "redacted" || kind === "undone") return { kind, turn, path };
  if (kind !== "open" || !("after" in value) || !isDigest(value.after)) return null;
  const before = "before" in value ? readState(value.before) : null;
  return before === null
    ? null
    : { kind, turn, path, before, kept: "kept" in value && value.kept === true, after: value.after };
}

/** A digest becomes part of a file's name: nothing else may. */
function isDigest(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

function readState(value: unknown): FileState | null {
  if (typeof value !== "object" || value === null || !("kind" in value)) return null;
  if (value.kind === "absent") return { kind: "absent" };
  return value.kind === "content" && "digest" in value && isDigest(value.digest)
    ? { kind: "content", digest: value.digest }
    : null;
}
