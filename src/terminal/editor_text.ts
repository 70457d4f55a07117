/** The text of the line editor: moving in it, and completing it. */

/** The first of the private characters that represent pastes, each shown as one sign. */
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
  // Most text needs no table: letters of Latin scripts are single characters.
  if (/^[\u0020-\u02ff]*$/.test(text)) return text.split("");
  return [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
}

/** Where the line of `position` begins. */
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

/** One candidate. `text` replaces what was typed; `note` is shown beside it. */
export interface Candidate {
  text: string;
  note: string;
}

/** The query: the incomplete word, without its sign, and where it begins in the text. */
export interface CompletionQuery {
  kind: "path" | "command";
  word: string;
  start: number;
}

export interface Completion {
  start: number;
  items: readonly Candidate[];
  selected: number;
}

/** Longest word that is looked up, in characters. */
const WORD_LIMIT = 400;

/** Returns the query at the cursor; null for none. */
export function queryAt(text: string, cursor: number): CompletionQuery | null {
  const typed = text.slice(Math.max(0, cursor - WORD_LIMIT), cursor);
  if (text.startsWith("/") && /^\/\S*$/.test(text.slice(0, cursor))) {
    return { kind: "command", word: text.slice(1, cursor), start: 0 };
  }
  const named = /(?:^|[\s(])@("[^"\n]*|[^"\s]*)$/.exec(typed)?.[1];
  if (named === undefined) return null;
  return { kind: "path", word: named.replace(/^"/, ""), start: cursor - named.length - 1 };
}

/** The list for requested candidates; null when there are none, or the text has changed. */
export function offer(
  { text, cursor }: { text: string; cursor: number },
  query: CompletionQuery,
  items: readonly Candidate[],
): Completion | null {
  const now = queryAt(text, cursor);
  if (now === null || now.start !== query.start || now.word !== query.word || items.length === 0) return null;
  return { start: query.start, items, selected: 0 };
}

/** The list with the next or the previous candidate selected; it wraps around. */
export function step(completion: Completion, direction: -1 | 1): Completion {
  const { length } = completion.items;
  return { ...completion, selected: (completion.selected + direction + length) % length };
}

/** The candidate for a path; one with spaces is in quotes, which stay open after a directory. */
export function pathOffer(path: string, note: string): Candidate {
  if (!/[\s"']/.test(path)) return { text: `@${path}`, note };
  return { text: path.endsWith("/") ? `@"${path}` : `@"${path}"`, note };
}

/**
 * The text with the selected candidate in it. A directory stays open for what is below; anything else is followed by a
 * space.
 */
export function accept(
  { text, cursor }: { text: string; cursor: number },
  { start, items, selected }: Completion,
): { text: string; cursor: number } {
  const chosen = items[selected]?.text ?? "";
  const inserted = chosen.endsWith("/") ? chosen : `${chosen} `;
  const rest = text.slice(cursor).replace(/^ /, "");
  return { text: text.slice(0, start) + inserted + rest, cursor: start + inserted.length };
}
