/** Keeps the next request within the window: old images go first, then old results, then the older part as a whole. */
import { AgentcliError } from "../errors.ts";
import { bytesUpTo, estimateOf, requestBytes } from "./chat_request.ts";
import { type Limits, limitsOf } from "./limits.ts";
import { tellBreak } from "./prefix_break.ts";
import type { Session } from "./session.ts";
import { showsImages } from "../session/item.ts";
import { cutResults, lastRoundStart, type Shortened, shortenOld } from "./shorten.ts";
import type { RunningTurn } from "./turn_options.ts";

/** Bytes a token has at most: what is too long even so is certainly too long. */
const MOST_BYTES_PER_TOKEN = 8;

/**
 * Makes room before a request where three quarters of the budget are used. In this order, each only where the one
 * before would not help for long: old images are left out; results before the last round are shortened in one batch;
 * the older part is summarised; results of the last round are cut. Throws `context_overflow` when a summary does not help
 * twice in a row, or when the user's words alone are certainly too long.
 */
export async function fitContext(session: Session, turn: RunningTurn): Promise<void> {
  const limits = limitsOf(session.model);
  if (estimateOf(session) <= limits.threshold) return;
  if (await leaveOutImages(session, turn, lastRoundStart(session.items)) && estimateOf(session) <= limits.relief) {
    return;
  }
  const shortened = shortenedTo(session, limits.target);
  const savedBytes = shortened === null ? 0 : shortened.savedBytes;
  const helps = estimateOf(session) - savedBytes / session.context.bytesPerToken <= limits.relief;
  // A little room would be full again at once, and each time the server reads anew: then rather a summary.
  if (helps || !await compact(session, turn)) {
    if (shortened !== null) await take(session, shortened, turn);
  }
  await cutLastRound(session, limits, turn);
  await judgeRest(session, limits, turn);
}

/**
 * Makes room after the server refused a request as too long; false when there is nothing left to leave out. Whatever
 * the estimate says, something is given up.
 */
export async function makeRoom(session: Session, turn: RunningTurn): Promise<boolean> {
  const limits = limitsOf(session.model);
  const before = requestBytes(session);
  await leaveOutImages(session, turn, lastRoundStart(session.items));
  const compacted = await compact(session, turn);
  const shortened = compacted ? null : shortenedTo(session, 0);
  if (shortened !== null) await take(session, shortened, turn);
  await cutLastRound(session, { ...limits, budget: limits.threshold }, turn);
  return requestBytes(session) < before;
}

/** Loaded when it is needed: most turns end without. */
async function compact(session: Session, turn: RunningTurn): Promise<boolean> {
  const { compactSession } = await import("./compact.ts");
  return await compactSession(session, { ...turn, trigger: "auto" });
}

function shortenedTo(session: Session, target: number): Shortened | null {
  const saveBytes = (estimateOf(session) - target) * session.context.bytesPerToken;
  return shortenOld(session.items, { end: lastRoundStart(session.items), saveBytes });
}

/** Leaves out the images before the item at `end`, but for those of the user's last words; false where there are none. */
async function leaveOutImages(session: Session, turn: RunningTurn, end: number): Promise<boolean> {
  if (!session.items.some(showsImages)) return false;
  const { leaveOutOldImages } = await import("./left_out_images.ts");
  return await leaveOutOldImages(session, turn, { end });
}

async function cutLastRound(session: Session, limits: Limits, turn: RunningTurn): Promise<void> {
  if (estimateOf(session) <= limits.budget) return;
  await leaveOutImages(session, turn, session.items.length);
  if (estimateOf(session) <= limits.budget) return;
  const { items, context } = session;
  const start = lastRoundStart(items);
  const results = items.slice(start).filter((item) => item.kind === "tool_result");
  const resultBytes = results.reduce((bytes, item) => bytes + context.sizeOf(item), 0);
  const others = requestBytes(session) - resultBytes;
  // A little below the budget: what is cut gets a note, and quoting in JSON makes text longer.
  const bytes = Math.max(Math.floor((limits.budget * context.bytesPerToken - others) * 0.85), 0);
  const cut = cutResults(items, { start, bytes });
  if (cut === null) return;
  await take(session, cut, turn);
  await turn.emit({ kind: "notice", text: `${cut.callIds.length} result(s) cut: the context has no room for more` });
}

async function take(session: Session, shortened: Shortened, turn: RunningTurn): Promise<void> {
  const bytesBefore = requestBytes(session);
  const bytesKept = bytesUpTo(session, shortened.first);
  session.items.splice(0, session.items.length, ...shortened.items);
  await tellBreak(session, turn, { reason: "shortened", bytesKept, bytesBefore, callIds: shortened.callIds });
}

/** What is still too long is sent and said, since the estimate may be wrong; only what is certainly too long is not. */
async function judgeRest(session: Session, limits: Limits, { emit }: RunningTurn): Promise<void> {
  const estimate = estimateOf(session);
  if (estimate <= limits.budget) return;
  const { windowSource } = session.model;
  const least = Math.floor(requestBytes(session) / MOST_BYTES_PER_TOKEN);
  if (windowSource !== "assumed" && least > limits.window) throw tooLong(estimate, limits.window);
  if (session.context.said.has("tight")) return;
  session.context.said.add("tight");
  await emit({
    kind: "notice",
    text: `the prompt has about ${estimate} tokens; of the window of ${limits.window} ` +
      `${windowSource === "assumed" ? "(assumed) " : ""}that leaves little or nothing for the reply`,
  });
}

/** The error for a prompt that no shortening makes fit. */
export function tooLong(tokens: number, window: number): AgentcliError {
  return new AgentcliError(
    "context_overflow",
    `the prompt has about ${tokens} tokens and the model's window ${window}; nothing more can be left out`,
    { hint: "give less at once (name files instead of attaching them), or give the model a larger window" },
  );
}
