/** The chat on a terminal: keys in, rows out, one thing at a time, and what is typed meanwhile waits. */
import { sessionLabel } from "../../agent/session.ts";
import { AgentcliError, asAgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import type { StopSignal } from "../../platform/io.ts";
import { clean } from "../../terminal/clean.ts";
import { wantsColour } from "../../terminal/colour.ts";
import type { EditorEffect } from "../../terminal/line_editor.ts";
import type { Choice } from "../../terminal/picker.ts";
import { createScreen, type LiveRows, type Screen } from "../../terminal/screen.ts";
import { type Row, row, rowWidth, span } from "../../terminal/style.ts";
import { fit } from "../../terminal/table.ts";
import { wrap } from "../../terminal/wrap.ts";
import { createTurnQueue } from "../protocol/turn_queue.ts";
import type { Context } from "../verb.ts";
import { ChatInput } from "./chat_input.ts";
import { type ChatOptions, ChatSession, selectorOf } from "./chat_session.ts";
import { commandSource } from "./command_source.ts";
import { runCommand } from "./commands.ts";
import { candidatesFor } from "./completion.ts";
import { textRows } from "./event_rows.ts";
import { addToHistory, readHistory } from "./history.ts";
import { askInChat } from "./permission.ts";
import { statusRow } from "./status.ts";
import { TurnView } from "./turn_view.ts";
import { readTyped } from "./typed_line.ts";
import type { ChatView } from "./view.ts";

/** Drawing again is put off by this, so that a fast model costs no more than thirty drawings a second. Milliseconds. */
const FRAME_MS = 33;
/** Time within which a second Ctrl-C leaves. Milliseconds. */
const LEAVE_MS = 3000;
/** Longest echo of what was sent, in rows. */
const ECHO_ROWS = 12;
const ECHO_CHARACTERS = 4000;

/** Runs the chat until it is left; gives the exit code. The terminal is set back whatever happens. */
export async function chatOnTerminal(
  options: ChatOptions,
  context: Context,
  { first }: { first: string | undefined },
): Promise<number> {
  const chat = new TerminalChat(options, context);
  return await chat.run(first);
}

class TerminalChat implements ChatView {
  readonly #context: Context;
  readonly #screen: Screen;
  readonly #chat: ChatSession;
  readonly #turnView: TurnView;
  readonly #input: ChatInput;
  readonly #queue = createTurnQueue<string>();
  #running: AbortController | null = null;
  #leaving = false;
  #exitCode = 0;
  #hint = "";
  #lastInterrupt = -Infinity;
  #frame: ReturnType<typeof setTimeout> | null = null;
  #forced = Promise.withResolvers<number>();

  constructor(options: ChatOptions, context: Context) {
    const { io, globals } = context;
    const colour = wantsColour(io, globals);
    this.#screen = createScreen(io.stdout, { colour });
    // Whatever the session writes on stderr goes above the line that is typed, not through it.
    const stderr = {
      isTerminal: false,
      columns: () => this.width(),
      write: (text: string) => Promise.resolve(this.#notice(text.trimEnd())),
    };
    this.#context = { ...context, io: { ...io, stderr } };
    this.#chat = new ChatSession(options, this.#context, { notice: (text) => this.#notice(text) });
    this.#input = new ChatInput(io, {
      running: () => this.#running !== null,
      interrupt: () => this.#interrupt(),
      effect: (effect) => this.#effect(effect),
      drawn: () => this.#draw(),
    });
    this.#turnView = new TurnView({
      width: () => this.width(),
      colour,
      clock: io.clock,
      print: (rows) => this.say(rows),
      changed: () => this.#changed(),
    });
  }

  async run(first: string | undefined): Promise<number> {
    const { io } = this.#context;
    const history = await openHome(io).then(readHistory).catch(() => []);
    this.#input.remember(history);
    const removeSignal = io.onSignal((signal) => this.#signal(signal));
    const removeResize = io.onResize?.(() => this.#screen.resized());
    io.stdin.setRaw(true);
    // Pastes come in brackets, so that their line ends send nothing.
    await io.stdout.write("\x1b[?2004h");
    const ticking = setInterval(() => this.#running !== null ? this.#changed() : undefined, 1000);
    try {
      this.#input.readKeys().catch((error) => this.#fail(error)).finally(() => this.leave());
      return await Promise.race([this.#work(first), this.#forced.promise]);
    } finally {
      clearInterval(ticking);
      if (this.#frame !== null) clearTimeout(this.#frame);
      removeSignal();
      removeResize?.();
      this.#screen.live({ rows: [], cursor: null });
      await this.#screen.settled().catch(() => {});
      io.stdin.setRaw(false);
      await io.stdout.write("\x1b[?2004l\x1b[?25h").catch(() => {});
      await this.#sayGoodbye();
      await this.#chat.close();
    }
  }

  width(): number {
    return this.#screen.width();
  }

  say(rows: readonly Row[]): void {
    const width = this.width();
    const fitting = rows.flatMap((line) => rowWidth(line) > width ? wrap(line, { width }) : [line]);
    if (fitting.length > 0) this.#screen.print(fitting, this.#live());
  }

  pick(question: { title: string; choices: readonly Choice[]; guarded?: boolean }): Promise<number | null> {
    const picking = this.#input.pick(question);
    this.#turnView.end();
    return picking;
  }

  ask(title: string): Promise<string | null> {
    const asking = this.#input.ask(title);
    this.#changed();
    return asking;
  }

  async during<T>(label: string, work: Promise<T>): Promise<T> {
    this.#turnView.begin(label);
    try {
      return await work;
    } finally {
      this.#turnView.end();
    }
  }

  leave(): void {
    this.#leaving = true;
    this.#queue.drain();
    this.#queue.end();
    this.#running?.abort(stopped());
    this.#input.answerNothing();
  }

  clear(): void {
    this.#screen.clear();
  }

  #now(): number {
    return this.#context.io.clock.monotonic();
  }

  async #work(first: string | undefined): Promise<number> {
    this.#changed();
    await this.#perform(() => this.#begin());
    if (first !== undefined && first.trim() !== "") await this.#queue.push(first, first.length);
    for (;;) {
      const text = this.#leaving ? null : await this.#queue.next();
      if (text === null) return this.#exitCode;
      await this.#perform((signal) => this.#take(text, signal));
    }
  }

  /** One thing at a time, which control-C stops; what goes wrong is told. */
  async #perform(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    this.#running = controller;
    try {
      await work(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) this.#fail(error);
      this.#turnView.finish(null);
    } finally {
      this.#running = null;
      this.#input.answerNothing();
      this.#changed();
    }
  }

  async #begin(): Promise<void> {
    try {
      await this.during("connecting", this.#chat.ready());
    } catch (error) {
      const { code } = asAgentcliError(error);
      if (code !== "no_provider" && code !== "no_model") throw error;
      const { chooseFirstModel } = await import("./first_start.ts");
      const selector = await chooseFirstModel(this, this.#context);
      if (selector === null) return this.leave();
      await this.during("connecting", this.#chat.setModel(selector));
    }
    const prepared = this.#chat.prepared;
    if (prepared === null) return;
    const place = prepared.session.model.local ? "local" : "remote";
    const held = prepared.session.items.length;
    this.say([
      [span(clean(selectorOf(prepared)), "bold"), span(`  ${place}${held === 0 ? "" : `, ${held} items`}`, "dim")],
      row(fit("/help for commands, @ for paths, Ctrl-C stops, Ctrl-D leaves", this.width()), "dim"),
      [],
    ]);
  }

  async #take(text: string, signal: AbortSignal): Promise<void> {
    // Of a large paste no more is prepared than is shown.
    const lines = clean(text.slice(0, ECHO_CHARACTERS), { multiline: true }).replaceAll("\t", "    ").split("\n");
    const echoed = lines.slice(0, ECHO_ROWS).flatMap((line, index) =>
      wrap([span(line, "bold")], {
        width: this.width(),
        first: [span(index === 0 ? "> " : "  ", "accent")],
        indent: [span("  ")],
      })
    );
    const isCut = lines.length > ECHO_ROWS || echoed.length > ECHO_ROWS || text.length > ECHO_CHARACTERS;
    const rest = row(
      fit(`  ... ${text.split("\n").length} lines, ${text.length} characters in all`, this.width()),
      "dim",
    );
    this.say(isCut ? [...echoed.slice(0, ECHO_ROWS), rest] : echoed);
    const typed = await readTyped(text, this.#chat);
    if (typed.kind === "command") {
      const emit = (event: Parameters<TurnView["event"]>[0]) => this.#turnView.event(event);
      await runCommand(typed, { chat: this.#chat, view: this, context: this.#context, signal, emit });
      if (!this.#leaving) this.#turnView.finish(null);
      return;
    }
    this.say(typed.from === null ? [[]] : [row(fit(`  sent: ${clean(typed.from)}`, this.width()), "dim"), []]);
    const result = await this.#chat.turn(typed.text, {
      signal,
      label: typed.label,
      mentions: typed.from === null,
      emit: (event) => {
        this.#turnView.event(event);
        // A terminal that takes no more slows the turn.
        return event.kind === "delta" ? undefined : this.#screen.settled();
      },
      ask: askInChat(this.#chat, this, this.#context.io),
    });
    this.#turnView.finish(result);
  }

  #fail(error: unknown): void {
    const { message, hint } = asAgentcliError(error);
    const width = this.width();
    this.say([
      ...textRows(message, { width, style: "error" }),
      ...hint === undefined ? [] : textRows(hint, { width, style: "dim" }),
    ]);
  }

  #notice(text: string): void {
    if (this.#context.globals.quiet || text === "") return;
    this.say(textRows(text, { width: this.width(), style: "dim" }));
  }

  #effect(effect: EditorEffect): void {
    this.#hint = "";
    switch (effect.kind) {
      case "submit":
        void this.#remember(effect.text);
        void this.#queue.push(effect.text, effect.text.length);
        return;
      case "complete":
        void this.#complete(effect.query);
        return;
      case "leave":
        return this.leave();
      case "interrupt":
        return this.#interrupt();
      case "escape":
        if (this.#running !== null) this.#interrupt();
        return;
      case "clear_screen":
        return this.clear();
      case "open_last":
        return this.say(this.#turnView.opened());
      case "back_tab": {
        const modes = ["default", "acceptEdits", "plan"] as const;
        const next = modes[(modes.findIndex((mode) => mode === this.#chat.mode) + 1) % modes.length] ?? "default";
        this.#chat.setMode(next);
        return;
      }
    }
  }

  /** The first stops what runs; one more soon after leaves. */
  #interrupt(): void {
    const now = this.#now();
    const again = now - this.#lastInterrupt < LEAVE_MS;
    this.#lastInterrupt = now;
    if (again) {
      if (this.#running !== null) {
        this.#exitCode = 130;
        this.#context.io.clock.sleep(1500).then(() => this.#forced.resolve(130));
      }
      return this.leave();
    }
    this.#hint = "Ctrl-C again leaves";
    if (this.#running === null) return;
    this.#running.abort(stopped());
    this.#input.answerNothing();
    // What waited was meant for after this turn: it goes back to be looked at.
    const waiting = this.#queue.drain();
    if (waiting.length > 0) this.#input.takeBack(waiting);
  }

  #signal(signal: StopSignal): void {
    if (signal === "SIGINT") {
      this.#interrupt();
      return this.#draw();
    }
    this.#exitCode = 143;
    this.leave();
    this.#context.io.clock.sleep(1500).then(() => this.#forced.resolve(143));
  }

  async #complete(query: Parameters<typeof candidatesFor>[0]): Promise<void> {
    const items = await candidatesFor(query, commandSource(this.#chat.prepared)).catch(() => []);
    this.#input.complete(query, items);
    this.#draw();
  }

  /** Keeps what was typed for later chats, unless it may hold something protected. */
  async #remember(text: string): Promise<void> {
    try {
      const session = this.#chat.prepared?.session;
      if (session === undefined || sessionLabel(session) !== "open") return;
      const { provider, local } = session.model;
      const found = await session.net?.checkPrompt({ text, images: [] }, { provider, local, allowed: false });
      if (found === "protected") return;
      await addToHistory(await openHome(this.#context.io), text);
    } catch {
      // A history that cannot be written, or a text that may not leave: nothing is kept.
    }
  }

  #changed(): void {
    if (this.#frame !== null) return;
    this.#frame = setTimeout(() => this.#draw(), FRAME_MS);
  }

  #draw(): void {
    if (this.#frame !== null) clearTimeout(this.#frame);
    this.#frame = null;
    this.#screen.live(this.#live());
  }

  /** What is drawn again: the open block, what is done, what waits, the line, and the status. */
  #live(): LiveRows {
    const width = this.width();
    const height = this.#screen.height() - 1;
    const status = statusRow({
      session: this.#chat.prepared?.session ?? null,
      mode: this.#chat.mode,
      rate: this.#turnView.rate,
    }, width);
    const line = this.#input.rows({ width, height });
    const activity = this.#activityRows(width).slice(0, Math.max(0, height - line.rows.length - 1));
    const room = height - line.rows.length - activity.length - 1;
    const open = room > 0 ? this.#turnView.openRows().slice(-room) : [];
    const gap: Row[] = room - open.length > 6 && open.length > 0 ? [[]] : [];
    const above = [...open, ...gap, ...activity];
    const cursor = line.cursor === null ? null : { ...line.cursor, row: line.cursor.row + above.length };
    return { rows: [...above, ...line.rows, status], cursor };
  }

  #activityRows(width: number): Row[] {
    const activity = this.#turnView.activityRow(width);
    const queued = this.#queue.waiting().map((text) => row(fit(`waits: ${clean(text)}`, width), "dim"));
    const hint = this.#hint === "" ? [] : [row(fit(this.#hint, width), "warning")];
    return [...activity === null ? [] : [activity], ...queued.slice(0, 3), ...hint];
  }

  async #sayGoodbye(): Promise<void> {
    const prepared = this.#chat.prepared;
    if (prepared === null || prepared.transcriptFile === null || prepared.session.items.length === 0) return;
    const id = prepared.session.id.slice(0, 8);
    await this.#context.io.stdout.write(`go on with: agentcli chat --resume ${id}\n`).catch(() => {});
  }
}

function stopped(): AgentcliError {
  return new AgentcliError("interrupted", "interrupted");
}
