/** The chat on a terminal: keys go to the input and the work, their results go to the view. */
import { openHome } from "../../../platform/home.ts";
import type { Io } from "../../../platform/io.ts";
import { AgentSession } from "../../../runtime/agent_session.ts";
import type { QueuedMessage } from "../../../runtime/prompts.ts";
import { clean } from "../../../terminal/clean.ts";
import type { EditorEffect } from "../../../terminal/line_editor.ts";
import { row } from "../../../terminal/style.ts";
import { fit } from "../../../terminal/table.ts";
import type { Context } from "../../command.ts";
import { hostOf } from "../../output.ts";
import { beginChat, type Beginning, type ChatOptions } from "../begin.ts";
import { runLine } from "../commands/commands.ts";
import { ChatInput } from "../input/chat_input.ts";
import { readHistory, rememberTyped } from "../input/history.ts";
import {
  candidatesFor,
  nextMode,
  promptOf,
  readBeside,
  readShell,
  readTyped,
  type TypedCommand,
  type TypedPrompt,
  type TypedShell,
} from "../input/typed_line.ts";
import { askInChat, elicitInChat, offerPlan } from "../questions/asked.ts";
import { echoRows, farewell, textRows } from "../view/event_rows.ts";
import { firstScreen } from "../view/first_screen.ts";
import type { TurnView } from "../view/turn_view.ts";
import { ChatWork } from "./chat_work.ts";
import { TerminalView } from "./terminal_view.ts";

/** From one count of seconds in the activity line to the next. Milliseconds. */
const TICK_MS = 1000;
/** Longest wait for the history when the chat is left: another chat may hold it. Milliseconds. */
const HISTORY_MS = 3000;
/** Longest wait for a program that has the terminal when the chat ends. Milliseconds. */
const LENT_MS = 3000;
/** Two presses within this time belong together. Milliseconds. */
const TWICE_MS = 1000;

type Outside = typeof import("./outside.ts");

/** The chat, drawn on a terminal. */
export class TerminalChat {
  readonly #context: Context;
  readonly #chat: AgentSession;
  readonly #view: TerminalView;
  readonly #input: ChatInput;
  readonly #work: ChatWork;
  #lastEscape = -Infinity;
  /** Settled when all that was typed is in the history. */
  #remembered: Promise<void> = Promise.resolve();

  constructor(options: ChatOptions, context: Context) {
    const { io } = context;
    // Whatever the session writes on stderr goes above the input line, not through it.
    const stderr = {
      isTerminal: false,
      columns: () => this.#view.width(),
      write: (text: string) => Promise.resolve(this.#view.notice(text.trimEnd())),
    };
    this.#context = { ...context, io: { ...io, stderr } };
    const notice = (text: string) => this.#view.notice(text);
    const elicit: ReturnType<typeof elicitInChat> = (form, signal) => elicitInChat(this.#view)(form, signal);
    this.#chat = new AgentSession(options, hostOf(this.#context, { notice, warn: notice, waiting: undefined, elicit }));
    this.#input = new ChatInput(io, {
      running: () => this.#work.isRunning,
      interrupt: () => this.#interrupt(),
      effect: (effect) => this.#effect(effect),
      hint: (text) => void (this.#view.hint = text),
      drawn: () => this.#view.frames.now(),
      takeLast: () => this.#work.takeLast(),
      away: () => this.#view.lent.until,
      ready: () => this.#view.lent.ready(),
    });
    this.#work = new ChatWork(io.clock, this.#chat.queue, {
      failed: (error) => {
        if (error !== null) this.#view.fail(error);
        else if (!this.#work.isLeaving) this.#view.print(textRows("stopped", { width: this.#width, style: "warning" }));
        this.#view.turns.finish(null);
      },
      answerNothing: () => this.#input.answerNothing(),
      takeBack: (texts) => this.#input.takeBack(texts),
      idle: () => this.#view.frames.soon(),
    });
    this.#view = new TerminalView(this.#context, {
      session: this.#chat,
      input: this.#input,
      waiting: () => this.#work.waiting(),
      send: (text) => this.#send(text),
      leave: () => this.#work.leave(),
    });
  }

  /** Runs the chat until it is left; returns the exit code. The terminal is set back whatever happens. */
  async run(beginning: Beginning): Promise<number> {
    const { io } = this.#context;
    const { frames, lent } = this.#view;
    const history = await openHome(io).then(readHistory).catch(() => []);
    this.#input.remember(history);
    const removeSignal = io.onSignal((signal) => {
      if (signal !== "SIGINT") return this.#work.terminate();
      this.#interrupt();
      frames.now();
    });
    const removeResize = io.onResize?.(() => frames.now());
    await lent.take();
    const ticking = setInterval(() => this.#work.isRunning ? frames.soon() : undefined, TICK_MS);
    try {
      this.#input.readKeys().catch((error) => this.#view.fail(error)).finally(() => this.#work.leave());
      frames.soon();
      return await this.#work.run(
        (signal) => this.#begin(beginning, signal),
        (text, signal) => this.#take(text, signal),
      );
    } finally {
      clearInterval(ticking);
      frames.stop();
      removeSignal();
      removeResize?.();
      // Whatever has the terminal got the signal too, and removes what it made.
      if (lent.until !== null) await Promise.race([lent.until, io.clock.sleep(LENT_MS)]);
      await lent.giveBack();
      const { opened: prepared } = this.#chat;
      const last = prepared === null ? null : farewell(prepared, { chosen: this.#chat.isModelChosen });
      if (last !== null) await io.stdout.write(last).catch(() => {});
      await Promise.race([this.#remembered, io.clock.sleep(HISTORY_MS)]);
      await this.#chat.close();
    }
  }

  get #width(): number {
    return this.#view.width();
  }

  #send(text: string): void {
    this.#work.add(this.#message(text));
  }

  async #begin({ first, choosesSession }: Beginning, signal: AbortSignal): Promise<void> {
    const [view, context] = [this.#view, this.#context];
    try {
      await beginChat(this.#chat, { view, context, canAsk: true, choosesSession, signal });
      const { opened: prepared } = this.#chat;
      if (prepared === null) return;
      view.print(firstScreen(prepared, { io: context.io, width: this.#width }));
      if (prepared.session.items.length > 0) await view.replay(prepared);
    } finally {
      if (first !== undefined && first.trim() !== "") this.#send(first);
    }
  }

  async #take(text: string, signal: AbortSignal): Promise<void> {
    this.#view.print(echoRows(text, this.#width));
    const typed = await readTyped(text, this.#chat);
    if (typed.kind === "prompt") return await this.#turn(typed, signal);
    const before = this.#chat.opened;
    await this.#command(typed, signal);
    if (this.#chat.opened !== before) this.#view.turns.forgetRate();
    if (!this.#work.isLeaving) this.#view.turns.finish(null);
  }

  #command(typed: TypedCommand | TypedShell, signal: AbortSignal): Promise<void> {
    const emit = (event: Parameters<TurnView["event"]>[0]) => this.#view.turns.event(event);
    return runLine(typed, { chat: this.#chat, view: this.#view, context: this.#context, signal, emit });
  }

  async #turn(typed: TypedPrompt, signal: AbortSignal): Promise<void> {
    const { turns, bell, screen } = this.#view;
    turns.beginTurn();
    bell.turnBegins();
    this.#view.print(typed.from === null ? [[]] : [row(fit(`  sent: ${clean(typed.from)}`, this.#width), "dim"), []]);
    const input = await promptOf(typed, this.#chat, (text) => this.#view.notice(text));
    signal.throwIfAborted();
    const result = await this.#chat.prompt(input, {
      signal,
      onEvent: (event) => {
        const shown = turns.event(event);
        if (event.kind === "delta" || event.kind === "tool_output") return;
        // A terminal that takes no more slows the turn.
        return shown instanceof Promise ? shown.then(() => screen.settled()) : screen.settled();
      },
      ask: askInChat(this.#chat, this.#view),
    });
    turns.finish(result);
    bell.turnEnds();
    if (this.#chat.mode === "plan") {
      await offerPlan(result, { chat: this.#chat, view: this.#view });
    }
  }

  #effect(effect: EditorEffect): void {
    const { folds } = this.#view.turns;
    this.#view.hint = "";
    switch (effect.kind) {
      case "submit":
        return this.#submit(effect.text, effect.isForLater);
      case "complete":
        return void this.#complete(effect.query);
      case "leave":
        return this.#work.leave();
      case "interrupt":
        return this.#interrupt();
      case "escape":
        return this.#escape();
      case "clear_screen":
        return this.#view.clear();
      case "edit_outside":
        return this.#outside(async ({ editOutside }, place) =>
          this.#input.replace(await editOutside(effect.text, place))
        );
      case "suspend":
        return this.#outside(({ suspend }, place) => suspend(place));
      case "unfold":
        return void (this.#view.hint = folds.toggle(effect.number));
      case "page":
        return folds.page(effect.direction);
      case "back_tab":
        return nextMode(this.#chat);
    }
  }

  #submit(text: string, isForLater = false): void {
    this.#view.turns.folds.fold();
    const session = this.#chat.opened?.session;
    if (session !== undefined) {
      this.#remembered = this.#remembered.then(() => rememberTyped(text, session, this.#context.io));
    }
    const shell = readShell(text);
    if (shell?.isForModel === false && !this.#work.isRunning) {
      this.#view.print(echoRows(text, this.#width));
      return this.#outside(async ({ runOutside }, place) =>
        this.#view.print([...await runOutside(shell.command, place), []])
      );
    }
    const beside = this.#work.isRunning && session !== undefined ? readBeside(text) : null;
    if (beside === null) return this.#work.add({ ...this.#message(text), isForLater });
    this.#view.print(echoRows(text, this.#width));
    this.#command(beside, new AbortController().signal).then(
      () => this.#view.print([[]]),
      (error) => this.#view.fail(error),
    );
  }

  #message(text: string): QueuedMessage {
    const toPrompt = async () => {
      const typed = await readTyped(text, this.#chat);
      return typed.kind === "prompt" ? await promptOf(typed, this.#chat, (words) => this.#view.notice(words)) : null;
    };
    return { text, toPrompt };
  }

  #interrupt(): void {
    if (this.#view.lent.until !== null) return;
    if (!this.#work.interrupt()) this.#view.hint = "Ctrl-C again exits";
  }

  /** Stops the turn; between turns, twice on an empty line goes back to an earlier one. */
  #escape(): void {
    const { folds } = this.#view.turns;
    if (this.#work.isRunning) return this.#work.stop();
    if (folds.isUnfolded) return folds.fold();
    if (!this.#input.isEmpty) return;
    const now = this.#context.io.clock.monotonic();
    const isSecond = now - this.#lastEscape < TWICE_MS;
    this.#lastEscape = isSecond ? -Infinity : now;
    if (isSecond) return this.#send("/rewind");
    this.#view.hint = "Esc again goes back to an earlier turn";
  }

  /** Lends the terminal to a program of the person's own. */
  #outside(work: (outside: Outside, place: { io: Io; cwd: string }) => Promise<void>): void {
    const place = { io: this.#context.io, cwd: this.#context.globals.cwd };
    void this.#view.lent.lend(async () => await work(await import("./outside.ts"), place));
  }

  async #complete(query: Parameters<typeof candidatesFor>[0]): Promise<void> {
    const items = await candidatesFor(query, this.#chat.opened, this.#context.io).catch(() => []);
    this.#input.complete(query, items);
    this.#view.frames.now();
  }
}
