/** A file that is longer than one reply may be: the model is told once a turn to write it in parts. */
import type { ChatResponse } from "../provider/types.ts";
import type { Session } from "./session.ts";
import { unparsedTextCall } from "./text_calls.ts";
import type { ContinuePrompt, RunningTurn } from "./turn_options.ts";

const WRITE = "Write";
/** Fewest lines that are asked for at once. */
const LEAST_LINES = 20;

/** Returns how to continue a Write call whose arguments were cut off; null for any other call, and for a second one. */
export async function writeInParts(
  { finish, calls }: ChatResponse,
  session: Session,
  { state }: Pick<RunningTurn, "state">,
): Promise<string | null> {
  const last = calls.at(-1);
  if (finish !== "length" || last === undefined || state.askedForParts === true) return null;
  const { meantCall } = await import("../tools/meant_call.ts");
  const meant = meantCall({ name: last.name, input: {} }, session.tools);
  if (meant === null || "problem" in meant || meant.tool.name !== WRITE) return null;
  state.askedForParts = true;
  return inParts(last.raw, session);
}

/**
 * Returns the prompt for the parts of a file where a call of Write that is written as text was cut; null for any other
 * reply.
 */
export async function askForParts(
  text: string,
  session: Session,
  { state }: Pick<RunningTurn, "state">,
): Promise<ContinuePrompt | null> {
  if (state.askedForParts === true || (await unparsedTextCall(text, session.schemas))?.name !== WRITE) return null;
  state.askedForParts = true;
  const notice = "the response ended inside a call of Write; asked for the file in parts";
  return { text: inParts(text, session), notice };
}

/** Half of what fitted into one reply, so that the next fits with room to spare. */
function inParts(written: string, { model }: Session): string {
  const lines = Math.max(Math.floor((written.match(/\\n|\n/g)?.length ?? 0) / 2), LEAST_LINES);
  return `Your reply was cut at its length limit (${model.maxTokens} tokens) inside this call: nothing was written. Write ` +
    `the file in parts: call Write with its first ${lines} lines at most. Then call Edit for each further part, with the last ` +
    "line of the file as old_string, and that line followed by the part as new_string.";
}
