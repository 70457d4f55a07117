/** The input of the chat: keys go to the input line, a list to choose from, or a question. */
import type { Io } from "../../../platform/io.ts";
import { type Candidate, type CompletionQuery, offer, queryAt } from "../../../terminal/editor_text.ts";
import { viewEditor } from "../../../terminal/editor_view.ts";
import { type Key, KeyDecoder, type KeyName } from "../../../terminal/keys.ts";
import { createEditor, edit, type EditorEffect, type EditorState, replaceText } from "../../../terminal/line_editor.ts";
import { createPicker, pick, type PickerState, viewPicker } from "../../../terminal/picker.ts";
import type { LiveRows } from "../../../terminal/screen.ts";
import { asAgentcliError } from "../../../errors.ts";
import type { PickQuestion } from "../begin.ts";
import { row } from "../../../terminal/style.ts";
import { fit } from "../../../terminal/table.ts";
import {
  answer,
  openQuestion,
  type Question,
  type QuestionAnswer,
  type QuestionRoom,
  type QuestionState,
  type QuestionStep,
  release,
  scroll,
  setAside,
  viewQuestion,
} from "../questions/question.ts";

/** An escape that nothing follows within this time is the key itself. Milliseconds. */
const ESCAPE_MS = 50;
/** A question takes no letter within this time, since it was likely meant for the input line. Milliseconds. */
const HASTY_MS = 400;
/** A letter that another key follows within this time began a word and is not an answer. Milliseconds. */
const HELD_MS = 250;
/** Rows of a list at most. */
const PICKER_ROWS = 14;

type Taking =
  | { kind: "line" }
  | { kind: "pick"; state: PickerState; onSave: PickQuestion["onSave"]; done(index: number | null): void }
  | QuestionTaking
  | { kind: "ask"; title: string; editor: EditorState; done(text: string | null): void };

interface QuestionTaking {
  kind: "question";
  state: QuestionState;
  since: number;
  /** The line was begun before the question, so it is no answer. */
  drafted: boolean;
  done(answer: QuestionAnswer | null): void;
}

/** Words that people type as an answer; they do not count, since a line says what to do instead. */
const SAID_YES = /^\s*(?:y|yes|ok|okay|sure|allow|always)\s*[.!]?\s*$/i;

/** Lines for the chat itself, and for the shell. */
const COMMAND = /^\/|^!|^(?:exit|quit)\s*$/;

const ENTER: Key = { kind: "named", name: "enter" };

function isNamed(key: Key, name: KeyName): boolean {
  return key.kind === "named" && key.name === name;
}

/** Whether a key sends a text after the turn: Alt-Enter, and Tab where it has nothing to complete. */
function queues(key: Key, { text, cursor, completion, search }: EditorState): boolean {
  if (text.trim() === "" || search !== null) return false;
  return isNamed(key, "alt_enter") || isNamed(key, "tab") && completion === null && queryAt(text, cursor) === null;
}

/** Callbacks for the meanings of keys. */
interface InputOwner {
  /** Whether there is something that control-C stops; then it does not clear the line. */
  running(): boolean;
  interrupt(): void;
  effect(effect: EditorEffect): void;
  /** A hint about keys, until the next key has an effect. */
  hint(text: string): void;
  /** Keys were taken: draw. */
  drawn(): void;
  /** Takes back the newest waiting message; null for none. */
  takeLast?(): string | null;
  /** Another program has the terminal until this settles; null for none. */
  away?(): Promise<void> | null;
  /** The terminal answered a status request. */
  ready?(): void;
}

/** The input of one chat. */
export class ChatInput {
  readonly #io: Pick<Io, "stdin" | "clock">;
  readonly #owner: InputOwner;
  #editor: EditorState = createEditor();
  #taking: Taking = { kind: "line" };
  #lastTyped = -Infinity;
  /** Set at the last drawing: how far a question scrolls. */
  #room: QuestionRoom = { width: 80, height: 20 };

  constructor(io: Pick<Io, "stdin" | "clock">, owner: InputOwner) {
    this.#io = io;
    this.#owner = owner;
  }

  /** Starts over with what was typed in earlier chats. */
  remember(history: readonly string[]): void {
    this.#editor = createEditor(history);
  }

  get isEmpty(): boolean {
    return this.#editor.text === "";
  }

  /** Puts texts that were sent before what is being typed. */
  takeBack(texts: readonly string[]): void {
    const text = [...texts, this.#editor.text].filter((part) => part !== "").join("\n");
    this.#editor = { ...this.#editor, text, cursor: text.length, completion: null };
  }

  replace(text: string): void {
    this.#editor = replaceText(this.#editor, text);
  }

  complete(query: CompletionQuery, items: readonly Candidate[]): void {
    this.#editor = { ...this.#editor, completion: offer(this.#editor, query, items) };
  }

  pick({ title, choices, onSave }: PickQuestion): Promise<number | null> {
    const { promise, resolve } = Promise.withResolvers<number | null>();
    this.#taking = { kind: "pick", state: createPicker(title, choices), onSave, done: resolve };
    return promise;
  }

  /** Asks beside the line, which keeps its keys while something is typed there. */
  question(question: Question): Promise<QuestionAnswer | null> {
    const { promise, resolve } = Promise.withResolvers<QuestionAnswer | null>();
    this.#taking = {
      kind: "question",
      state: openQuestion(question),
      since: this.#io.clock.monotonic(),
      drafted: this.#editor.text !== "",
      done: resolve,
    };
    return promise;
  }

  ask(title: string): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string | null>();
    this.#taking = { kind: "ask", title, editor: createEditor(), done: resolve };
    return promise;
  }

  /** Whoever waits for an answer gets none. */
  answerNothing(): void {
    const taking = this.#taking;
    this.#taking = { kind: "line" };
    if (taking.kind !== "line") taking.done(null);
  }

  async readKeys(): Promise<void> {
    const { stdin, clock } = this.#io;
    const decoder = new KeyDecoder();
    let reading = stdin.read();
    for (;;) {
      const bytes = decoder.waiting
        ? await Promise.race([reading, clock.sleep(ESCAPE_MS).then(() => "late" as const)])
        : await reading;
      if (bytes === null) return;
      const keys = bytes === "late" ? decoder.flush() : decoder.push(bytes);
      await this.#takeKeys(keys);
      if (keys.length > 0) this.#owner.drawn();
      // No read may wait while another program has the terminal: it would take the first key from it.
      if (bytes !== "late") reading = stdin.read();
    }
  }

  /** Takes keys that came together, until another program has the terminal, which cannot get what was typed ahead. */
  async #takeKeys(keys: readonly Key[]): Promise<void> {
    for (const [at, key] of keys.entries()) {
      this.#key(key);
      const away = this.#owner.away?.() ?? null;
      if (away === null) continue;
      await away;
      // Letters are not lost, but nothing is sent that was meant for the other program.
      for (const ahead of keys.slice(at + 1)) if (ahead.kind !== "named") this.#lineKey(ahead);
      return;
    }
  }

  rows({ width, height }: { width: number; height: number }): LiveRows {
    const taking = this.#taking;
    if (taking.kind === "question") return this.#questionRows(taking, { width, height });
    if (taking.kind === "pick") {
      const most = Math.max(1, Math.min(height - 1, PICKER_ROWS));
      return { rows: viewPicker(taking.state, { width, height: most }), cursor: null };
    }
    const small = height < 8;
    const options = { width, maxRows: small ? 2 : Math.max(3, height >> 1), offers: small ? 1 : 8 };
    const view = viewEditor(taking.kind === "ask" ? taking.editor : this.#editor, options);
    if (taking.kind !== "ask") return view;
    return {
      rows: [row(fit(taking.title, width), "bold"), ...view.rows],
      cursor: { ...view.cursor, row: view.cursor.row + 1 },
    };
  }

  #questionRows({ state, drafted }: QuestionTaking, { width, height }: QuestionRoom): LiveRows {
    const small = height < 12;
    const line = viewEditor(this.#editor, {
      width,
      maxRows: small ? 1 : Math.max(3, height >> 2),
      offers: small ? 1 : 4,
    });
    this.#room = { width, height: Math.max(1, height - line.rows.length - 1) };
    const { text } = this.#editor;
    const typing = text === ""
      ? null
      : drafted || COMMAND.test(text)
      ? "answer, or finish typing"
      : "Enter: no, this instead";
    const rows = viewQuestion(state, { ...this.#room, typing });
    return { rows: [...rows, ...line.rows], cursor: { ...line.cursor, row: line.cursor.row + rows.length } };
  }

  #key(key: Key): void {
    if (isNamed(key, "ready")) return this.#owner.ready?.();
    const taking = this.#taking;
    if (taking.kind === "pick") return this.#pickKey(taking, key);
    if (taking.kind === "ask") return this.#askKey(taking, key);
    if (taking.kind === "question" && !this.#isHasty(taking, key)) return this.#questionKey(taking, key);
    this.#lineKey(key);
  }

  #lineKey(key: Key): void {
    this.#lastTyped = this.#io.clock.monotonic();
    if (isNamed(key, "interrupt") && (this.#owner.running() || this.#editor.text === "")) {
      return this.#owner.interrupt();
    }
    if (key.kind === "text" && key.text === "?" && this.#editor.text === "" && this.#taking.kind === "line") {
      return this.#owner.effect({ kind: "submit", text: "/help keys" });
    }
    if (isNamed(key, "up") && this.#editor.text === "") {
      const waiting = this.#owner.takeLast?.() ?? null;
      if (waiting !== null) return this.takeBack([waiting]);
    }
    const isForLater = this.#owner.running() && queues(key, this.#editor);
    const edited = isForLater ? edit({ ...this.#editor, completion: null }, ENTER) : edit(this.#editor, key);
    this.#editor = edited.state;
    const taking = this.#taking;
    for (const given of edited.effects) {
      const effect = isForLater && given.kind === "submit" ? { ...given, isForLater } as const : given;
      const mayAnswer = taking.kind === "question" && !isForLater;
      if (mayAnswer && effect.kind === "submit" && this.#answersWith(taking, effect.text)) continue;
      this.#owner.effect(effect);
    }
    if (taking.kind === "question" && this.#taking === taking) {
      const isEmpty = this.#editor.text === "";
      const state = isEmpty ? taking.state : setAside(taking.state);
      this.#taking = { ...taking, state, drafted: taking.drafted && !isEmpty };
    }
  }

  /** Whether a letter during a question was meant for the line: it came too soon, or in the middle of typing. */
  #isHasty({ since, state }: QuestionTaking, key: Key): boolean {
    if (this.#editor.text !== "" || state.held !== null) return false;
    if (key.kind === "named") return false;
    const now = this.#io.clock.monotonic();
    // Whoever has moved in it is looking at it.
    const isSeen = state.selected !== null || state.confirming !== null || state.offset > 0;
    return !isSeen && now - since < HASTY_MS / 2 || now - this.#lastTyped < HASTY_MS;
  }

  #questionKey(taking: QuestionTaking, key: Key): void {
    const { state } = taking;
    if (this.#editor.text === "") return this.#step(taking, answer(state, key, this.#room), key);
    if (key.kind !== "named" || (key.name !== "page_up" && key.name !== "page_down")) return this.#lineKey(key);
    this.#taking = { ...taking, state: scroll(state, key.name, this.#room) ?? state };
  }

  #step(taking: QuestionTaking, step: QuestionStep, key: Key): void {
    if (step.kind === "answered") {
      this.#taking = { kind: "line" };
      return taking.done({ kind: "key", key: step.key });
    }
    this.#taking = { ...taking, state: step.state };
    if (step.kind === "open" && step.state.held !== null) return this.#hold(step.state.held);
    if (step.kind === "passed") this.#lineKey(key);
    if (step.kind !== "line") return;
    this.#lineKey({ kind: "text", text: step.text });
    // A letter that was held and the key after it were meant for the line.
    if (key.kind === "named") this.#lineKey(key);
  }

  /** Takes the letter as the answer when nothing follows. */
  #hold(held: QuestionState["held"]): void {
    this.#io.clock.sleep(HELD_MS).then(() => {
      const taking = this.#taking;
      if (taking.kind !== "question" || taking.state.held !== held) return;
      this.#step(taking, release(taking.state), { kind: "text", text: "" });
      this.#owner.drawn();
    });
  }

  /** Whether what was typed goes to the model in place of the call. */
  #answersWith(taking: QuestionTaking, text: string): boolean {
    if (taking.drafted || COMMAND.test(text)) return false;
    if (SAID_YES.test(text)) {
      this.#owner.hint("an answer is one letter on the empty line");
      return true;
    }
    this.#taking = { kind: "line" };
    taking.done({ kind: "words", text: text.trim() });
    return true;
  }

  #pickKey(taking: Taking & { kind: "pick" }, key: Key): void {
    const picked = pick(taking.state, key);
    if (picked.kind === "saved") return this.#save(taking, picked.index);
    if (picked.kind === "open") {
      this.#taking = { ...taking, state: picked.state };
      return;
    }
    this.#taking = { kind: "line" };
    taking.done(picked.index);
    if (key.kind === "named" && key.name === "interrupt" && this.#owner.running()) this.#owner.interrupt();
  }

  #save({ onSave }: Taking & { kind: "pick" }, index: number): void {
    const report = (text: string) => {
      this.#owner.hint(text);
      this.#owner.drawn();
    };
    onSave?.(index).then(report, (error) => report(asAgentcliError(error).message));
  }

  #askKey(taking: Taking & { kind: "ask" }, key: Key): void {
    const edited = edit(taking.editor, key);
    this.#taking = { ...taking, editor: edited.state };
    for (const effect of edited.effects) {
      if (effect.kind !== "submit" && effect.kind !== "escape" && effect.kind !== "interrupt") continue;
      this.#taking = { kind: "line" };
      taking.done(effect.kind === "submit" ? effect.text : null);
      return;
    }
  }
}
