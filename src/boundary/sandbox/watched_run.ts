/**
 * Runs a command in its sandbox and watches it. A hidden path can become visible meanwhile, when somebody saves a
 * protected file or adds a line to a marker. So output is passed on only after a look at the protected paths that
 * started after it was written, and the first look that finds an exposed path ends the command.
 */
import { type ProcessOptions, type ProcessOutcome, run } from "../../platform/process.ts";
import { within } from "../../platform/sleep.ts";
import { type QuarantineEntry, quarantineNotice, type SandboxedCommand, takenNotice } from "./sandbox.ts";

/** Milliseconds between looks while output waits, and at least this many times the duration of a look. */
const PAUSE_MS = 200;
const COST_TIMES = 4;
/** The pause is this many times longer while no output waits. */
const QUIET_TIMES = 5;
/** Bytes of output that wait for a look; beyond them the command has to wait. */
const MOST_HELD = 1024 * 1024;
/** A command is ended after this many quarantines. */
const MOST_QUARANTINED = 10;

/** Names an exposed path that is unknown. */
export const UNKNOWN_PATH = "a protected path";

/** How to handle what a command left behind. */
export interface WatchOptions {
  /** How notices name the command. */
  name: string;
  notify: ((text: string) => unknown) | undefined;
  /**
   * Protects files that changed since a time, below the roots and in more places, because they can contain what was
   * exposed at a path. Called only after an exposure.
   */
  protectChanges: ((since: number, path: string, places: readonly string[]) => Promise<unknown>) | undefined;
}

/** How a command ended, and what the looks found. */
export interface WatchedOutcome extends ProcessOutcome {
  /**
   * Protected paths that the command could see: later output was dropped, and the command was ended. Empty if a look
   * failed, because then anything could have been exposed. Null if nothing was exposed.
   */
  exposed: readonly string[] | null;
  quarantined: readonly QuarantineEntry[];
}

/** Output since the start of the last look; it is passed on when a later look finds nothing. */
class HeldOutput {
  readonly pieces: Parameters<ProcessOptions["onOutput"]>[] = [];
  bytes = 0;
  readonly arrived = Promise.withResolvers<void>();
  readonly released = Promise.withResolvers<void>();
}

/**
 * Runs a command in its sandbox. `onOutput` gets the output that may be passed on. If a look fails, throws its error
 * after the exposure is handled.
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
  /** The start of the last look that found nothing exposed. */
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
      // After a failed look, assume an exposure.
      failure = error;
      exposed ??= [];
    }
    if (exposed !== null || quarantined.length >= MOST_QUARANTINED) stop.abort();
    if (exposed === null) {
      since = start;
      // A slow reader delays the command, never the next look.
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
    // After a failure the note stays, so that the next session checks again.
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
