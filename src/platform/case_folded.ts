/** Names compared as the most lenient file system would compare them. */

import { normalized } from "./text.ts";

/** The usual name costs one test. */
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Text without what makes no difference on some file system: case, compatibility and composition forms, ignored
 * characters.
 */
export function foldedText(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  // Invisible characters that some file systems ignore in names (`.g<U+200C>it` is `.git` there). Made here: the class
  // alone costs a quarter of a millisecond, and most starts meet no such name.
  const ignored = /\p{Default_Ignorable_Code_Point}/gu;
  // Upper case first: it unifies what lower case keeps apart (ß and ss, both forms of sigma).
  const plain = normalized(text, "NFKC").replace(ignored, "").toUpperCase().toLowerCase();
  return normalized(plain, "NFKC").replace(ignored, "");
}

/**
 * One name without everything that makes no difference on some file system: what {@link foldedText} drops, and what
 * Windows drops: trailing dots, spaces and stream names. For rules about names.
 */
export function foldedName(name: string): string {
  return strippedName(foldedText(name));
}

/** The second half of {@link foldedName}. */
export function strippedName(plain: string): string {
  const colon = plain.indexOf(":");
  let end = colon > 0 ? colon : plain.length;
  while (end > 0 && (plain[end - 1] === "." || plain[end - 1] === " ")) end -= 1;
  return end === plain.length ? plain : plain.slice(0, end);
}

/** A path with every name folded. */
export function foldedPath(path: string): string {
  return path.split("/").map(foldedName).join("/");
}
