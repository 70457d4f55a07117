/** Places in the text of a line editor: characters as people see them, words, and lines. */

/** A paste that is shown as one sign: the first of the private characters that stand for pastes. */
export const FIRST_PASTE = 0xe000;
/** Pastes that one text may hold as signs. */
export const MOST_PASTES = 256;

/** Which paste a character stands for; null for any other. */
export function pasteIndex(character: string): number | null {
  const index = (character.codePointAt(0) ?? 0) - FIRST_PASTE;
  return index >= 0 && index < MOST_PASTES ? index : null;
}

/** The characters as people see them: an emoji with its modifiers is one. */
export function graphemes(text: string): string[] {
  // Most text needs no table: letters of Latin scripts stand for themselves.
  if (/^[\u0020-\u02ff]*$/.test(text)) return text.split("");
  return [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
}

/** Where the line begins that `position` is in. */
export function lineStart(text: string, position: number): number {
  return position === 0 ? 0 : text.lastIndexOf("\n", position - 1) + 1;
}

/** Where it ends, before its line feed. */
export function lineEnd(text: string, position: number): number {
  const end = text.indexOf("\n", position);
  return end < 0 ? text.length : end;
}

/** The place one character to the left. */
export function before(text: string, position: number): number {
  if (position <= 0) return 0;
  const start = lineStart(text, position);
  if (start === position) return position - 1;
  return position - (graphemes(text.slice(start, position)).at(-1)?.length ?? 1);
}

/** The place one character to the right. */
export function after(text: string, position: number): number {
  if (position >= text.length) return text.length;
  if (text[position] === "\n") return position + 1;
  return position + (graphemes(text.slice(position, lineEnd(text, position)))[0]?.length ?? 1);
}

/** The beginning of the word at or left of `position`. */
export function wordBefore(text: string, position: number): number {
  return /(?:[\p{L}\p{N}\p{M}_]+|[^\p{L}\p{N}\p{M}_\s]+|)\s*$/u.exec(text.slice(0, position))?.index ?? position;
}

/** The end of the word at or right of `position`. */
export function wordAfter(text: string, position: number): number {
  const word = /^\s*(?:[\p{L}\p{N}\p{M}_]+|[^\p{L}\p{N}\p{M}_\s]+|)/u.exec(text.slice(position));
  return position + (word?.[0].length ?? 0);
}

/** The same column in the line above or below; null where there is none. Columns are counted in characters. */
export function verticalMove(text: string, position: number, direction: -1 | 1): number | null {
  const start = lineStart(text, position);
  const column = graphemes(text.slice(start, position)).length;
  const target = direction < 0 ? (start === 0 ? null : lineStart(text, start - 1)) : nextLine(text, position);
  if (target === null) return null;
  return target + graphemes(text.slice(target, lineEnd(text, target))).slice(0, column).join("").length;
}

function nextLine(text: string, position: number): number | null {
  const end = lineEnd(text, position);
  return end === text.length ? null : end + 1;
}
