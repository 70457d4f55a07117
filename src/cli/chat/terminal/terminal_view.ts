/** Shows one chat on a terminal, asks its questions, and calls a person back to it. */
import { estimateOf } from "../../../agent/chat_request.ts";
import type { AgentSession } from "../../../runtime/agent_session.ts";
import type { OpenSession } from "../../../runtime/open_session.ts";
import type { QueuedMessage } from "../../../runtime/prompts.ts";
import { type LiveRows, Screen } from "../../../terminal/screen.ts";
import { type Row, rowWidth, span, wantsColor } from "../../../terminal/style.ts";
import { wrap } from "../../../terminal/wrap.ts";
import type { Context } from "../../command.ts";
import type { ChatView, PickQuestion } from "../begin.ts";
import type { ChatInput } from "../input/chat_input.ts";
import type { Question, QuestionAnswer } from "../questions/question.ts";
import { placeOf } from "../view/call_view.ts";
import { errorRows, textRows } from "../view/event_rows.ts";
import { TurnView } from "../view/turn_view.ts";
import { LentTerminal } from "./lent_terminal.ts";
import { createFrames, liveRows, statusRow } from "./live_rows.ts";
import { loadConfiguration } from "../../../config/load.ts";
import type { Configuration } from "../../../config/types.ts";
import { openHome } from "../../../platform/home.ts";
import type { Io } from "../../../platform/io.ts";
import { clean } from "../../../terminal/clean.ts";

interface ShownChat {
  readonly session: AgentSession;
  readonly input: ChatInput;
  waiting(): readonly QueuedMessage[];
  send(text: string): void;
  leave(): void;
}

/** The view of a chat on a terminal. */
export class TerminalView implements ChatView {
  readonly isTerminal = true;
  readonly screen: Screen;
  readonly lent: LentTerminal;
  readonly bell: Bell;
  readonly turns: TurnView;
  readonly frames = createFrames(() => this.#draw());
  /** A hint about keys, until the next key has an effect. */
  hint = "";
  readonly #context: Context;
  readonly #shown: ShownChat;

  constructor(context: Context, shown: ShownChat) {
    const { io, globals } = context;
    const color = wantsColor(io, globals);
    this.#context = context;
    this.#shown = shown;
    this.screen = new Screen(io.stdout, { color });
    this.lent = new LentTerminal(io, this.screen, {
      print: (rows) => this.print(rows),
      failed: (error) => this.fail(error),
      returned: () => this.frames.now(),
    });
    this.bell = new Bell(io.clock, (text) => void ring(io, text).catch(() => {}));
    this.turns = new TurnView({
      width: () => this.width(),
      color,
      clock: io.clock,
      promptTokens: () => {
        const session = shown.session.opened?.session;
        return session === undefined ? null : estimateOf(session);
      },
      place: () => placeOf(shown.session.opened),
      print: (rows) => this.print(rows),
      changed: () => this.frames.soon(),
    });
  }

  width(): number {
    return this.screen.width();
  }

  print(rows: readonly Row[]): void {
    if (this.lent.keep(rows)) return;
    const width = this.width();
    const fitting = rows.flatMap((line) =>
      rowWidth(line) > width ? wrap(line, { width, indent: behind(line) }) : [line]
    );
    if (fitting.length > 0) this.screen.print(fitting, this.#live());
  }

  fail(error: unknown): void {
    this.print(errorRows(error, this.width()));
  }

  notice(text: string): void {
    if (this.#context.globals.quiet || text === "") return;
    this.print(textRows(text, { width: this.width(), style: "dim" }));
  }

  pick(question: PickQuestion): Promise<number | null> {
    const picking = this.#shown.input.pick(question);
    this.turns.end();
    return picking;
  }

  /** A whole question is live: afterwards one block with the result of the call stays. */
  async question(question: Question): Promise<QuestionAnswer | null> {
    const asking = this.#shown.input.question(question);
    this.turns.folds.fold();
    const { call, body } = question;
    if (call === undefined) this.turns.begin("waiting for your answer");
    else this.turns.waitForAnswer({ ...call, body });
    void this.bell.waitsFor(asking);
    const given = await asking;
    this.turns.end();
    return given;
  }

  ask(title: string): Promise<string | null> {
    const asking = this.#shown.input.ask(title);
    this.frames.soon();
    return asking;
  }

  async during<T>(label: string, work: Promise<T>): Promise<T> {
    this.turns.begin(label);
    try {
      return await work;
    } finally {
      this.turns.end();
    }
  }

  lend(work: () => Promise<void>): Promise<boolean> {
    return this.lent.lendWhenReady(work);
  }

  send(text: string): void {
    this.#shown.send(text);
  }

  draft(text: string): void {
    this.#shown.input.takeBack([text]);
  }

  async replay(opened: OpenSession): Promise<void> {
    const { replaySession } = await import("../view/replay.ts");
    await replaySession(opened, this, { turns: this.turns, context: this.#context });
  }

  leave(): void {
    this.#shown.leave();
  }

  clear(): void {
    this.screen.clear();
  }

  #draw(): void {
    if (this.lent.until !== null) return;
    this.screen.live(this.#live());
  }

  #live(): LiveRows {
    const { session: chat, input } = this.#shown;
    const width = this.width();
    const height = this.screen.height() - 1;
    const session = chat.opened?.session ?? null;
    return liveRows({
      open: this.turns.openRows(width),
      unfolded: (room) => this.turns.folds.rows({ width, height: room }),
      todos: session?.memory.todos ?? [],
      activity: this.turns.activityRow(width),
      waiting: this.#shown.waiting(),
      hint: this.hint,
      line: input.rows({ width, height }),
      status: statusRow({ session, mode: chat.mode, rate: this.turns.rate }, width),
    }, { width, height });
  }
}

/** The indent of a row's continuation: a little more than its own. */
function behind([first]: Row): Row {
  return [span(`${/^ */.exec(first?.text ?? "")?.[0] ?? ""}  `)];
}

/** Nobody looks away in less time. Milliseconds. */
const LONG_MS = 10_000;

/** Returns the sequence that gets a person's attention: the bell, or a desktop notification (OSC 9). */
export function callSequence(how: Configuration["notify"], text: string): string {
  if (how === "off") return "";
  return how === "osc9" ? `\x1b]9;${clean(text)}\x07` : "\x07";
}

/** The calls of one chat. */
export class Bell {
  readonly #clock: Pick<Io["clock"], "monotonic" | "sleep">;
  readonly #ring: (text: string) => void;
  #begun = 0;

  constructor(clock: Pick<Io["clock"], "monotonic" | "sleep">, ring: (text: string) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  turnBegins(): void {
    this.#begun = this.#clock.monotonic();
  }

  turnEnds(): void {
    if (this.#clock.monotonic() - this.#begun > LONG_MS) this.#ring("the turn is done");
  }

  /** At once in a long turn, else when nobody has answered for that long. */
  async waitsFor(answer: Promise<unknown>): Promise<void> {
    const waited = new AbortController();
    const answered = answer.then(() => waited.abort(), () => waited.abort());
    const isLong = this.#clock.monotonic() - this.#begun > LONG_MS;
    if (!isLong) await Promise.race([answered, this.#clock.sleep(LONG_MS, waited.signal).catch(() => {})]);
    if (!waited.signal.aborted) this.#ring("a question waits for your answer");
  }
}

/** Rings as the configuration says. A configuration that cannot be read is reported elsewhere. */
async function ring(io: Io, text: string): Promise<void> {
  const configuration = await loadConfiguration(await openHome(io)).catch(() => null);
  const sequence = callSequence(configuration?.notify, text);
  if (sequence !== "") await io.stdout.write(sequence);
}
