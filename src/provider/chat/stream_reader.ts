/** Reads the body of a reply into its decoder, and keeps an eye on silence. Source: wire reference, §6.9. */
import type { Clock } from "../../platform/io.ts";
import type { ByteSource } from "../http/byte_source.ts";
import type { ResponseDecoder } from "./response_decoder.ts";
import type { ChatDelta } from "../types.ts";

/**
 * Longest time after the server gave its reason to end, in milliseconds: only the token counts may follow. Some go on
 * sending comments for ever.
 */
const AFTER_FINISH = 10_000;
/** How long the server may take to end the response after `[DONE]`, so that the connection can be used again. */
const AFTER_DONE = 100;
/** Why a watch ends. Without a reason of ours the runtime makes an error, with a stack, for every reply. */
const OVER = "over";

/** How a body is read. */
export interface ReadOptions {
  clock: Clock;
  /** Ends the reading; the caller looks at the signal afterwards. */
  signal: AbortSignal;
  /** Milliseconds to the first byte, and between bytes; comments count as bytes. */
  firstByteMs: number;
  idleMs: number;
  /** Awaited when it gives a promise: the server is read no faster than its words are used. */
  onDelta(delta: ChatDelta): void | Promise<void>;
}

/** How the reading ended: at the end of the body, by silence of so many milliseconds, or by a broken connection. */
export type ReadEnd = { kind: "end" } | { kind: "silence"; milliseconds: number } | { kind: "broken" };

/**
 * Reads until the end, the end of the reply, or silence. Errors of the decoder (limits) and of `onDelta` are thrown;
 * the body is let go in every case.
 */
export async function readInto(
  decoder: ResponseDecoder,
  source: ByteSource,
  options: ReadOptions,
): Promise<ReadEnd> {
  const watch = new SilenceWatch(options.clock, () => source.cancel());
  watch.allow(options.firstByteMs);
  const stop = () => void source.cancel();
  options.signal.addEventListener("abort", stop, { once: true });
  let first = true;
  let ending = false;
  try {
    for (;;) {
      const bytes = await readOrBreak(source);
      if (watch.expired !== null) return { kind: "silence", milliseconds: watch.expired };
      if (bytes === null) return { kind: "end" };
      if (!ending) watch.alive();
      if (first) watch.allow(options.idleMs);
      first = false;
      decoder.feed(bytes);
      for (const delta of decoder.takeDeltas()) {
        const taken = options.onDelta(delta);
        if (taken === undefined) continue;
        // Time that the user of the deltas takes is not the server's silence.
        watch.pause();
        await taken;
        watch.resume();
        if (!ending) watch.alive();
      }
      if (decoder.done) {
        await Promise.race([drained(source), options.clock.sleep(AFTER_DONE, watch.signal)]);
        return { kind: "end" };
      }
      if (decoder.finished && !ending) {
        ending = true;
        watch.allow(Math.min(options.idleMs, AFTER_FINISH));
      }
    }
  } catch (error) {
    if (watch.expired !== null) return { kind: "silence", milliseconds: watch.expired };
    if (error instanceof BrokenBody) return { kind: "broken" };
    throw error;
  } finally {
    watch.stop();
    options.signal.removeEventListener("abort", stop);
    await source.cancel();
  }
}

/** The connection broke; the runtime's words for it are dropped here. */
class BrokenBody extends Error {
  override readonly name = "BrokenBody";
}

async function readOrBreak(source: ByteSource): Promise<Uint8Array | null> {
  try {
    return await source.read();
  } catch {
    throw new BrokenBody();
  }
}

async function drained(source: ByteSource): Promise<void> {
  try {
    while (await source.read() !== null);
  } catch {
    // The reply is complete; how its connection ends does not matter.
  }
}

/** One timer for many reads: it looks at the last sign of life only when the time would be up. */
class SilenceWatch {
  expired: number | null = null;
  readonly #clock: Clock;
  readonly #onExpired: () => void;
  #last: number;
  #paused = false;
  #timer = new AbortController();

  constructor(clock: Clock, onExpired: () => void) {
    this.#clock = clock;
    this.#onExpired = onExpired;
    this.#last = clock.monotonic();
  }

  get signal(): AbortSignal {
    return this.#timer.signal;
  }

  alive(): void {
    this.#last = this.#clock.monotonic();
  }

  resume(): void {
    this.#paused = false;
  }

  /** Nothing is silence until {@link resume}. */
  pause(): void {
    this.#paused = true;
  }

  /** Allows `milliseconds` of silence from the last sign of life on. */
  allow(milliseconds: number): void {
    this.stop();
    this.#timer = new AbortController();
    this.#watch(milliseconds, this.#timer.signal).catch(() => {});
  }

  stop(): void {
    this.#timer.abort(OVER);
  }

  async #watch(milliseconds: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      if (this.#paused) this.#last = this.#clock.monotonic();
      const left = this.#last + milliseconds - this.#clock.monotonic();
      if (left <= 0) {
        this.expired = milliseconds;
        this.#onExpired();
        return;
      }
      await this.#clock.sleep(left, signal);
    }
  }
}
