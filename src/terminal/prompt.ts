/** Questions on a terminal: visible lines, and hidden ones. */
import { AgentcliError } from "../errors.ts";
import type { Io } from "../platform/io.ts";
import { orAborted } from "../platform/sleep.ts";

export type Asking = Pick<Io, "stdin" | "stderr" | "clock">;

/** Longest answer that is accepted, in bytes. */
const ANSWER_LIMIT = 64 * 1024;
/** Input that is there within this time was typed before the question could be read. Milliseconds. */
const TYPED_AHEAD_MS = 60;
/** Reads of typed-ahead input that are dropped; a person who holds a key down is not answering either. */
const TYPED_AHEAD_READS = 100;

type Reading = Promise<Uint8Array<ArrayBuffer> | null>;

/**
 * Drops what was typed before the question was shown, since it answers something else, and gives the read that waits
 * for the answer (in an object, since a promise of a promise is none).
 */
async function freshRead({ stdin, clock }: Asking): Promise<{ first: Reading }> {
  let reading: Reading = stdin.read();
  for (let dropped = 0; dropped < TYPED_AHEAD_READS; dropped++) {
    const early = await Promise.race([reading, clock.sleep(TYPED_AHEAD_MS).then(() => "none" as const)]);
    if (early === "none" || early === null) return { first: reading };
    reading = stdin.read();
  }
  return { first: reading };
}

/**
 * One line from standard input, without its end; null when the input ended before any. What came after the line in the
 * same read is dropped: a terminal gives line by line.
 */
async function readLine(stdin: Io["stdin"], first: Reading): Promise<string | null> {
  const decoder = new TextDecoder();
  let line = "";
  let size = 0;
  for (let reading = first;; reading = stdin.read()) {
    const bytes = await reading;
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
 * Asks `question` and returns the line that was typed after it was shown; null when the input ended. Without a terminal
 * nobody can answer: `usage`. Rejects with the signal's reason.
 */
export async function askLine(
  io: Asking,
  question: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<string | null> {
  if (!io.stdin.isTerminal || !io.stderr.isTerminal) {
    throw new AgentcliError("usage", "a question needs an answer, and standard input is not a terminal");
  }
  const { first } = await freshRead(io);
  await io.stderr.write(question);
  const line = readLine(io.stdin, first);
  return await (signal === undefined ? line : orAborted(line, signal));
}

/**
 * Asks a yes-or-no question; only yes is true, and where there is a `diff`, `d` shows it and asks again. Without a
 * terminal it throws `usage`, which says to pass `--yes`: a headless run never waits for an answer that cannot come.
 * Callers ask nothing when `--yes` was given.
 */
export async function confirm(
  io: Asking,
  question: string,
  { diff }: { diff?: () => Promise<void> } = {},
): Promise<boolean> {
  if (!io.stdin.isTerminal || !io.stderr.isTerminal) {
    throw new AgentcliError("usage", `not confirmed, so nothing changed: ${question}`, {
      hint: "nobody can be asked, since standard input is not a terminal: run it in one, or again with --yes",
    });
  }
  const shown = diff === undefined ? `${question} [y/N] ` : `${question} d shows the diff. [y/N] `;
  for (let answer = await askLine(io, shown);; answer = await askLine(io, shown)) {
    if (diff === undefined || !/^\s*d(iff)?\s*$/i.test(answer ?? "")) return isYes(answer);
    await diff();
  }
}

/** Longest line that is accepted, in characters. */
const LINE_LIMIT = 64 * 1024;

/** The text so far, or how the question ended. */
export type HiddenLine =
  | { kind: "typing"; text: string }
  | { kind: "done"; text: string }
  | { kind: "ended" }
  | { kind: "interrupted" };

/** The line after one more character: enter ends it, backspace and control-U take back, control-C and -D give up. */
export function typed(line: HiddenLine, character: string): HiddenLine {
  if (line.kind !== "typing") return line;
  const { text } = line;
  if (character === "\r" || character === "\n") return { kind: "done", text };
  if (character === "\x03") return { kind: "interrupted" };
  if (character === "\x04") return text === "" ? { kind: "ended" } : line;
  if (character === "\x7f" || character === "\b") return { kind: "typing", text: [...text].slice(0, -1).join("") };
  if (character === "\x15") return { kind: "typing", text: "" };
  return { kind: "typing", text: text + character };
}

/**
 * Asks for a line that is not shown while it is typed; null when the input ended. The terminal is set back whatever
 * happens. Without a terminal it is `usage`; control-C is `interrupted`, SIGTERM and SIGHUP are `terminated`.
 */
export async function askHidden(
  io: Pick<Io, "stdin" | "stderr" | "onSignal">,
  question: string,
): Promise<string | null> {
  if (!io.stdin.isTerminal || !io.stderr.isTerminal) {
    throw new AgentcliError("usage", "a question needs an answer, and standard input is not a terminal");
  }
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  const release = io.onSignal((signal) =>
    stopped.reject(new AgentcliError(signal === "SIGINT" ? "interrupted" : "terminated", "stopped; nothing changed"))
  );
  // Before the question is shown: what is typed at once must not be shown either.
  io.stdin.setRaw(true);
  try {
    await io.stderr.write(question);
    const line = await Promise.race([readHidden(io.stdin), stopped.promise]);
    if (line.kind === "interrupted") throw new AgentcliError("interrupted", "stopped; nothing changed");
    return line.kind === "done" ? line.text : null;
  } finally {
    io.stdin.setRaw(false);
    release();
    await io.stderr.write("\n");
  }
}

async function readHidden(stdin: Io["stdin"]): Promise<HiddenLine> {
  const decoder = new TextDecoder();
  let line: HiddenLine = { kind: "typing", text: "" };
  while (line.kind === "typing") {
    const bytes = await stdin.read();
    if (bytes === null) return line.text === "" ? { kind: "ended" } : { kind: "done", text: line.text };
    for (const character of decoder.decode(bytes, { stream: true })) line = typed(line, character);
    if (line.kind === "typing" && line.text.length > LINE_LIMIT) {
      throw new AgentcliError("usage", "the answer is too long");
    }
  }
  return line;
}
