/**
 * A command while it runs in its sandbox. What was hidden when it started can slip out of the view: somebody saves a
 * protected file anew, or adds a line to a marker. So what the command says is passed on only after a look at the protected
 * paths that began when it had been said; the first look that finds some exposed ends the command.
 */
import { type ProcessOptions, type ProcessOutcome, run } from "../../platform/process.ts";
import { within } from "../../platform/sleep.ts";
import { basename, isWithin } from "../../platform/path.ts";
import type { ProtectedSet } from "../policy/protected.ts";
import { NOTHING_PROTECTED, type QuarantineEntry, type SandboxedCommand } from "./sandbox.ts";

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

/** Protected paths that a command could see. */
export interface Exposure {
  /** Empty when a look failed: nobody can say then that nothing was exposed. */
  paths: readonly string[];
  /** When the last look began that found nothing exposed, milliseconds since 1970. */
  since: number;
  /** What the command made since then, moved away; null when it made nothing. */
  taken: QuarantineEntry | null;
  /** Real paths of what `sandbox.write` names: changed files there can hold what was exposed too. */
  written: readonly string[];
}

/** How a command ended, and what was found meanwhile. */
export interface WatchedOutcome extends ProcessOutcome {
  /** Output from then on was dropped, and the command was ended; null when nothing was exposed. */
  exposed: Exposure | null;
  quarantined: readonly QuarantineEntry[];
  /** Why the last look failed; to be thrown once what was exposed is dealt with. Null when it did not. */
  failure: unknown;
}

/** Runs a command in its sandbox. `onOutput` gets what may be passed on. */
export async function runWatched(
  command: SandboxedCommand,
  protection: ProtectedSet | undefined,
  options: Omit<ProcessOptions, "argv" | "cwd" | "env">,
): Promise<WatchedOutcome> {
  const stop = new AbortController();
  const signals = [stop.signal, ...options.signal === undefined ? [] : [options.signal]];
  const quarantined: QuarantineEntry[] = [];
  let exposed: Exposure | null = null;
  let failure: unknown = null;
  let since = Date.now();
  let held: Parameters<ProcessOptions["onOutput"]>[] = [];
  let heldBytes = 0;
  let passing = Promise.resolve();
  let [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { argv, env, cwd, written } = command;
  const running = run({
    ...{ ...options, argv, env, cwd, signal: AbortSignal.any(signals) },
    onOutput(...piece) {
      if (stop.signal.aborted) return;
      held.push(piece);
      heldBytes += piece[0].length;
      arrived.resolve();
      return heldBytes > MOST_HELD ? released.promise : undefined;
    },
  });
  const look = async () => {
    const [pieces, isReleased, start] = [held, released, Date.now()];
    [held, heldBytes] = [[], 0];
    [arrived, released] = [Promise.withResolvers(), Promise.withResolvers()];
    try {
      protection?.refresh();
      const report = await command.look(await protection?.hidden() ?? NOTHING_PROTECTED);
      failure = report.failure;
      if (report.quarantined !== null) quarantined.push(report.quarantined);
      if (report.exposed.length > 0 || failure !== null) {
        exposed ??= { paths: report.exposed, since, taken: null, written };
      }
      if (exposed !== null || quarantined.length >= MOST_QUARANTINED) stop.abort();
      if (exposed !== null) return;
      since = start;
      // Who reads slowly makes the command wait, never the next look.
      passing = passing.then(async () => {
        for (const piece of pieces) await options.onOutput(...piece);
      });
    } catch (error) {
      // What nobody could look at counts as exposed.
      failure = error;
      exposed ??= { paths: [], since, taken: null, written };
      stop.abort();
    } finally {
      passing = passing.finally(isReleased.resolve);
    }
  };
  const takeAway = async (from: Exposure) => {
    try {
      const taken = await command.takeAway((path, made) => isNamedByRule(path, { made, protection }));
      exposed = { ...from, taken };
    } catch (error) {
      failure ??= error;
    }
  };
  let isOver = false;
  const over = running.then(() => {}, () => {}).then(() => void (isOver = true));
  try {
    for (let cost = 0; !isOver && !stop.signal.aborted;) {
      const pause = Math.max(PAUSE_MS, COST_TIMES * cost);
      await within(pause, over);
      if (held.length === 0) await within((QUIET_TIMES - 1) * pause, Promise.race([over, arrived.promise]));
      if (isOver) break;
      const start = performance.now();
      await look();
      cost = performance.now() - start;
    }
    released.resolve();
    const outcome = await running;
    await look();
    if (exposed !== null) await takeAway(exposed);
    // The next session looks again for what could not be moved away.
    if (failure === null) await command.close();
    await passing;
    return { ...outcome, exposed, quarantined, failure };
  } catch (error) {
    stop.abort();
    released.resolve();
    await over;
    throw error;
  }
}

/** Whether a rule from before names a path in full: its name tells nothing then, and it is the file that was saved. */
function isNamedByRule(
  path: string,
  { made, protection }: { made: readonly string[]; protection: ProtectedSet | undefined },
): boolean {
  const rule = protection?.rule(path) ?? null;
  if (rule === null || rule.copyOf !== undefined || made.some((one) => isWithin(one, rule.marker))) return false;
  return rule.pattern.replace(/^.*\/(?=[^/])|\/$/g, "") === basename(path);
}
