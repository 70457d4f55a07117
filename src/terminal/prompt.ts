/** Questions to the person at the terminal. They go to stderr, so that stdout stays the result alone. */
import { AgentcliError } from "../errors.ts";
import type { Io } from "../platform/io.ts";

/** What a question needs of the outside. */
export type Asking = Pick<Io, "stdin" | "stderr">;

/** Longest answer that is taken, in bytes. */
const ANSWER_LIMIT = 64 * 1024;

/**
 * One line from standard input, without its end; null when the input ended before any. What came after the line in the
 * same read is dropped: a terminal gives line by line.
 */
async function readLine(stdin: Io["stdin"]): Promise<string | null> {
  const decoder = new TextDecoder();
  let line = "";
  let size = 0;
  while (true) {
    const bytes = await stdin.read();
    if (bytes === null) return line === "" ? null : line;
    size += bytes.length;
    line += decoder.decode(bytes, { stream: true });
    const end = line.indexOf("\n");
    if (end >= 0) return line.slice(0, end).replace(/\r$/, "");
    if (size > ANSWER_LIMIT) throw new AgentcliError("usage", "the answer is too long");
  }
}

/** Whether an answer means yes; anything else, an empty one too, is no. */
export function isYes(answer: string | null): boolean {
  return answer !== null && /^\s*y(es)?\s*$/i.test(answer);
}

/**
 * Asks `question` and gives the line that was typed; null when the input ended. Without a terminal nobody can answer:
 * `usage`.
 */
export async function askLine(io: Asking, question: string): Promise<string | null> {
  if (!io.stdin.isTerminal || !io.stderr.isTerminal) {
    throw new AgentcliError("usage", "a question needs an answer, and standard input is not a terminal");
  }
  await io.stderr.write(question);
  return await readLine(io.stdin);
}

/**
 * Asks a yes-or-no question; only yes is true. Without a terminal it throws `usage`, which says to pass `--yes`: a
 * headless run never waits for an answer that cannot come. Callers ask nothing when `--yes` was given.
 */
export async function confirm(io: Asking, question: string): Promise<boolean> {
  if (!io.stdin.isTerminal || !io.stderr.isTerminal) {
    throw new AgentcliError("usage", `not done without a yes: ${question}`, {
      hint: "pass --yes: standard input is not a terminal, so nobody can be asked",
    });
  }
  return isYes(await askLine(io, `${question} [y/N] `));
}
