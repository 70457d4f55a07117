/**
 * A command while it runs in its sandbox. What was hidden when it started can slip out of the view: somebody saves a
 * protected file anew, or adds a line to a marker. So what the command says is passed on only after a look at the protected
 * paths that began when it had been said; the first look that finds some exposed ends the command.
 */
import { type ProcessOptions, type ProcessOutcome, run } from "../../platform/process.ts";
import { within } from "../../platform/sleep.ts";
import { type QuarantineEntry, quarantineNotice, type SandboxedCommand, takenNotice } from "./sandbox.ts";

/** Milliseconds from the end of a look to the next, while output waits; at least so many times what a look took. */
const PAUSE_MS = 200;
const COST_TIMES = 4;
/** While none waits, so many times that. */
const QUIET_TIMES = 5;
/** Bytes that wait for a look; what the command says beyond them waits in the command. */
const MOST_HELD = 1024 * 1024;
/** A command that makes what could run code later again and again is ended. */
const MOST_QUARANTINED = 10;

/** Stands for what was exposed where nobody knows. */
export const UNKNOWN_PATH = "a protected path";

/** How what a command left is dealt with. */
export interface WatchOptions {
  /** How notices name the command. */
  name: string;
  notify: ((text: string) => unknown) | undefined;
  /**
   * Protects what changed since then, below the roots and in more places: any of it can hold what was exposed at a path.
   * Where it is called, that path was exposed.
   */
  protectChanges: ((since: number, path: string, places: readonly string[]) => Promise<unknown>) | undefined;
}

/** How a command ended, and what was found meanwhile. */
export interface WatchedOutcome extends ProcessOutcome {
  /**
   * Protected paths that it could see: output from then on was dropped, and the command was ended. Empty when a look failed:
   * nobody can say then that nothing was exposed. Null when nothing was.
   */
  exposed: readonly string[] | null;
  quarantined: readonly QuarantineEntry[];
}

/** Output that came since the last look began: it is passed on when a later one has found nothing. */
class HeldOutput {
  readonly pieces: Parameters<ProcessOptions["onOutput"]>[] = [];
  bytes = 0;
  readonly arrived = Promise.withResolvers<void>();
  readonly released = Promise.withResolvers<void>();
}

/**
 * Runs a command in its sandbox. `onOutput` gets what may be passed on. Throws what kept a look from its end, once what was
 * exposed is dealt with.
 */
export async function runWatched(
  command: SandboxedCommand,
  { name, notify, protectChanges, ...options }: Omit<ProcessOptions, "argv" | "cwd" | "env"> & WatchOptions,
): Promise<WatchedOutcome> {
  const stop = new AbortController();
  const signals = [stop.signal, ...options.signal === undefined ? [] : [options.signal]];
  const quarantined: QuarantineEntry[] = [];
  let exposed: readonly string[] | null = null;
  let failure: unknown = null;
  /** When the last look began that found nothing exposed. */
  let since = Date.now();
  let held = new HeldOutput();
  let passing = Promise.resolve();
  const { argv, env, cwd } = command;
  const running = run({
    ...{ ...options, argv, env, cwd, signal: AbortSignal.any(signals) },
    onOutput(...piece) {
      if (stop.signal.aborted) return;
      held.pieces.push(piece);
      held.bytes += piece[0].length;
      held.arrived.resolve();
      return held.bytes > MOST_HELD ? held.released.promise : undefined;
    },
  });
  const look = async () => {
    const [{ pieces, released }, start] = [held, Date.now()];
    held = new HeldOutput();
    try {
      const report = await command.look();
      failure = null;
      if (report.quarantined !== null) quarantined.push(report.quarantined);
      if (report.exposed.length > 0) exposed ??= report.exposed;
    } catch (error) {
      // What nobody could look at counts as exposed.
      failure = error;
      exposed ??= [];
    }
    if (exposed !== null || quarantined.length >= MOST_QUARANTINED) stop.abort();
    if (exposed === null) {
      since = start;
      // Who reads slowly makes the command wait, never the next look.
      passing = passing.then(async () => {
        for (const piece of pieces) await options.onOutput(...piece);
      });
    }
    passing = passing.finally(released.resolve);
  };
  const tidyUp = async ([path = UNKNOWN_PATH]: readonly string[]) => {
    try {
      const taken = await command.takeAway();
      if (taken !== null) await notify?.(takenNotice(taken, path));
    } catch (error) {
      failure ??= error;
    }
    await protectChanges?.(since, path, command.written);
  };
  let isOver = false;
  const over = running.then(() => {}, () => {}).then(() => void (isOver = true));
  try {
    for (let cost = 0; !isOver && !stop.signal.aborted;) {
      const pause = Math.max(PAUSE_MS, COST_TIMES * cost);
      await within(pause, over);
      if (held.bytes === 0) await within((QUIET_TIMES - 1) * pause, Promise.race([over, held.arrived.promise]));
      if (isOver) break;
      const start = performance.now();
      await look();
      cost = performance.now() - start;
    }
    held.released.resolve();
    const outcome = await running;
    await look();
    for (const entry of quarantined) await notify?.(quarantineNotice(name, entry));
    if (exposed !== null) await tidyUp(exposed);
    // The next session looks again for what could not be moved away.
    if (failure === null) await command.close();
    await passing;
    if (failure !== null) throw failure;
    return { ...outcome, exposed, quarantined };
  } catch (error) {
    stop.abort();
    held.released.resolve();
    await over;
    throw error;
  }
}
