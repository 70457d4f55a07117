/**
 * Clients that may not see protected files get at most the daily budget of bits, and what the user released.
 * An outcome and the time at which it comes are a function of what clients said, of the budget, and of one value of a
 * set that was paid for before a model was asked.
 */
import { sha256 } from "../platform/digest.ts";
import type { Home } from "../platform/home.ts";
import { orAborted } from "../platform/sleep.ts";
import type { Clock } from "../platform/io.ts";
import { type HeldLock, holdLock } from "../platform/journal.ts";
import { fieldsOf } from "../platform/record.ts";
import { type ClosedAnswer, costOf, UNKNOWN } from "./answer.ts";
import { placeOf } from "./facts.ts";
import { HeldAnswers } from "./held.ts";
import { Budget, type Looked, type Question } from "./budget.ts";
import type { CheckOutcome, Outcome, RefusalCode, TaskStatus } from "./outcome.ts";
import {
  type ClosedQuestion,
  costOfTask,
  type PrivateTask,
  readLocalQuestion,
  readQuestion,
  readTask,
  type TextQuestion,
} from "./tools.ts";

/**
 * A text of open files; or why there is none: a path is protected by its name, a file or the text holds protected
 * content or was recognized by it, or a path cannot be asked about.
 */
export type OpenText = { text: string } | { kept: "path" | "copy" } | { problem: RefusalCode };

/** A local model over the files of the project, for one question. */
export interface PrivateSession {
  /** Returns which of the paths cannot be asked about; by their names and kinds alone. */
  problem(paths: readonly string[]): Promise<RefusalCode | null>;
  /**
   * Returns the value that the model's reply names: the reply itself does not come into this process, which keeps the
   * time. Throws whatever prevents that.
   */
  answer(question: ClosedQuestion, signal: AbortSignal): Promise<ClosedAnswer>;
  /** Returns a text made from protected files; throws whatever prevents it. */
  text(question: TextQuestion, signal: AbortSignal): Promise<string>;
  /** Returns a text made from open files only. */
  openText(question: TextQuestion, signal: AbortSignal): Promise<OpenText>;
  /** Does a task and reports each of its steps as it happens. */
  perform(task: PrivateTask, onStep: (step: TaskStep) => void, signal: AbortSignal): Promise<TaskStatus>;
  close(): Promise<void>;
}

/** Time, and the wait until an answer is due. */
export interface ServiceClock extends Clock {
  hold: Clock["sleep"];
}

/** A step of a task: a file that was changed, or a check that was run. */
export type TaskStep = { changed: string } | { check: CheckOutcome };

/** The rights of a session besides reading the structure of files. */
export interface SessionRights {
  /** It sees values. */
  values: boolean;
  /** It changes these files; `open`: also those of them that are not protected. Absent: none. */
  changes?: { paths: readonly string[]; open: boolean; check: boolean };
}

export interface ServiceParts {
  home: Home;
  clock: ServiceClock;
  /** Real path of the project. */
  root: string;
  /** Facts that `private_status` reports: nothing protected is read for them. */
  facts(): Promise<{ ready: boolean; rules: number }>;
  /** Opens a session with a model that is proven to run here; null where none is. */
  open(rights: SessionRights, signal: AbortSignal): Promise<PrivateSession | null>;
}

export interface PrivateCall {
  client: string;
  /** Aborted when the client cancels the call. After its turn came, it continues: its end would reveal the model's. */
  signal: AbortSignal;
}

/**
 * Thousandths of a bit that it costs to hear that an open file holds a copy: which of the questions of a day it was,
 * one a second. That a file holds none reveals almost nothing.
 */
const COPY_COST = 17_000;
/** Ends a model's work long enough before its answer is due that the end does not affect when it comes. */
const MARGIN_MS = 200;
const SECOND_MS = 1000;
/** One question at a time on this machine: how busy its model is reveals something about another question. */
const SLOT = "private/slot.lock";
const [SLOT_TRIES, SLOT_WAIT_MS] = [10, 100];

/** How late a timer may be. */
const TIMER_MS = 100;

interface StartedCall extends PrivateCall {
  /** By the monotonic clock. */
  started: number;
}

class Refused extends Error {
  readonly code: RefusalCode;
  /** In thousandths of a bit. */
  readonly cost: number;

  constructor(code: RefusalCode, cost = 0) {
    super(code);
    this.code = code;
    this.cost = cost;
  }
}

/** The tools behind the server, for all clients of one process. */
export class PrivateService {
  readonly #parts: ServiceParts;
  readonly #budget: Budget;
  readonly #held: HeldAnswers;
  /** The last of the questions that wait for each other. */
  #last: Promise<unknown> = Promise.resolve();
  /** Questions in progress. */
  #running = 0;
  readonly #closing = new AbortController();
  #closed: Promise<void> | null = null;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#budget = new Budget(parts.home, parts.clock);
    this.#held = new HeldAnswers(parts.home, parts);
  }

  /** The project that is at the root now. */
  get #place(): string {
    return placeOf(this.#parts.root);
  }

  /** Returns null for a tool that does not exist. Throws only where the service is closed. */
  async call(name: string, given: unknown, call: PrivateCall): Promise<Outcome | null> {
    switch (name) {
      case "private_status":
        return await this.#outcome(() => this.#status());
      case "ask_private":
        return await this.#atFullSecond((started) => this.#ask(given, { ...call, started }));
      case "do_private":
        return await this.#atFullSecond((started) => this.#perform(given, { ...call, started }));
      case "ask_local":
        return await this.#atFullSecond((started) => this.#askLocal(given, { ...call, started }));
      case "answer_of":
        return await this.#atFullSecond(() => this.#answerOf(given));
      default:
        return null;
    }
  }

  /** Turns everything that is thrown into a refusal: a client learns nothing of it. */
  async #outcome(work: () => Promise<Outcome>): Promise<Outcome> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refused)) return { kind: "refused", code: "unavailable" };
      const { code, cost } = error;
      return { kind: "refused", code, ...cost === 0 ? {} : { cost } };
    }
  }

  /** Ends at a full second since the call came, the first or a later one. */
  async #atFullSecond(work: (started: number) => Promise<Outcome>): Promise<Outcome> {
    const { clock } = this.#parts;
    const started = clock.monotonic();
    const outcome = await this.#outcome(() => work(started));
    await this.#fullSecond(started, this.#closing.signal);
    return outcome;
  }

  async #fullSecond(started: number, signal?: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const seconds = Math.max(1, Math.ceil((clock.monotonic() - started - TIMER_MS) / SECOND_MS));
    await clock.hold(Math.max(0, started + seconds * SECOND_MS - clock.monotonic()), signal);
  }

  /**
   * Runs the answer to any request of a client. While a question is in progress, that too ends at a full second: how
   * busy this process is reveals something about the question.
   */
  async steady<T>(work: () => Promise<T>): Promise<T> {
    const started = this.#parts.clock.monotonic();
    const before = this.#running;
    try {
      return await work();
    } finally {
      if (before + this.#running > 0) await this.#fullSecond(started, this.#closing.signal);
    }
  }

  async #status(): Promise<Outcome> {
    const [{ ready, rules }, left, waiting] = await Promise.all([
      this.#parts.facts(),
      this.#budget.left(),
      this.#held.waiting(),
    ]);
    return { kind: "status", ready, protected: rules, left, waiting };
  }

  async #ask(given: unknown, call: StartedCall): Promise<Outcome> {
    const asked = readQuestion(given);
    if (asked === null) throw new Refused("arguments");
    if ("set" in asked) return await this.#askClosed(asked, call);
    return await this.#inTurn(asked.seconds, call, async (signal, ending) => {
      const { values } = await this.#budget.allowed(this.#place);
      const session = await this.#session(asked, { rights: { values }, signal, ending });
      return await this.#hold(session, asked, { client: call.client, signal });
    });
  }

  async #askClosed(asked: ClosedQuestion, call: StartedCall): Promise<Outcome> {
    const place = this.#place;
    const { question, paths, set, again } = asked;
    const key = await sha256(JSON.stringify([place, question, [...paths].sort(), set]));
    const paid: Question = { key, cost: costOf(set), place, again };
    const known = settled(await this.#budget.look(paid));
    if (known !== null) return known;
    return await this.#inTurn(asked.seconds, call, async (signal, ending) => {
      // Another client may have asked meanwhile.
      const looked = await this.#budget.look(paid);
      if (looked.kind !== "asked") return settled(looked) ?? { kind: "refused", code: "budget" };
      const session = await this.#session(asked, { rights: { values: looked.values }, signal, ending });
      // From here on everything may depend on what the model reads, so it is paid for first.
      const charged = settled(await this.#budget.charge(paid));
      if (charged !== null) return charged;
      const answer = await orAborted(session.answer(asked, signal), signal).catch(() => UNKNOWN);
      if (answer !== UNKNOWN) await this.#budget.keep(key, answer).catch(() => {});
      return { kind: "answer", answer, cost: paid.cost };
    });
  }

  /** Opens a session for a question; nothing was read for it. Throws {@link Refused}. */
  async #session(
    { paths }: Pick<TextQuestion, "paths">,
    { rights, signal, ending }: { rights: SessionRights; signal: AbortSignal; ending: AsyncDisposableStack },
  ): Promise<PrivateSession> {
    if (await this.#budget.isOver()) throw new Refused("budget");
    const session = await this.#parts.open(rights, signal);
    if (session === null) return await this.#missed("no_local_model");
    ending.defer(() => session.close().catch(() => {}));
    const problem = await session.problem(paths);
    if (problem !== null) throw new Refused(problem);
    return session;
  }

  /** Pays for saying that there is no model. Always throws {@link Refused}. */
  async #missed(code: RefusalCode): Promise<never> {
    const cost = await this.#budget.miss();
    throw cost === null ? new Refused("budget") : new Refused(code, cost);
  }

  /** Has a text written for the user: that there is one is all that the client learns, whatever becomes of it. */
  async #hold(
    session: PrivateSession,
    asked: TextQuestion,
    { client, signal }: { client: string; signal: AbortSignal },
  ): Promise<Outcome> {
    const id = await this.#held.begin({ question: asked.question, client });
    if (id === null) throw new Refused("too_many_held");
    await this.#budget.begin(this.#place);
    const failed = (error: unknown) =>
      signal.aborted ? "(no answer in time)" : `(no answer: ${error instanceof Error ? error.message : "unknown"})`;
    const text = await orAborted(session.text(asked, signal), signal).catch(failed);
    await this.#held.write(id, text).catch(() => {});
    return { kind: "held", id };
  }

  async #askLocal(given: unknown, call: StartedCall): Promise<Outcome> {
    const asked = readLocalQuestion(given);
    if (asked === null) throw new Refused("arguments");
    return await this.#inTurn(asked.seconds, call, async (signal, ending) => {
      const session = await this.#session(asked, { rights: { values: false }, signal, ending });
      // Whether an open file holds a copy depends on what is protected, and a client can write files to find out.
      if (await this.#budget.left() < COPY_COST) throw new Refused("budget");
      const answer = orAborted(session.openText(asked, signal), signal);
      const opened = await answer.catch(() => this.#missed("no_answer"));
      if ("problem" in opened) throw new Refused(opened.problem);
      if ("text" in opened) return { kind: "text", text: opened.text, why: "open" };
      if (opened.kept === "copy") await this.#budget.spend({ cost: COPY_COST, place: this.#place });
      return await this.#hold(session, asked, { client: call.client, signal });
    });
  }

  async #perform(given: unknown, call: StartedCall): Promise<Outcome> {
    const task = readTask(given);
    if (task === null) throw new Refused("arguments");
    const place = this.#place;
    const cost = costOfTask(task);
    return await this.#inTurn(task.seconds, call, async (signal, ending) => {
      const { values, changes: open } = await this.#budget.allowed(place);
      const changes = { paths: task.paths, open, check: open && task.check };
      const session = await this.#session(task, { rights: { values, changes }, signal, ending });
      if (!await this.#budget.spend({ cost, place })) throw new Refused("budget");
      const files = new Set<string>();
      let checked: CheckOutcome = "none";
      const onStep = (step: TaskStep) => "changed" in step ? void files.add(step.changed) : void (checked = step.check);
      const status = await orAborted(session.perform(task, onStep, signal), signal).catch(() => "failed" as const);
      const changed = Math.min(files.size, task.paths.length);
      return { kind: "done", status, changed, check: task.check ? checked : "none", cost };
    });
  }

  async #answerOf(given: unknown): Promise<Outcome> {
    const { id } = fieldsOf(given);
    if (typeof id !== "string") throw new Refused("arguments");
    const answer = await this.#held.find(id);
    if (answer === null) throw new Refused("unknown_id");
    const { state, released } = answer;
    if (state === "released") return { kind: "text", text: released ?? "", why: "released" };
    return { kind: "decision", decision: state };
  }

  /**
   * Runs `work` when nothing else runs, and ends an exact number of seconds after its turn came: when an answer comes
   * is the caller's choice and reveals nothing of how long the model took.
   */
  async #inTurn(
    seconds: number,
    call: StartedCall,
    work: (signal: AbortSignal, ending: AsyncDisposableStack) => Promise<Outcome>,
  ): Promise<Outcome> {
    const turn = this.#last.then(() => this.#withSlot(seconds, call, work));
    this.#last = turn.then(({ ended }) => ended).catch(() => {});
    return (await turn).outcome;
  }

  /** Waits a moment for another process, which may be about to end. */
  async #slot(signal: AbortSignal): Promise<HeldLock> {
    const { clock, home } = this.#parts;
    for (let tries = 0; tries < SLOT_TRIES; tries++) {
      const slot = await holdLock(home, SLOT);
      if (slot !== null) return slot;
      await clock.hold(SLOT_WAIT_MS, signal);
    }
    throw new Refused("busy");
  }

  /** Ends what is in progress, and then resolves at a full second, which hides whether it had finished. */
  async close(): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    const started = this.#parts.clock.monotonic();
    const isWorking = this.#running > 0;
    this.#closing.abort();
    await this.#last;
    if (isWorking) await this.#fullSecond(started);
  }

  async #withSlot(
    seconds: number,
    call: StartedCall,
    work: (signal: AbortSignal, ending: AsyncDisposableStack) => Promise<Outcome>,
  ): Promise<{ outcome: Outcome; ended: Promise<void> }> {
    AbortSignal.any([call.signal, this.#closing.signal]).throwIfAborted();
    const { clock } = this.#parts;
    const ending = new AsyncDisposableStack();
    const slot = await this.#slot(call.signal);
    this.#running++;
    const free = async () => {
      this.#running--;
      await slot.release();
    };
    const waited = Math.round((clock.monotonic() - call.started) / SECOND_MS);
    const due = call.started + (waited + seconds) * SECOND_MS;
    const [late, done] = [new AbortController(), new AbortController()];
    void clock.sleep(due - clock.monotonic() - MARGIN_MS, done.signal).then(() => late.abort(), () => {});
    let closed = Promise.resolve();
    try {
      const outcome = await this.#outcome(() => work(AbortSignal.any([this.#closing.signal, late.signal]), ending));
      done.abort();
      // Not once the answer is given: when the next question has its turn would reveal how long it took.
      closed = ending.disposeAsync();
      // What depends on nothing protected need not be waited for.
      if (outcome.kind !== "refused" && outcome.kind !== "text") {
        await clock.hold(Math.max(0, due - clock.monotonic()), this.#closing.signal);
      }
      return { outcome, ended: closed.then(free) };
    } catch (error) {
      await closed;
      await ending.disposeAsync();
      await free();
      throw error;
    }
  }
}

/** Returns the outcome if it needs no model, otherwise null. */
function settled(looked: Looked): Outcome | null {
  if (looked.kind === "known") return { kind: "answer", answer: looked.answer, cost: 0 };
  return looked.kind === "over" ? { kind: "refused", code: "budget" } : null;
}
