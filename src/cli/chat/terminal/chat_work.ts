/**
 * Runs the work of a chat: one thing at a time, in the order it was typed; control-C stops it, and leaves when repeated
 * soon after.
 */
import { AgentcliError } from "../../../errors.ts";
import type { Clock } from "../../../platform/io.ts";
import type { MessageQueue, QueuedMessage } from "../../../runtime/prompts.ts";

/** Time within which a second control-C leaves. Milliseconds. */
const LEAVE_MS = 3000;
/** Time for running work to end by itself once the chat is left. Milliseconds. */
const GRACE_MS = 1500;

/** Callbacks that report what becomes of the work. */
interface WorkOwner {
  /** The work ended with an error, or was stopped: null. */
  failed(error: unknown): void;
  /** Whoever waits for an answer of the user gets none. */
  answerNothing(): void;
  /** Queued messages that were not begun. */
  takeBack(texts: readonly string[]): void;
  idle(): void;
}

/** Does one thing. The signal stops it. */
type Work = (signal: AbortSignal) => Promise<void>;

/** The work of one chat. */
export class ChatWork {
  readonly #clock: Clock;
  readonly #owner: WorkOwner;
  readonly #queue: MessageQueue;
  readonly #forced = Promise.withResolvers<number>();
  #running: AbortController | null = null;
  #leaving = false;
  #exitCode = 0;
  #lastInterrupt = -Infinity;

  constructor(clock: Clock, queue: MessageQueue, owner: WorkOwner) {
    this.#clock = clock;
    this.#queue = queue;
    this.#owner = owner;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  get isLeaving(): boolean {
    return this.#leaving;
  }

  /** Messages that are queued, oldest first. */
  waiting(): readonly QueuedMessage[] {
    return this.#queue.waiting;
  }

  /** Takes the newest queued message back; null where none is left. */
  takeLast(): string | null {
    const last = this.#queue.waiting.at(-1);
    return last !== undefined && this.#queue.remove(last) ? last.text : null;
  }

  /** Queues a message: for the turn that runs, else for a turn of its own. */
  add(message: QueuedMessage): void {
    // Whoever sends something continues: the next interrupt is a first one.
    this.#lastInterrupt = -Infinity;
    void this.#queue.push(message);
  }

  /** Begins, then takes each text until the chat is left; returns the exit code. Never rejects. */
  async run(begin: Work, take: (text: string, signal: AbortSignal) => Promise<void>): Promise<number> {
    return await Promise.race([this.#takeAll(begin, take), this.#forced.promise]);
  }

  /** Stops what runs; true when it was the second of two and the chat is left. */
  interrupt(): boolean {
    const now = this.#clock.monotonic();
    const again = now - this.#lastInterrupt < LEAVE_MS;
    this.#lastInterrupt = now;
    if (again) {
      if (this.#running !== null) this.#force(130);
      this.leave();
      return true;
    }
    this.stop();
    return false;
  }

  /** Stops what runs, and drops what waits. */
  stop(): void {
    if (this.#running === null) return;
    this.#abort();
    // What waited was meant for after this turn: it returns to the line for review.
    const waiting = this.#queue.drain();
    if (waiting.length > 0) this.#owner.takeBack(waiting.map(({ text }) => text));
  }

  /** Ends on a signal of the system. */
  terminate(): void {
    this.#force(143);
    this.leave();
  }

  /** Stops what runs and takes nothing more. */
  leave(): void {
    this.#leaving = true;
    this.#queue.drain();
    this.#queue.end();
    this.#abort();
  }

  async #takeAll(begin: Work, take: (text: string, signal: AbortSignal) => Promise<void>): Promise<number> {
    await this.#perform(begin);
    for (;;) {
      const message = this.#leaving ? null : await this.#queue.next();
      if (message === null) return this.#exitCode;
      await this.#perform((signal) => take(message.text, signal));
    }
  }

  async #perform(work: Work): Promise<void> {
    const controller = new AbortController();
    this.#running = controller;
    try {
      await work(controller.signal);
    } catch (error) {
      this.#owner.failed(controller.signal.aborted ? null : error);
    } finally {
      this.#running = null;
      this.#owner.answerNothing();
      this.#owner.idle();
    }
  }

  #abort(): void {
    this.#running?.abort(new AgentcliError("interrupted", "interrupted"));
    this.#owner.answerNothing();
  }

  #force(exitCode: number): void {
    this.#exitCode = exitCode;
    this.#clock.sleep(GRACE_MS).then(() => this.#forced.resolve(exitCode));
  }
}
