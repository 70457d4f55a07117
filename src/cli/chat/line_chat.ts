/** The chat line by line: piped input, dumb terminals. Each line is a turn or a command. */
import type { AskPermission } from "../../agent/turn_options.ts";
import { AgentcliError } from "../../errors.ts";
import type { Input } from "../../platform/io.ts";
import type { TurnEvent } from "../../protocol/turn_event.ts";
import { readLines } from "../../rpc/lines.ts";
import { clean } from "../../terminal/clean.ts";
import { plainText, type Row } from "../../terminal/style.ts";
import { isYes } from "../../terminal/prompt.ts";
import { TextOutput } from "../run/text_output.ts";
import { hostOf, showError } from "../output.ts";
import { askInChat, elicitInChat, offerPlan } from "./questions/asked.ts";
import type { Context } from "../command.ts";
import { beginChat, type Beginning, type ChatOptions, type ChatView, type PickQuestion } from "./begin.ts";
import { changeRows } from "./view/call_block.ts";
import { AgentSession } from "../../runtime/agent_session.ts";
import type { OpenSession } from "../../runtime/open_session.ts";
import { promptOf, readTyped } from "./input/typed_line.ts";
import { runLine } from "./commands/commands.ts";
import { textRows } from "./view/event_rows.ts";
import type { Question, QuestionAnswer } from "./questions/question.ts";

/** A question is asked this often before no answer counts as no. */
const MOST_TRIES = 20;
/** Longest line, in bytes. */
const LINE_LIMIT = 16 * 1024 * 1024;

/** The chat line by line. */
export class LineChat implements ChatView {
  readonly #context: Context;
  readonly #chat: AgentSession;
  readonly #lines: AsyncGenerator<string>;
  readonly #atTerminal: boolean;
  #running: AbortController | null = null;
  #leaving = false;
  /** A person has seen the change of the running call. */
  #isShown = false;
  /** Prompts of a command, before what is typed next. */
  readonly #next: string[] = [];
  /** Of the last turn, or of a command that failed since. */
  #code = 0;
  #ended = Promise.withResolvers<number>();
  /** Settled when all that was shown is written: the process ends right after the chat. */
  #written: Promise<unknown> = Promise.resolve();

  constructor(options: ChatOptions, context: Context) {
    this.#context = context;
    const { io } = context;
    this.#atTerminal = io.stdin.isTerminal && io.stderr.isTerminal;
    this.#lines = linesOf(io.stdin);
    const notice = (text: string) => this.#write(`agentcli: ${clean(text)}\n`);
    this.#chat = new AgentSession(
      options,
      hostOf(context, {
        ...{ notice, warn: notice, waiting: undefined },
        elicit: this.#atTerminal ? elicitInChat(this) : undefined,
      }),
    );
  }

  /**
   * Runs the chat until the input ends. Gives the exit code of the last turn that failed by itself, or 0; 130 when it
   * was interrupted out of.
   */
  async run(beginning: Beginning): Promise<number> {
    const remove = this.#context.io.onSignal((signal) => {
      const running = this.#running;
      if (signal === "SIGINT" && running !== null && !running.signal.aborted) {
        return running.abort(new AgentcliError("interrupted", "interrupted"));
      }
      this.#leaving = true;
      running?.abort(new AgentcliError(signal === "SIGINT" ? "interrupted" : "terminated", "stopped"));
      this.#ended.resolve(signal === "SIGINT" ? 130 : 143);
    });
    try {
      return await Promise.race([this.#converse(beginning), this.#ended.promise]);
    } finally {
      remove();
      await this.#chat.close();
      await this.#written;
    }
  }

  get isTerminal(): boolean {
    return this.#context.io.stderr.isTerminal;
  }

  width(): number {
    return Math.max(20, this.#context.io.stderr.columns() - 1);
  }

  print(rows: readonly Row[]): void {
    this.#write(rows.map((line) => `${plainText(line).trimEnd()}\n`).join(""));
  }

  async pick({ title, choices }: PickQuestion): Promise<number | null> {
    if (!this.#atTerminal) return null;
    const named = choices.map(({ label, note, key }, index) =>
      `  ${key ?? index + 1}  ${clean(label)}${note === undefined || note === "" ? "" : `  (${clean(note)})`}\n`
    );
    this.#write(`${title}\n${named.join("")}`);
    const answer = (await this.ask("Choose"))?.trim().toLowerCase() ?? "";
    const index = choices.findIndex(({ key }, place) => answer === (key ?? String(place + 1)));
    return index < 0 ? null : index;
  }

  /** An answer is its letter alone, what is always allowed is asked about again; other words are for the model. */
  async question({ title, body, choices }: Question): Promise<QuestionAnswer | null> {
    if (!this.#atTerminal) return null;
    this.print(body(this.width()));
    this.#isShown = true;
    const named = choices.map(({ key, label, note }) =>
      `  ${key}  ${label}${note === undefined ? "" : `  (${note})`}\n`
    );
    this.#write(`${title}\n${named.join("")}`);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const answer = await this.ask("A letter, or what to do instead");
      if (answer === null) return null;
      const text = answer.trim();
      const choice = choices.find(({ key }) => key === text.toLowerCase());
      if (text === "") continue;
      if (choice === undefined && text.length > 1) return { kind: "words", text };
      if (choice === undefined) continue;
      if (choice.confirm === undefined || isYes(await this.ask(`${choice.confirm} [y/N]`))) {
        return { kind: "key", key: choice.key };
      }
    }
    return null;
  }

  async ask(title: string): Promise<string | null> {
    if (!this.#atTerminal) return null;
    this.#write(`${title}: `);
    const next = await this.#lines.next();
    return next.done === true ? null : next.value;
  }

  during<T>(_label: string, work: Promise<T>): Promise<T> {
    return work;
  }

  send(text: string): void {
    this.#next.push(text);
  }

  draft(text: string): void {
    this.print(textRows(text, { width: this.width(), style: "plain" }));
  }

  async replay(opened: OpenSession): Promise<void> {
    const [{ replaySession }, { TurnView }] = await Promise.all([
      import("./view/replay.ts"),
      import("./view/turn_view.ts"),
    ]);
    const turns = new TurnView({
      print: (rows) => this.print(rows),
      width: () => this.width(),
      color: false,
      clock: this.#context.io.clock,
      promptTokens: () => null,
      changed: () => {},
    });
    await replaySession(opened, this, { turns, context: this.#context });
  }

  /** Between two lines nothing is read. Output to anything but a terminal may be kept. */
  async lend(work: () => Promise<void>): Promise<boolean> {
    const { stdin, stdout, stderr } = this.#context.io;
    if (!stdin.isTerminal || !stdout.isTerminal || !stderr.isTerminal) return false;
    await this.#written;
    await work();
    return true;
  }

  leave(): void {
    this.#leaving = true;
  }

  clear(): void {}

  #write(text: string): void {
    this.#written = Promise.all([this.#written, this.#context.io.stderr.write(text)]);
  }

  async #converse({ first, choosesSession }: Beginning): Promise<number> {
    this.#code = await this.#attempt((signal) => this.#begin(choosesSession, signal));
    // Without a model nothing can be asked; the rest of the input is ignored.
    if (this.#code !== 0 || this.#leaving) return this.#code;
    if (first !== undefined && first.trim() !== "") this.#code = await this.#take(first);
    while (!this.#leaving) {
      if (this.#atTerminal) this.#write("> ");
      const sent = this.#next.shift();
      const next = sent === undefined ? await this.#lines.next() : { done: false, value: sent };
      if (next.done === true) break;
      if (next.value.trim() !== "") this.#code = await this.#take(next.value);
    }
    return this.#code;
  }

  async #begin(choosesSession: boolean, signal: AbortSignal): Promise<number> {
    const canAsk = this.#atTerminal;
    await beginChat(this.#chat, { view: this, context: this.#context, canAsk, choosesSession, signal });
    const { opened } = this.#chat;
    if (canAsk && opened !== null && !this.#context.globals.quiet) {
      const { firstScreen, LINE_KEYS } = await import("./view/first_screen.ts");
      this.print(firstScreen(opened, { io: this.#context.io, width: this.width(), keys: LINE_KEYS }));
    }
    if (canAsk && opened !== null && opened.session.items.length > 0) await this.replay(opened);
    return 0;
  }

  /** Shows what a call did to a file, on a terminal, unless a person was asked about it before. */
  async #changed(event: TurnEvent): Promise<void> {
    if (event.kind !== "tool_result") return;
    const { change, item: { label } } = event;
    const isShown = this.#isShown;
    this.#isShown = false;
    if (change === undefined || isShown || label !== "open" || !this.isTerminal) return;
    const { unifiedDiff } = await import("../../terminal/diff.ts");
    this.print(changeRows(unifiedDiff(change.before, change.after, { name: clean(change.name) }), this.width()));
  }

  /** Shows the output of a typed command; nothing protected goes into a log. */
  #shellEvent(event: TurnEvent): void {
    if (event.kind !== "tool_result") return;
    const { content, label } = event.item;
    const shown = label === "open" || this.isTerminal ? content : "[no-cloud]";
    this.print(textRows(shown, { width: this.width(), style: "plain" }));
  }

  /** Shows a failure of the work; returns the exit code. */
  async #attempt(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
    const controller = new AbortController();
    this.#running = controller;
    try {
      return await work(controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return 0;
      return await showError(error, this.#context.io, { json: false, verbose: this.#context.globals.verbose });
    } finally {
      this.#running = null;
    }
  }

  #take(text: string): Promise<number> {
    const { io, globals } = this.#context;
    return this.#attempt(async (signal) => {
      const typed = await readTyped(text, this.#chat);
      const output = new TextOutput(io, globals);
      if (typed.kind !== "prompt") {
        const emit = (event: TurnEvent) => typed.kind === "shell" ? this.#shellEvent(event) : output.event(event);
        await runLine(typed, { chat: this.#chat, view: this, context: this.#context, signal, emit });
        return this.#code;
      }
      const asking = askInChat(this.#chat, this);
      const ask: AskPermission = this.#atTerminal ? asking : () => Promise.resolve(null);
      const input = await promptOf(typed, this.#chat, (text) => this.#write(`agentcli: ${clean(text)}\n`));
      signal.throwIfAborted();
      const onEvent = async (event: TurnEvent) => {
        await output.event(event);
        await this.#changed(event);
      };
      const result = await this.#chat.prompt(input, { signal, onEvent, ask });
      await output.result(result);
      if (this.#chat.mode === "plan") {
        await offerPlan(result, { chat: this.#chat, view: this });
      }
      return result.errorCode === "interrupted" ? 0 : result.exitCode;
    });
  }
}

/** The lines of the input as they come, the last one also without its end. */
async function* linesOf(stdin: Input): AsyncGenerator<string> {
  for await (const line of readLines(() => stdin.read(), LINE_LIMIT)) {
    if (line === null) throw new AgentcliError("usage", "a line of the input is too long");
    yield line.replace(/\r$/, "");
  }
}
