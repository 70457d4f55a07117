/** Several runs of one measurement, and the middle of what they gave. */
import { AgentcliError } from "../../errors.ts";
import type { Clock } from "../../platform/io.ts";
import type { Figure } from "./findings.ts";

/** Runs of a measurement that is quick. */
export const RUNS = 3;
/** Milliseconds; a rate over a shorter time is mostly noise. */
export const MEASURABLE = 5;
/** Milliseconds after which no further run of the same measurement begins. */
const ENOUGH = 15_000;

/** The median, and how many there were; null of none. */
export function figureOf(values: readonly number[]): Figure | null {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half];
  if (upper === undefined) return null;
  const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? upper)) / 2;
  return { median, runs: sorted.length };
}

/**
 * Repeats `run`: three times, fewer when it is slow. A failure ends it: that of the first run is thrown, after that the
 * runs before it count.
 */
export async function repeated<T>(clock: Clock, run: () => Promise<T>): Promise<[T, ...T[]]> {
  const started = clock.monotonic();
  const results: [T, ...T[]] = [await run()];
  while (results.length < RUNS && clock.monotonic() - started < ENOUGH) {
    try {
      results.push(await run());
    } catch (error) {
      if (!(error instanceof AgentcliError)) throw error;
      break;
    }
  }
  return results;
}
