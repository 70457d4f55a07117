/** The chat on a terminal: keys go to the input and the work, what comes of them goes to the screen. */
import { estimateOf } from "../../agent/chat_request.ts";
import { openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { clean } from "../../terminal/clean.ts";
import { type Row, row, rowWidth, wantsColor } from "../../terminal/style.ts";
import type { EditorEffect } from "../../terminal/line_editor.ts";
import { createScreen, type Screen } from "../../terminal/screen.ts";
import { fit } from "../../terminal/table.ts";
import { wrap } from "../../terminal/wrap.ts";
import type { Context } from "../command.ts";
import { asksForSession, beginChat, type ChatOptions, type ChatView, type PickQuestion } from "./begin.ts";
import { placeOf } from "./call_view.ts";
import { Bell, ring } from "./bell.ts";
import { ChatInput } from "./chat_input.ts";
import { LentTerminal } from "./lent_terminal.ts";
import { AgentSession } from "../../runtime/agent_session.ts";
import { hostOf } from "../output.ts";
import { elicitInChat } from "./elicit.ts";
import type { OpenSession } from "../../runtime/open_session.ts";
import type { QueuedMessage } from "../../runtime/prompts.ts";
import {
  commandSource,
  nextMode,
  promptOf,
  readBeside,
  readShell,
  readTyped,
  type TypedCommand,
  type TypedPrompt,
  type TypedShell,
} from "./typed_line.ts";
import { ChatWork } from "./chat_work.ts";
import { runLine } from "./commands.ts";
import { candidatesFor } from "./completion.ts";
import { echoRows, errorRows, farewell, textRows } from "./event_rows.ts";
import { firstScreen } from "./first_screen.ts";
import { createFrames, liveRows, statusRow } from "./live_rows.ts";
import { readHistory, rememberTyped } from "./history.ts";
import { askInChat } from "./permission.ts";
import type { Question, QuestionAnswer } from "./question.ts";
import { TurnView } from "./turn_view.ts";

/** From one count of seconds in the activity line to the next. Milliseconds. */
const TICK_MS = 1000;
/** Longest wait for the history when the chat is left: another chat may hold it. Milliseconds. */
const HISTORY_MS = 3000;
/** Two presses within this are one doing. Milliseconds. */
const TWICE_MS = 1000;

type Outside = typeof import("./outside.ts");

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
  readonly isTerminal = true;
  readonly send = (text: string): void => this.#work.add(this.#message(text));
  readonly #context: Context;
  readonly #screen: Screen;
  readonly #chat: AgentSession;
  readonly #turnView: TurnView;
  readonly #input: ChatInput;
  readonly #work: ChatWork;
  readonly #bell: Bell;
  readonly #lent: LentTerminal;
  readonly #frames = createFrames(() => this.#draw());
  readonly #choosesSession: boolean;
  #hint = "";
  #lastEscape = -Infinity;
  /** Settled when all that was typed is in the history. */
  #remembered: Promise<void> = Promise.resolve();

  constructor(options: ChatOptions, context: Context) {
    const { io, globals } = context;
    const color = wantsColor(io, globals);
    this.#choosesSession = asksForSession(options);
    this.#screen = createScreen(io.stdout, { color });
    this.#lent = new LentTerminal(io, this.#screen, {
      print: (rows) => this.print(rows),
      failed: (error) => this.#fail(error),
      returned: () => this.#frames.now(),
    });
    // Whatever the session writes on stderr goes above the line that is typed, not through it.
    const stderr = {
      isTerminal: false,
      columns: () => this.width(),
      write: (text: string) => Promise.resolve(this.#notice(text.trimEnd())),
    };
    this.#context = { ...context, io: { ...io, stderr } };
    const notice = (text: string) => this.#notice(text);
    this.#chat = new AgentSession(
      options,
      hostOf(this.#context, { notice, warn: notice, loading: undefined, elicit: elicitInChat(this) }),
    );
    this.#input = new ChatInput(io, {
      running: () => this.#work.isRunning,
      interrupt: () => this.#interrupt(),
      effect: (effect) => this.#effect(effect),
      hint: (text) => void (this.#hint = text),
      drawn: () => this.#frames.now(),
      takeLast: () => this.#work.takeLast(),
      away: () => this.#lent.until,
    });
    this.#work = new ChatWork(io.clock, this.#chat.queue, {
      failed: (error) => {
        if (error !== null) this.#fail(error);
        else if (!this.#work.isLeaving) this.print(textRows("stopped", { width: this.width(), style: "warning" }));
        this.#turnView.finish(null);
      },
      answerNothing: () => this.#input.answerNothing(),
      takeBack: (texts) => this.#input.takeBack(texts),
      idle: () => this.#frames.soon(),
    });
    this.#bell = new Bell(io.clock, (text) => void ring(io, text).catch(() => {}));
    this.#turnView = new TurnView({
      width: () => this.width(),
      color,
      clock: io.clock,
      promptTokens: () => {
        const session = this.#chat.opened?.session;
        return session === undefined ? null : estimateOf(session);
      },
      place: () => placeOf(this.#chat.opened),
      print: (rows) => this.print(rows),
      changed: () => this.#frames.soon(),
    });
  }

  async run(first: string | undefined): Promise<number> {
    const { io } = this.#context;
    const history = await openHome(io).then(readHistory).catch(() => []);
    this.#input.remember(history);
    const removeSignal = io.onSignal((signal) => {
      if (signal !== "SIGINT") return this.#work.terminate();
      this.#interrupt();
      this.#frames.now();
    });
    const removeResize = io.onResize?.(() => this.#frames.now());
    await this.#lent.take();
    const ticking = setInterval(() => this.#work.isRunning ? this.#frames.soon() : undefined, TICK_MS);
    try {
      this.#input.readKeys().catch((error) => this.#fail(error)).finally(() => this.leave());
      this.#frames.soon();
      return await this.#work.run((signal) => this.#begin(first, signal), (text, signal) => this.#take(text, signal));
    } finally {
      clearInterval(ticking);
      this.#frames.stop();
      removeSignal();
      removeResize?.();
      await this.#lent.giveBack();
      const { opened: prepared } = this.#chat;
      const last = prepared === null ? null : farewell(prepared, { chosen: this.#chat.isModelChosen });
      if (last !== null) await io.stdout.write(last).catch(() => {});
      await Promise.race([this.#remembered, io.clock.sleep(HISTORY_MS)]);
      await this.#chat.close();
    }
  }

  width(): number {
    return this.#screen.width();
  }

  print(rows: readonly Row[]): void {
    if (this.#lent.keep(rows)) return;
    const width = this.width();
    const fitting = rows.flatMap((line) => rowWidth(line) > width ? wrap(line, { width }) : [line]);
    if (fitting.length > 0) this.#screen.print(fitting, this.#live());
  }

  pick(question: PickQuestion): Promise<number | null> {
    const picking = this.#input.pick(question);
    this.#turnView.end();
    return picking;
  }

  /** All of a question is live: what comes of the call stays as one block with it. */
  async question(question: Question): Promise<QuestionAnswer | null> {
    const asking = this.#input.question(question);
    this.#turnView.folds.fold();
    const { call, body } = question;
    if (call === undefined) this.#turnView.begin("waiting for your answer");
    else this.#turnView.waitForAnswer({ ...call, body });
    void this.#bell.waitsFor(asking);
    const given = await asking;
    this.#turnView.end();
    return given;
  }

  ask(title: string): Promise<string | null> {
    const asking = this.#input.ask(title);
    this.#frames.soon();
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

  draft(text: string): void {
    this.#input.takeBack([text]);
  }

  async replay(opened: OpenSession): Promise<void> {
    const { replaySession, sessionHead } = await import("./replay.ts");
    const head = await sessionHead(opened, this.#context);
    const surface = {
      view: this.#turnView,
      print: (rows: readonly Row[]) => this.print(rows),
      width: () => this.width(),
    };
    replaySession(opened, surface, { isTerminal: true, head });
  }

  leave(): void {
    this.#work.leave();
  }

  clear(): void {
    this.#screen.clear();
  }

  async #begin(first: string | undefined, signal: AbortSignal): Promise<void> {
    try {
      const choosesSession = this.#choosesSession;
      await beginChat(this.#chat, { view: this, context: this.#context, canAsk: true, choosesSession, signal });
      const { opened: prepared } = this.#chat;
      if (prepared === null) return;
      this.print(firstScreen(prepared, { io: this.#context.io, width: this.width() }));
      if (prepared.session.items.length > 0) await this.replay(prepared);
    } finally {
      if (first !== undefined && first.trim() !== "") this.send(first);
    }
  }

  async #take(text: string, signal: AbortSignal): Promise<void> {
    this.print(echoRows(text, this.width()));
    const typed = await readTyped(text, this.#chat);
    if (typed.kind === "prompt") return await this.#turn(typed, signal);
    const before = this.#chat.opened;
    await this.#command(typed, signal);
    if (this.#chat.opened !== before) this.#turnView.forgetRate();
    if (!this.#work.isLeaving) this.#turnView.finish(null);
  }

  #command(typed: TypedCommand | TypedShell, signal: AbortSignal): Promise<void> {
    const emit = (event: Parameters<TurnView["event"]>[0]) => this.#turnView.event(event);
    return runLine(typed, { chat: this.#chat, view: this, context: this.#context, signal, emit });
  }

  async #turn(typed: TypedPrompt, signal: AbortSignal): Promise<void> {
    this.#turnView.beginTurn();
    this.#bell.turnBegins();
    this.print(typed.from === null ? [[]] : [row(fit(`  sent: ${clean(typed.from)}`, this.width()), "dim"), []]);
    const input = await promptOf(typed, this.#chat, (text) => this.#notice(text));
    signal.throwIfAborted();
    const result = await this.#chat.prompt(input, {
      signal,
      onEvent: (event) => {
        const shown = this.#turnView.event(event);
        if (event.kind === "delta" || event.kind === "tool_output") return;
        // A terminal that takes no more slows the turn.
        return shown instanceof Promise ? shown.then(() => this.#screen.settled()) : this.#screen.settled();
      },
      ask: askInChat(this.#chat, this, this.#context.io),
    });
    this.#turnView.finish(result);
    this.#bell.turnEnds();
    if (this.#chat.mode === "plan") {
      await (await import("./plan.ts")).offerPlan(result, { chat: this.#chat, view: this });
    }
  }

  #fail(error: unknown): void {
    this.print(errorRows(error, this.width()));
  }

  #notice(text: string): void {
    if (this.#context.globals.quiet || text === "") return;
    this.print(textRows(text, { width: this.width(), style: "dim" }));
  }

  #effect(effect: EditorEffect): void {
    this.#hint = "";
    switch (effect.kind) {
      case "submit":
        return this.#submit(effect.text, effect.isForLater);
      case "complete":
        return void this.#complete(effect.query);
      case "leave":
        return this.leave();
      case "interrupt":
        return this.#interrupt();
      case "escape":
        return this.#escape();
      case "clear_screen":
        return this.clear();
      case "edit_outside":
        return this.#outside(async ({ editOutside }, place) =>
          this.#input.replace(await editOutside(effect.text, place))
        );
      case "suspend":
        return this.#outside(({ suspend }, place) => suspend(place));
      case "unfold":
        return void (this.#hint = this.#turnView.folds.toggle(effect.number));
      case "page":
        return this.#turnView.folds.page(effect.direction);
      case "back_tab":
        return nextMode(this.#chat);
    }
  }

  #submit(text: string, isForLater = false): void {
    this.#turnView.folds.fold();
    const session = this.#chat.opened?.session;
    if (session !== undefined) {
      this.#remembered = this.#remembered.then(() => rememberTyped(text, session, this.#context.io));
    }
    const shell = readShell(text);
    if (shell?.isTold === false && !this.#work.isRunning) {
      this.print(echoRows(text, this.width()));
      return this.#outside(async ({ runOutside }, place) => this.print(await runOutside(shell.command, place)));
    }
    const beside = this.#work.isRunning && session !== undefined ? readBeside(text) : null;
    if (beside === null) return this.#work.add({ ...this.#message(text), isForLater });
    this.print(echoRows(text, this.width()));
    this.#command(beside, new AbortController().signal).then(() => this.print([[]]), (error) => this.#fail(error));
  }

  #message(text: string): QueuedMessage {
    const toPrompt = async () => {
      const typed = await readTyped(text, this.#chat);
      return typed.kind === "prompt" ? await promptOf(typed, this.#chat, (words) => this.#notice(words)) : null;
    };
    return { text, toPrompt };
  }

  #interrupt(): void {
    if (this.#lent.until !== null) return;
    if (!this.#work.interrupt()) this.#hint = "Ctrl-C again leaves";
  }

  /** Stops the turn; between turns, twice on an empty line goes back to an earlier one. */
  #escape(): void {
    if (this.#work.isRunning) return this.#work.stop();
    if (this.#turnView.folds.isUnfolded) return this.#turnView.folds.fold();
    if (!this.#input.isEmpty) return;
    const now = this.#context.io.clock.monotonic();
    const isSecond = now - this.#lastEscape < TWICE_MS;
    this.#lastEscape = isSecond ? -Infinity : now;
    if (isSecond) return this.send("/rewind");
    this.#hint = "Esc again goes back to an earlier turn";
  }

  /** Lends the terminal to a program of the person's own. */
  #outside(work: (outside: Outside, place: { io: Io; cwd: string }) => Promise<void>): void {
    const place = { io: this.#context.io, cwd: this.#context.globals.cwd };
    this.#lent.lend(async () => await work(await import("./outside.ts"), place));
  }

  async #complete(query: Parameters<typeof candidatesFor>[0]): Promise<void> {
    const items = await candidatesFor(query, commandSource(this.#chat.opened), this.#context.io).catch(() => []);
    this.#input.complete(query, items);
    this.#frames.now();
  }

  #draw(): void {
    if (this.#lent.until !== null) return;
    this.#screen.live(this.#live());
  }

  #live() {
    const width = this.width();
    const height = this.#screen.height() - 1;
    const session = this.#chat.opened?.session ?? null;
    return liveRows({
      open: this.#turnView.openRows(width),
      unfolded: (room) => this.#turnView.folds.rows({ width, height: room }),
      todos: session?.memory.todos ?? [],
      activity: this.#turnView.activityRow(width),
      waiting: this.#work.waiting(),
      hint: this.#hint,
      line: this.#input.rows({ width, height }),
      status: statusRow({ session, mode: this.#chat.mode, rate: this.#turnView.rate }, width),
    }, { width, height });
  }
}
