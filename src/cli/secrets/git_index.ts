/** Which files git has taken in already, by its index: what is protected from now on stays in its commits. */
import { gitDirectory } from "../../boundary/policy/git_directory.ts";
import { readRegularFile } from "../../boundary/reader.ts";
import { join } from "../../platform/path.ts";

/** Bytes of an index that are read; the largest repositories have more. */
const LIMIT = 64 * 1024 * 1024;
/** An entry up to its flags: times, numbers, mode and an SHA-1. */
const FLAGS_AT = 60;

/** Returns the absolute paths of the files in the index of the repository of a directory; none if it cannot be read. */
export function stagedPaths(root: string): string[] {
  const place = gitDirectory(join(root, ".git"));
  if (place === null) return [];
  const index = join(place.directory, "index");
  const read = readRegularFile(index, { display: index, limit: LIMIT });
  return "refused" in read || read.more ? [] : namesIn(read.bytes).map((name) => join(place.top, name));
}

/** Returns the names in an index of version 2, 3 or 4. */
export function namesIn(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const text = new TextDecoder();
  const names: string[] = [];
  const isIndex = bytes.length > 12 && text.decode(bytes.subarray(0, 4)) === "DIRC";
  const [version, count] = isIndex ? [view.getUint32(4), view.getUint32(8)] : [0, 0];
  let last = "";
  for (let start = 12; names.length < count && start + FLAGS_AT + 2 < bytes.length;) {
    const isLong = version > 2 && (view.getUint16(start + FLAGS_AT) & 0x4000) !== 0;
    let at = start + FLAGS_AT + (isLong ? 4 : 2);
    if (version > 3) {
      // How many bytes of the name before are dropped, in groups of seven bits.
      let dropped = (bytes[at] ?? 0) & 0x7f;
      while ((bytes[at++] ?? 0) & 0x80) dropped = ((dropped + 1) << 7) | ((bytes[at] ?? 0) & 0x7f);
      last = text.decode(new TextEncoder().encode(last).slice(0, -dropped || undefined));
    } else last = "";
    const end = bytes.indexOf(0, at);
    if (end < 0) break;
    last += text.decode(bytes.subarray(at, end));
    names.push(last);
    start = version > 3 ? end + 1 : start + (end - start + 8 & ~7);
  }
  return names;
}
