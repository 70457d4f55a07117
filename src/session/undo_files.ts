/** Stores changes for undo: one list of changes a session, and the contents they replaced. */
import { AgentcliError } from "../errors.ts";
import { sha256 } from "../platform/digest.ts";
import { keepParts } from "../platform/erase.ts";
import { listSync } from "../platform/files.ts";
import type { Home } from "../platform/home.ts";
import { fieldsOf, parseJson } from "../platform/record.ts";
import { appendLines, openJournal, readPart } from "../platform/journal.ts";
import { lineText } from "./line.ts";
import { fileLines } from "./load.ts";
import { undoName } from "./paths.ts";

/**
 * A state of an entry: a file by the SHA-256 of its content, in hex, and its mode where that counts. `unread`: nobody
 * knows it, since it was not read, for a reason in a few words.
 */
export type EntryState =
  | { kind: "absent" }
  | { kind: "content"; digest: string; mode?: number }
  | { kind: "link"; target: string }
  | { kind: "directory"; mode?: number }
  | { kind: "unread"; reason: string };

/** Where a content is stored among those of its session; for an earlier version, in a file of its own. */
export type ContentPlace = { at: number; length: number } | "own file";

/**
 * One change as it is stored. Of a protected one only that there was one: its name, too, may hold protected content.
 */
export type StoredChange =
  | { kind: "open"; turn: number; path: string; before: EntryState; kept: ContentPlace | null; after: EntryState }
  | { kind: "redacted"; turn: number; path: string }
  | { kind: "undone"; turn: number; path: string };

/** Most bytes of one content, and of all that a session keeps. */
export const LONGEST = 64 * 1024 * 1024;
const MOST_KEPT = 512 * 1024 * 1024;

function listName(sessionId: string): string {
  return `${undoName(sessionId)}/changes.jsonl`;
}

function contentsName(sessionId: string): string {
  return `${undoName(sessionId)}/contents`;
}

/** Returns the log in which the sessions of a project tell each other what they change, relative to the home. */
export async function activityName(root: string): Promise<string> {
  return `undo/${(await sha256(root)).slice(0, 32)}.log`;
}

/** Adds changes; the disk has them when this resolves. Throws the system's errors. */
export async function addChanges(home: Home, sessionId: string, changes: readonly StoredChange[]): Promise<void> {
  await appendLines(home, { name: listName(sessionId), lines: changes.map(lineText).join("") });
}

/** Replaces all changes of a session by these. */
export async function rewriteChanges(home: Home, sessionId: string, changes: readonly StoredChange[]): Promise<void> {
  await home.write(listName(sessionId), changes.map(lineText).join(""));
}

/** Erases the contents of a session that none of these changes, which are all of it, names. */
export async function eraseUnnamed(home: Home, sessionId: string, changes: readonly StoredChange[]): Promise<void> {
  const open = changes.filter((change) => change.kind === "open");
  const digests = new Set(open.map(({ before }) => before.kind === "content" ? before.digest : ""));
  const parts = open.flatMap(({ kept }) => kept === null || kept === "own file" ? [] : [kept]);
  for (const { name } of listSync(home.file(undoName(sessionId))) ?? []) {
    const file = `${undoName(sessionId)}/${name}`;
    if (file === contentsName(sessionId)) await keepParts(home, file, parts);
    else if (file !== listName(sessionId) && !digests.has(name)) await home.remove(file);
  }
}

/**
 * Keeps contents, and returns where each of them is stored; null where the session keeps too much already. Throws the
 * system's errors.
 */
export async function keepContents(
  home: Home,
  sessionId: string,
  contents: readonly Uint8Array[],
): Promise<ContentPlace[] | null> {
  if (contents.length === 0) return [];
  const journal = await openJournal(home, contentsName(sessionId));
  try {
    let at = journal.size;
    if (at + contents.reduce((sum, { length }) => sum + length, 0) > MOST_KEPT) return null;
    const places = contents.map(({ length }) => ({ at: (at += length) - length, length }));
    await journal.append(...contents);
    return places;
  } finally {
    journal.close();
  }
}

/** A content that was kept. Throws `turn_failed` when it is gone or damaged. */
export async function keptContent(
  home: Home,
  sessionId: string,
  { digest, place }: { digest: string; place: ContentPlace },
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = place === "own file"
    ? await readPart(home, `${undoName(sessionId)}/${digest}`, { at: 0, length: LONGEST })
    : await readPart(home, contentsName(sessionId), place);
  if (bytes !== null && await sha256(bytes) === digest) return bytes;
  throw new AgentcliError("turn_failed", "what was kept for undo is gone");
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
  const { kind, turn, path, before, after, kept } = fieldsOf(parseJson(text));
  if (typeof turn !== "number") return null;
  if (typeof path !== "string") return null;
  if (kind === "redacted" || kind === "undone") return { kind, turn, path };
  const was = readState(before);
  // Earlier versions wrote the digest alone, and kept each content in a file.
  const became = typeof after === "string" ? readState({ kind: "content", digest: after }) : readState(after);
  if (kind !== "open" || was === null || became === null) return null;
  return { kind, turn, path, before: was, kept: readPlace(kept), after: became };
}

function readPlace(value: unknown): ContentPlace | null {
  if (value === true || value === "own file") return "own file";
  const { at, length } = fieldsOf(value);
  return isCount(at) && isCount(length) && length <= LONGEST ? { at, length } : null;
}

function readState(value: unknown): EntryState | null {
  const { kind, digest, mode, target, reason } = fieldsOf(value);
  const bits = isCount(mode) && mode <= 0o7777 ? { mode } : {};
  if (kind === "absent") return { kind };
  if (kind === "directory") return { kind, ...bits };
  if (kind === "link" && typeof target === "string") return { kind, target };
  if (kind === "unread" && typeof reason === "string") return { kind, reason };
  // A digest becomes part of a file's name: nothing else may.
  const isDigest = typeof digest === "string" && /^[0-9a-f]{64}$/.test(digest);
  return kind === "content" && isDigest ? { kind, digest, ...bits } : null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
