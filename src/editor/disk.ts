/** Files of an editor on the disk: read through the boundary's reader, looked at without following links. */
import { readRegularFile } from "../boundary/reader.ts";
import { AgentcliError } from "../errors.ts";
import { lstat } from "../platform/files.ts";
import { dirname, isWithin, join, relativeTo } from "../platform/path.ts";

/** Largest file that is read, in bytes: no file of an editor comes near it. */
export const FILE_LIMIT = 4 * 1024 * 1024;

/** Bytes of a file and its permission bits (null on Windows). */
export interface FoundFile {
  bytes: Uint8Array<ArrayBuffer>;
  mode: number | null;
}

/** The file, or null when nothing is there. Throws `usage` for what is no readable regular file, or too large. */
export function readFound(path: string): FoundFile | null {
  const read = readRegularFile(path, { display: path, limit: FILE_LIMIT });
  if ("refused" in read) {
    if (read.refused === "absent") return null;
    throw new AgentcliError("usage", read.message, { hint: "repair or move it, then run again" });
  }
  if (read.more) throw new AgentcliError("usage", `${path} is larger than 4 MiB and is left alone`);
  return { bytes: read.bytes, mode: read.status.mode };
}

/** UTF-8 as it stands, byte order mark included; null for other bytes. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The text of a file, or null when it is not there or cannot be read: for looking around, never before writing. */
export function lookAt(path: string): string | null {
  const read = readRegularFile(path, { display: path, limit: FILE_LIMIT });
  return "refused" in read || read.more ? null : textOf(read.bytes);
}

/** Whether two files have the same bytes; null: there is none. */
export function sameBytes(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** SHA-256 in hexadecimal. */
export async function sha256(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The link that stands between `base` and `path`, or at `path` itself; null when there is none. Nothing is written
 * through one: it could lead out of the place that was shown. What `path` is not below is judged by itself alone.
 */
export async function linkOnTheWay(base: string, path: string): Promise<string | null> {
  const names = isWithin(base, path) ? relativeTo(base, path).split("/") : [];
  const places = names.length === 0
    ? [dirname(path), path]
    : names.map((_, at) => join(base, ...names.slice(0, at + 1)));
  for (const place of places) {
    const found = await lstat(place);
    if (found === null) return null;
    if (found.kind === "symlink") return place;
  }
  return null;
}
