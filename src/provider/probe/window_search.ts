/** Which lengths are tried to find the window, as few as will do. Pure. */

/** What is known so far, in tokens. */
export interface Search {
  /** The longest prompt whose start came back. */
  passed: number;
  /** The shortest whose start did not; null when there was none. */
  failed: number | null;
  /** What the last outcome suggests; 0 for nothing. */
  guess: number;
}

/** Shares of the claimed window. The last leaves room for the reply and for a count that is a little off. */
const SHARES = [0.25, 0.5, 0.9];
/** A smaller gap, in tokens and as a share of the larger size, is not worth a prompt. */
const GAP = { tokens: 256, share: 0.05 };

/** The sizes that are tried first, growing, none above `maxPrompt`. Without a claim `maxPrompt` takes its place. */
export function firstSizes(claimed: number | null, maxPrompt: number): number[] {
  const wanted = claimed === null
    ? [maxPrompt * 0.25, maxPrompt * 0.5, maxPrompt]
    : SHARES.map((share) => Math.min(claimed * share, maxPrompt));
  return [...new Set(wanted.map((size) => Math.floor(size)))];
}

/** The next size between what passed and what failed: the guess where it lies there, else the middle; null to end. */
export function nextSize({ passed, failed, guess }: Search): number | null {
  if (failed === null || failed - passed <= Math.max(GAP.tokens, failed * GAP.share)) return null;
  const size = Math.floor(guess > passed && guess < failed ? guess : (passed + failed) / 2);
  return size > passed && size < failed ? size : null;
}
