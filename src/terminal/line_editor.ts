/** A line editor as a pure function: state and key in, state and effects out. Nothing here draws or waits. */
import {
  accept,
  after,
  before,
  type Completion,
  type CompletionQuery,
  FIRST_PASTE,
  lineEnd,
  lineStart,
  MOST_PASTES,
  pasteIndex,
  queryAt,
  step,
  verticalMove,
  wordAfter,
  wordBefore,
} from "./editor_text.ts";
import type { Key, KeyName } from "./keys.ts";

/** A search through the history, begun with control-R. `found` is the place in the history, -1 for none. */
interface HistorySearch {
  query: string;
  found: number;
}

export interface EditorState {
  /** Large pastes stand in it as one private character each. */
  text: string;
  /** Index into `text`. */
  cursor: number;
  pastes: readonly string[];
  history: readonly string[];
  /** The place in the history that is shown; its length for the text being written. */
  place: number;
  /** The text before the history was opened. */
  draft: string;
  search: HistorySearch | null;
  completion: Completion | null;
  /** The text that Control-Y puts back. */
  killed: string;
  undo: readonly { text: string; cursor: number }[];
  /** Whether the last key inserted text: then the next joins its undo step. */
  typing: boolean;
}

export type EditorEffect =
  /** `isForLater`: not for what runs now. */
  | { kind: "submit"; text: string; isForLater?: true }
  | { kind: "complete"; query: CompletionQuery }
  | { kind: "interrupt" }
  | { kind: "leave" }
  | { kind: "escape" }
  | { kind: "clear_screen" }
  /** Unfold the block with this number, else the last; fold it again. */
  | { kind: "unfold"; number: number | null }
  | { kind: "page"; direction: -1 | 1 }
  /** Edit the text in a program of the person's own; `text` holds its pastes. */
  | { kind: "edit_outside"; text: string }
  | { kind: "suspend" }
  | { kind: "back_tab" };

interface Edited {
  state: EditorState;
  effects: readonly EditorEffect[];
}

/** A paste of more lines or characters is shown as a sign. */
const SHOWN_PASTE = { lines: 8, characters: 1000 };
const UNDO_STEPS = 200;

/** An empty editor with what was typed before, oldest first. */
export function createEditor(history: readonly string[] = []): EditorState {
  return {
    text: "",
    cursor: 0,
    pastes: [],
    history,
    place: history.length,
    draft: "",
    search: null,
    completion: null,
    killed: "",
    undo: [],
    typing: false,
  };
}

/** The text with its pastes put in. */
function fullText({ text, pastes }: Pick<EditorState, "text" | "pastes">): string {
  if (pastes.length === 0) return text;
  return text.replace(/[\ue000-\ue0ff]/g, (character) => pastes[pasteIndex(character) ?? -1] ?? "");
}

/** One key. Never throws. */
export function edit(state: EditorState, key: Key): Edited {
  if (state.search !== null) return searching(state, state.search, key);
  switch (key.kind) {
    case "text":
      return completing(insert(state, printable(key.text), { typing: true }));
    case "paste":
      return only(paste(state, key.text));
    case "named":
      return named(state, key.name);
  }
}

function only(state: EditorState, ...effects: EditorEffect[]): Edited {
  return { state, effects };
}

/** Asks for candidates where the cursor stands after the beginning of a path or a command. */
function completing(state: EditorState): Edited {
  const query = queryAt(state.text, state.cursor);
  if (query === null) return only({ ...state, completion: null });
  return only(state, { kind: "complete", query });
}

/** Private characters represent pastes, and nobody types them. */
function printable(text: string): string {
  return text.replace(/[\ue000-\ue0ff]/g, "");
}

function remembered(state: EditorState, typing: boolean): Pick<EditorState, "undo" | "typing"> {
  if (typing && state.typing) return { undo: state.undo, typing };
  const undo = [...state.undo, { text: state.text, cursor: state.cursor }];
  return { undo: undo.slice(-UNDO_STEPS), typing };
}

function insert(state: EditorState, text: string, { typing }: { typing: boolean }): EditorState {
  const { cursor } = state;
  return {
    ...state,
    ...remembered(state, typing),
    text: state.text.slice(0, cursor) + text + state.text.slice(cursor),
    cursor: cursor + text.length,
  };
}

function paste(state: EditorState, given: string): EditorState {
  const text = printable(given.replace(/\r\n?/g, "\n"));
  const lines = text.split("\n", SHOWN_PASTE.lines + 1).length;
  const small = text.length <= SHOWN_PASTE.characters && lines <= SHOWN_PASTE.lines;
  const { pastes } = state;
  if (small || pastes.length >= MOST_PASTES) return { ...insert(state, text, { typing: false }), completion: null };
  const sign = String.fromCodePoint(FIRST_PASTE + pastes.length);
  return { ...insert({ ...state, pastes: [...pastes, text] }, sign, { typing: false }), completion: null };
}

function remove(state: EditorState, start: number, { end, kill }: { end: number; kill: boolean }): EditorState {
  if (start === end) return state;
  return {
    ...state,
    ...remembered(state, false),
    killed: kill ? state.text.slice(start, end) : state.killed,
    text: state.text.slice(0, start) + state.text.slice(end),
    cursor: start,
  };
}

function moved(state: EditorState, cursor: number): Edited {
  return only({ ...state, cursor, typing: false, completion: null });
}

function named(state: EditorState, name: KeyName): Edited {
  const { text, cursor, completion } = state;
  const cut = (start: number, end: number, kill = true) => completing(remove(state, start, { end, kill }));
  switch (name) {
    case "enter":
      return enter(state);
    case "newline":
    case "alt_enter":
      return only({ ...insert(state, "\n", { typing: false }), completion: null });
    case "tab":
      return completion === null ? completing(state) : accepted(state, completion);
    case "back_tab":
      return only(state, { kind: "back_tab" });
    case "save":
    case "ready":
      return only(state);
    case "page_up":
    case "page_down":
      return only(state, { kind: "page", direction: name === "page_up" ? -1 : 1 });
    case "backspace":
      return cut(before(text, cursor), cursor, false);
    case "delete":
      return cut(cursor, after(text, cursor), false);
    case "left":
      return moved(state, before(text, cursor));
    case "right":
      return moved(state, after(text, cursor));
    case "home":
      return moved(state, lineStart(text, cursor));
    case "end":
      return moved(state, lineEnd(text, cursor));
    case "word_left":
      return moved(state, wordBefore(text, cursor));
    case "word_right":
      return moved(state, wordAfter(text, cursor));
    case "delete_word_left":
      return cut(wordBefore(text, cursor), cursor);
    case "delete_word_right":
      return cut(cursor, wordAfter(text, cursor));
    case "kill_to_end":
      return cut(cursor, lineEnd(text, cursor) === cursor ? after(text, cursor) : lineEnd(text, cursor));
    case "kill_to_start":
      return cut(lineStart(text, cursor), cursor);
    case "yank":
      return only(insert(state, state.killed, { typing: false }));
    case "undo":
      return undone(state);
    case "up":
    case "down":
      return vertical(state, name === "up" ? -1 : 1);
    case "search":
      return only({ ...state, completion: null, search: { query: "", found: state.history.length } });
    case "escape":
      return completion === null ? only(state, { kind: "escape" }) : only({ ...state, completion: null });
    case "interrupt":
      // The draft is cleared first; only an empty line passes the key on.
      if (text === "") return only(state, { kind: "interrupt" });
      return only({ ...emptied(state), undo: remembered(state, false).undo });
    case "end_of_input":
      return text === "" ? only(state, { kind: "leave" }) : cut(cursor, after(text, cursor), false);
    case "clear_screen":
      return only(state, { kind: "clear_screen" });
    case "edit_outside":
      return only({ ...state, completion: null }, { kind: "edit_outside", text: fullText(state) });
    case "suspend":
      return only(state, { kind: "suspend" });
    case "unfold":
      // A number alone names one; other text is a draft.
      return /^\d{1,4}$/.test(text)
        ? only(emptied(state), { kind: "unfold", number: Number(text) })
        : only(state, { kind: "unfold", number: null });
  }
}

/** The editor with another text; undo restores its own. */
export function replaceText(state: EditorState, given: string): EditorState {
  const text = printable(given);
  return { ...state, ...remembered(state, false), text, cursor: text.length, completion: null, search: null };
}

function emptied(state: EditorState): EditorState {
  return { ...createEditor(state.history), killed: state.killed, pastes: state.pastes };
}

function enter(state: EditorState): Edited {
  const { completion, text, cursor } = state;
  const chosen = completion?.items[completion.selected];
  if (completion !== null && chosen !== undefined && text.slice(completion.start, cursor) !== chosen.text) {
    const done = accepted(state, completion);
    // A marked command is chosen and run; a path is a part of the message.
    return chosen.text.startsWith("/") ? enter({ ...done.state, completion: null }) : done;
  }
  // A backslash at the end asks for one more line, where no other key makes one.
  if (cursor === text.length && text.endsWith("\\")) {
    return only(insert(remove(state, cursor - 1, { end: cursor, kill: false }), "\n", { typing: false }));
  }
  const full = fullText(state);
  if (full.trim() === "") return only(state);
  const known = state.history.at(-1) === full;
  const history = known ? state.history : [...state.history, full];
  return only({ ...createEditor(history), killed: state.killed }, { kind: "submit", text: full });
}

function accepted(state: EditorState, completion: Completion): Edited {
  const done = accept(state, completion);
  return completing({ ...state, ...remembered(state, false), ...done, completion: null });
}

function undone(state: EditorState): Edited {
  const last = state.undo.at(-1);
  if (last === undefined) return only(state);
  return only({ ...state, ...last, undo: state.undo.slice(0, -1), typing: false, completion: null });
}

function vertical(state: EditorState, direction: -1 | 1): Edited {
  if (state.completion !== null) return only({ ...state, completion: step(state.completion, direction) });
  const cursor = verticalMove(state.text, state.cursor, direction);
  if (cursor !== null) return moved(state, cursor);
  const place = state.place + direction;
  if (place < 0 || place > state.history.length) return only(state);
  const draft = state.place === state.history.length ? state.text : state.draft;
  const text = place === state.history.length ? draft : printable(state.history[place] ?? "");
  return only({ ...state, text, cursor: text.length, place, draft, typing: false });
}

/** The newest entry before `end` that holds the words, whatever their case; -1 for none. */
function find(history: readonly string[], query: string, end: number): number {
  const wanted = query.toLowerCase();
  return history.slice(0, end).findLastIndex((entry) => entry.toLowerCase().includes(wanted));
}

function searching(state: EditorState, search: HistorySearch, key: Key): Edited {
  const look = (query: string, end: number) =>
    only({ ...state, search: { query, found: query === "" ? state.history.length : find(state.history, query, end) } });
  if (key.kind === "text") return look(search.query + key.text, state.history.length);
  if (key.kind === "paste") return look(search.query + (key.text.split("\n", 1)[0] ?? ""), state.history.length);
  const text = printable(state.history[search.found] ?? state.text);
  const taken: EditorState = { ...state, search: null, text, cursor: text.length };
  switch (key.name) {
    case "backspace":
      return look(search.query.slice(0, before(search.query, search.query.length)), state.history.length);
    case "search": {
      const older = find(state.history, search.query, Math.max(0, search.found));
      return older < 0 ? only(state) : only({ ...state, search: { ...search, found: older } });
    }
    case "interrupt":
    case "escape":
      return only({ ...state, search: null });
    case "enter":
    case "tab":
      return only(taken);
    default:
      return named(taken, key.name);
  }
}
