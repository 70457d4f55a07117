/** Does the server stop writing when the reader leaves? Seen in how long the next reply waits. */
import { AgentcliError } from "../../errors.ts";
import type { StopFinding } from "./findings.ts";
import { question, type Subject } from "./subject.ts";

/** Tokens that a server would go on writing. */
const LONG_REPLY = 2048;
/** The next reply may take this much longer than usual: a server needs a moment to notice. */
const ALLOWED = { times: 3, plusMs: 1000 };

/**
 * Breaks a long reply off at its first piece and asks for a short one. `usualMs` is the time to the first token of a
 * short prompt; null where it is not known. Servers that write several replies at once are told by their speed alone.
 */
export async function checkStop(
  subject: Subject,
  options: { usualMs: number | null; signal: AbortSignal },
): Promise<StopFinding> {
  const { usualMs, signal } = options;
  await breakOff(subject, signal);
  const asked = { messages: question("Say yes."), maxTokens: 16 };
  const { firstMs } = await subject.ask(asked, { signal });
  const stopped = firstMs <= ALLOWED.plusMs + ALLOWED.times * (usualMs ?? 0);
  return { nextFirstTokenMs: firstMs, usualFirstTokenMs: usualMs, stopped };
}

async function breakOff(subject: Subject, signal: AbortSignal): Promise<void> {
  const leaving = new AbortController();
  const left = new AgentcliError("interrupted", "broken off on purpose");
  try {
    await subject.ask({
      messages: question("Count from 1 to 1000, each number in words on a line of its own. Do not leave any out."),
      maxTokens: LONG_REPLY,
    }, { signal: AbortSignal.any([signal, leaving.signal]), onPiece: () => leaving.abort(left) });
  } catch (error) {
    if (signal.aborted || error !== left) throw error;
  }
}
