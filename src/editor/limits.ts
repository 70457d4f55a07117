/** Limits of the editors (seed §8). Characters are code points: an emoji counts once. */
export const LIMITS = {
  rule: 12_000,
  workflow: 12_000,
  globalRules: 6_000,
  activeTools: 100,
  parallelSessions: 5,
} as const;

/** Code points of a text, its byte order mark not counted. */
export function codePoints(text: string): number {
  let count = 0;
  for (const character of text) if (character !== "\ufeff" || count > 0) count += 1;
  return count;
}

/** Why a text is too long; null when it is not. */
export function lengthProblem(text: string, limit: number): string | null {
  const count = codePoints(text);
  return count <= limit ? null : `it has ${count} characters; the editor takes at most ${limit}`;
}
