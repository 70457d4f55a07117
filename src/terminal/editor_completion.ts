/** What a line editor offers to complete: paths behind `@`, commands behind `/`. */

/** One offer. `text` takes the place of what was typed; `note` stands beside it. */
export interface Candidate {
  text: string;
  note: string;
}

/** What is asked for: the word that was begun, without its sign, and where it begins in the text. */
export interface CompletionQuery {
  kind: "path" | "command";
  word: string;
  start: number;
}

/** The list that is shown. */
export interface Completion {
  start: number;
  items: readonly Candidate[];
  selected: number;
}

/** Longest word that is looked up, in characters. */
const WORD_LIMIT = 400;

/** What could be completed at the cursor; null for nothing. */
export function queryAt(text: string, cursor: number): CompletionQuery | null {
  const typed = text.slice(Math.max(0, cursor - WORD_LIMIT), cursor);
  if (text.startsWith("/") && /^\/\S*$/.test(text.slice(0, cursor))) {
    return { kind: "command", word: text.slice(1, cursor), start: 0 };
  }
  const path = /(?:^|\s)@(\S*)$/.exec(typed)?.[1];
  return path === undefined ? null : { kind: "path", word: path, start: cursor - path.length - 1 };
}

/** The list for candidates that were asked for; null when there are none, or the text has gone on. */
export function offer(
  { text, cursor }: { text: string; cursor: number },
  query: CompletionQuery,
  items: readonly Candidate[],
): Completion | null {
  const now = queryAt(text, cursor);
  if (now === null || now.start !== query.start || now.word !== query.word || items.length === 0) return null;
  return { start: query.start, items, selected: 0 };
}

/** The list with the next or the previous offer selected; it goes round. */
export function step(completion: Completion, direction: -1 | 1): Completion {
  const { length } = completion.items;
  return { ...completion, selected: (completion.selected + direction + length) % length };
}

/** The text with the selected offer in it. A directory stays open for what is below; anything else is followed by a space. */
export function accept(
  { text, cursor }: { text: string; cursor: number },
  { start, items, selected }: Completion,
): { text: string; cursor: number } {
  const chosen = items[selected]?.text ?? "";
  const inserted = chosen.endsWith("/") ? chosen : `${chosen} `;
  const rest = text.slice(cursor).replace(/^ /, "");
  return { text: text.slice(0, start) + inserted + rest, cursor: start + inserted.length };
}
