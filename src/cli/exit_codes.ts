/** The exit codes in words, for help and documentation; the numbers belong to `src/errors.ts`. */
export const EXIT_CODES: readonly (readonly [string, string])[] = [
  ["0", "done"],
  ["1", "the work failed: the turn ended in an error, a check found something"],
  ["2", "wrong usage: unknown verb or option, missing or malformed argument"],
  ["3", "configuration: providers.yaml unusable, unknown provider, model, role or session, unusable home"],
  ["4", "provider unreachable, or the connection broke and retries ran out"],
  ["5", "provider refused the key (401/403) or no key resolves"],
  ["6", "refused by policy: no-cloud boundary, or a permission that nobody was there to give"],
  ["7", "a limit was reached: --max-turns, context cannot fit, --timeout"],
  ["130, 143", "interrupted (SIGINT), terminated (SIGTERM)"],
];
