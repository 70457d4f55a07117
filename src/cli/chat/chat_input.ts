/** The input of the chat: keys go to the line that is typed, a list to choose from, or a question. */
import type { Io } from "../../platform/io.ts";
import { type Candidate, type CompletionQuery, offer } from "../../terminal/editor_text.ts";
import { viewEditor } from "../../terminal/editor_view.ts";
import { type Key, KeyDecoder } from "../../terminal/keys.ts";
import { createEditor, edit, type EditorEffect, type EditorState } from "../../terminal/line_editor.ts";
import { type Choice, createPicker, pick, type PickerState, viewPicker } from "../../terminal/picker.ts";
import type { LiveRows } from "../../terminal/screen.ts";
import { row } from "../../terminal/style.ts";
import { fit } from "../../terminal/table.ts";

/** An escape that nothing follows within this time was the key. Milliseconds. */
const ESCAPE_MS = 50;
/** A question takes no key that was likely meant for the line that was being typed. Milliseconds. */
const HASTY_MS = 400;
/** Rows of a list at most. */
const PICKER_ROWS = 14;

/** The part that takes the keys. */
type Taking =
  | { kind: "line" }
  | { kind: "pick"; state: PickerState; guarded: boolean; since: number; done(index: number | null): void }
  | { kind: "ask"; title: string; editor: EditorState; done(text: string | null): void };

/** Who is told of what keys mean. */
export interface InputOwner {
  /** Whether there is something that control-C stops; then it does not clear the line. */
  running(): boolean;
  interrupt(): void;
  effect(effect: EditorEffect): void;
  /** Keys were taken: draw. */
  drawn(): void;
}

/** The input of one chat. */
export class ChatInput {
  readonly #io: Pick<Io, "stdin" | "clock">;
  readonly #owner: InputOwner;
  #editor: EditorState = createEditor();
  #taking: Taking = { kind: "line" };
  #lastTyped = -Infinity;

  constructor(io: Pick<Io, "stdin" | "clock">, owner: InputOwner) {
    this.#io = io;
    this.#owner = owner;
  }

  /** Starts over with what was typed in earlier chats. */
  remember(history: readonly string[]): void {
    this.#editor = createEditor(history);
  }

  /** Puts texts that were sent before what is being typed. */
  takeBack(texts: readonly string[]): void {
    const text = [...texts, this.#editor.text].filter((part) => part !== "").join("\n");
    this.#editor = { ...this.#editor, text, cursor: text.length, completion: null };
  }

  complete(query: CompletionQuery, items: readonly Candidate[]): void {
    this.#editor = { ...this.#editor, completion: offer(this.#editor, query, items) };
  }

  /** `guarded`: letters typed in haste do not choose. */
  pick(question: { title: string; choices: readonly Choice[]; guarded?: boolean }): Promise<number | null> {
    const { promise, resolve } = Promise.withResolvers<number | null>();
    this.#taking = {
      kind: "pick",
      state: createPicker(question.title, question.choices),
      guarded: question.guarded === true,
      since: this.#io.clock.monotonic(),
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

  /** Takes keys until the input ends. */
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
      if (bytes !== "late") reading = stdin.read();
      for (const key of keys) this.#key(key);
      if (keys.length > 0) this.#owner.drawn();
    }
  }

  /** Its rows in at most `height`. */
  rows({ width, height }: { width: number; height: number }): LiveRows {
    const taking = this.#taking;
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

  #key(key: Key): void {
    const taking = this.#taking;
    const now = this.#io.clock.monotonic();
    if (taking.kind === "pick" && !this.#isHasty(taking, { key, now })) return this.#pickKey(taking, key);
    if (taking.kind === "ask") return this.#askKey(taking, key);
    this.#lastTyped = now;
    const isInterrupt = key.kind === "named" && key.name === "interrupt";
    if (isInterrupt && (this.#owner.running() || this.#editor.text === "")) return this.#owner.interrupt();
    const edited = edit(this.#editor, key);
    this.#editor = edited.state;
    for (const effect of edited.effects) this.#owner.effect(effect);
  }

  /** Whether a key that meets a question was meant for the line: it came too soon, or in the middle of typing. */
  #isHasty({ guarded, since }: Taking & { kind: "pick" }, { key, now }: { key: Key; now: number }): boolean {
    if (!guarded) return false;
    if (key.kind === "named" && key.name !== "enter") return false;
    return now - this.#lastTyped < HASTY_MS || now - since < HASTY_MS / 2;
  }

  #pickKey(taking: Taking & { kind: "pick" }, key: Key): void {
    const picked = pick(taking.state, key);
    if (picked.kind === "open") {
      // Whoever moves in the list looks at it.
      this.#taking = { ...taking, state: picked.state, guarded: false };
      return;
    }
    this.#taking = { kind: "line" };
    taking.done(picked.index);
    if (key.kind === "named" && key.name === "interrupt" && this.#owner.running()) this.#owner.interrupt();
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
