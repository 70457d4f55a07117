/** The files of a project that git tracks and that are still as they were when it last saw them. */
import { listDirectory, lstat } from "../../platform/files.ts";
import { join, resolve } from "../../platform/path.ts";
import { readRegularFile } from "../reader.ts";

/** Largest index of git that is read, in bytes. */
const INDEX_LIMIT = 128 * 1024 * 1024;

/** One entry of the index. */
export interface IndexEntry {
  /** Relative to the working tree. */
  path: string;
  /** Bytes, modulo 2^32. */
  size: number;
  /** Seconds since 1970. */
  modified: number;
}

/**
 * The entries of a git index (versions 2, 3 and 4); null for anything else. Source: the format description of git,
 * `index-format`.
 */
export function parseGitIndex(bytes: Uint8Array): IndexEntry[] | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || view.getUint32(0) !== 0x44495243) return null;
  const version = view.getUint32(4);
  if (version < 2 || version > 4) return null;
  const decoder = new TextDecoder();
  const entries: IndexEntry[] = [];
  let [at, name] = [12, new Uint8Array()];
  for (let left = view.getUint32(8); left > 0; left--) {
    if (at + 62 > bytes.length) return null;
    const extended = version > 2 && (view.getUint16(at + 60) & 0x4000) !== 0;
    let start = at + (extended ? 64 : 62);
    let kept = 0;
    if (version === 4) {
      const drop = readVariable(bytes, start);
      if (drop === null || drop.value > name.length) return null;
      [kept, start] = [name.length - drop.value, drop.end];
    }
    const end = bytes.indexOf(0, start);
    if (end < 0) return null;
    const joined = new Uint8Array(kept + end - start);
    joined.set(name.subarray(0, kept));
    joined.set(bytes.subarray(start, end), kept);
    name = joined;
    entries.push({ path: decoder.decode(name), size: view.getUint32(at + 36), modified: view.getUint32(at + 8) });
    at = version === 4 ? end + 1 : at + ((end - at) & ~7) + 8;
  }
  return entries;
}

/** A number of version 4: seven bits a byte, and each continuation adds one. */
function readVariable(bytes: Uint8Array, start: number): { value: number; end: number } | null {
  let value = 0;
  for (let at = start; at < bytes.length && at < start + 5; at++) {
    const byte = bytes[at] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if ((byte & 0x80) === 0) return { value, end: at + 1 };
    value += 1;
  }
  return null;
}

async function indexPath(root: string): Promise<string> {
  const pointer = await readRegularFile(join(root, ".git"), { display: ".git", limit: 4096 });
  if ("refused" in pointer) return join(root, ".git", "index");
  const directory = /^gitdir:\s*(.+)$/m.exec(new TextDecoder().decode(pointer.bytes))?.[1]?.trim();
  return directory === undefined ? join(root, ".git", "index") : join(resolve(root, directory), "index");
}

/**
 * The absolute paths of the tracked regular files below `root` whose size and time are those that git noted. A file that
 * was changed since is none: somebody may have written protected content into it. Nothing where there is no index.
 */
export async function* unchangedTracked(root: string): AsyncGenerator<string> {
  if (await listDirectory(root) === null) return;
  const read = await readRegularFile(await indexPath(root), { display: ".git/index", limit: INDEX_LIMIT });
  if ("refused" in read || read.more) return;
  for (const entry of parseGitIndex(read.bytes) ?? []) {
    const path = join(root, entry.path);
    const found = await lstat(path).catch(() => null);
    if (found?.kind !== "file" || found.size % 2 ** 32 !== entry.size) continue;
    if (Math.floor(found.modified / 1000) === entry.modified) yield path;
  }
}
