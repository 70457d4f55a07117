/** Names compared as the most lenient file system would compare them. */

/** Invisible characters that some file systems ignore in names (`.g<U+200C>it` is `.git` there). */
const IGNORED_IN_NAMES = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * One name with everything taken away that makes no difference somewhere: case, compatibility forms, ignored
 * characters, and what Windows drops: trailing dots, spaces and stream names. For rules that forbid a name.
 */
export function foldedName(name: string): string {
  const plain = name.normalize("NFKC").replace(IGNORED_IN_NAMES, "").toLowerCase();
  const colon = plain.indexOf(":");
  let end = colon > 0 ? colon : plain.length;
  while (end > 0 && (plain[end - 1] === "." || plain[end - 1] === " ")) end -= 1;
  return plain.slice(0, end);
}

/** A path with every name folded. */
export function foldedPath(path: string): string {
  return path.split("/").map(foldedName).join("/");
}
