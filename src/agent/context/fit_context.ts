/** Keeps the next request within the context window: tries one measure after the other, those first that lose least. */
import { AgentcliError } from "../../errors.ts";
import { isUsersWords, showsImages } from "../../session/item.ts";
import { bytesUpTo, estimateOf, reportCacheInvalidation, requestBytes } from "../chat_request.ts";
import { type Limits, limitsOf, SUMMARY_SHARE } from "./tokens.ts";
import { isWindowKnown, type Session } from "../session.ts";
import { cutResults, lastCallsStart, type Shortened, shortenOld } from "./shorten.ts";
import type { RunningTurn } from "../turn_options.ts";

/** Bytes a token has at most: what is too long even so is certainly too long. */
const MOST_BYTES_PER_TOKEN = 8;
/** A prompt of more than this share of the window leaves no room for a useful response. */
const FULL_SHARE = 0.9;
/** After so many such requests in a row, each after a summary, the turn ends: there is no room to work. */
const FULL_LIMIT = 2;

interface Goal {
  /** No further measure is taken below this. */
  enough: number;
  /** The hard limit: above it, results of the last tool calls are cut. */
  most: number;
}

/**
 * Makes room before a request; called where three quarters of the budget are used. Throws `context_overflow` when a
 * request is certainly too long, and when it fills the window twice in a row although everything was tried, a summary
 * too.
 */
export async function fitContext(session: Session, turn: RunningTurn): Promise<void> {
  const limits = limitsOf(session.model);
  const { context } = session;
  const compacted = await reduceContext(session, turn, { enough: limits.relief, most: limits.budget });
  const isFull = estimateOf(session) > limits.window * FULL_SHARE;
  if (!isFull) context.full = 0;
  else if (compacted && ++context.full >= FULL_LIMIT) throw noRoom(session);
  await checkRest(session, limits, turn);
}

/**
 * Makes room after the server refused a request as too long, or dropped a part of it; false when there is nothing left
 * to leave out. Whatever the estimate says, something is given up.
 */
export async function makeRoom(session: Session, turn: RunningTurn): Promise<boolean> {
  const limits = limitsOf(session.model);
  const [before, estimate] = [requestBytes(session), estimateOf(session)];
  await reduceContext(session, turn, {
    enough: Math.min(limits.relief, Math.floor(estimate * 0.7)),
    most: Math.min(limits.budget, Math.floor(estimate * 0.85)),
  });
  return requestBytes(session) < before;
}

/**
 * Drops old images, then cuts the results of the last tool calls if these alone are too large. Shortens old results in
 * one batch if that is enough for a while, otherwise summarizes the older part. What is still too much is cut
 * everywhere. Returns whether the session was summarized.
 */
async function reduceContext(session: Session, turn: RunningTurn, goal: Goal): Promise<boolean> {
  if (await dropImages(session, turn, lastCallsStart(session.items)) && estimateOf(session) <= goal.enough) {
    return false;
  }
  const { items } = session;
  const words = items.findLastIndex(isUsersWords);
  const older = lastCallsStart(items) > words + 1 || words > 0;
  const room = Math.floor(goal.most * (older ? 1 - SUMMARY_SHARE : 1));
  await cutLastResults(session, turn, { most: room, others: aloneBytes(session, words) });
  // No summary gets below what stays in any case.
  const alone = (aloneBytes(session, words) + lastResultBytes(session)) / session.context.bytesPerToken;
  const enough = Math.max(goal.enough, Math.min(alone + goal.most * SUMMARY_SHARE, goal.most));
  const shortened = shortenedTo(session, Math.min(limitsOf(session.model).target, goal.enough));
  const saved = (shortened?.savedBytes ?? 0) / session.context.bytesPerToken;
  if (estimateOf(session) - saved <= enough) {
    if (shortened !== null) await take(session, shortened, turn);
    return false;
  }
  // A little room would fill up again at once, and the server would reprocess the prompt each time.
  const { compactSession } = await import("./compact.ts");
  const compacted = await compactSession(session, { ...turn, trigger: "auto" });
  if (!compacted && shortened !== null) await take(session, shortened, turn);
  if (estimateOf(session) <= goal.most) return compacted;
  const rest = shortenedTo(session, 0);
  if (rest !== null) await take(session, rest, turn);
  await dropImages(session, turn, items.length);
  await cutLastResults(session, turn, { most: goal.most, others: requestBytes(session) - lastResultBytes(session) });
  return compacted;
}

function shortenedTo(session: Session, target: number): Shortened | null {
  const saveBytes = (estimateOf(session) - target) * session.context.bytesPerToken;
  return shortenOld(session.items, { end: lastCallsStart(session.items), saveBytes });
}

/**
 * Leaves out the images before the item at `end`, but for those of the user's last words; false where there are none.
 */
async function dropImages(session: Session, turn: RunningTurn, end: number): Promise<boolean> {
  if (!session.items.some(showsImages)) return false;
  const { dropOldImages } = await import("./vision.ts");
  return await dropOldImages(session, turn, { end });
}

/**
 * Bytes that nothing can remove: system message and tools, the user's last words, the last tool calls without results.
 */
function aloneBytes(session: Session, words: number): number {
  const { items, context } = session;
  const start = lastCallsStart(items);
  const kept = items.filter((item, at) => at === words || (at >= start && item.kind !== "tool_result"));
  return kept.reduce((bytes, item) => bytes + context.sizeOf(item), bytesUpTo(session, 0));
}

function lastResultBytes({ items, context }: Session): number {
  const results = items.slice(lastCallsStart(items)).filter((item) => item.kind === "tool_result");
  return results.reduce((bytes, item) => bytes + context.sizeOf(item), 0);
}

/** Cuts results of the last tool calls where they and `others`, in bytes, have more than `most` tokens. */
async function cutLastResults(
  session: Session,
  turn: RunningTurn,
  bounds: { most: number; others: number },
): Promise<void> {
  const room = bounds.most * session.context.bytesPerToken - bounds.others;
  const sent = lastResultBytes(session);
  if (sent <= room) return;
  const start = lastCallsStart(session.items);
  // What is cut gets a note, and quoting in JSON makes text longer.
  const cut = cutResults(session.items, { start, bytes: Math.max(Math.floor(room * 0.85), 0) });
  if (cut === null) return;
  await take(session, cut, turn);
  await turn.emit({ kind: "notice", text: `${cut.callIds.length} result(s) cut: the context window is full` });
}

/** Bytes of a result that no model was seen to fall silent after. Source: trials of Gemma 4 26B, April 2026. */
const QUIET_BYTES = 1200;

/** Cuts the last results to what no model falls silent after, and those that follow; false where they are no longer. */
export async function cutForSilence(session: Session, turn: RunningTurn): Promise<boolean> {
  const { items, context } = session;
  const start = items.findLastIndex((item) => item.kind === "assistant" && item.calls.length > 0);
  const count = items.slice(start).filter(({ kind }) => kind === "tool_result").length;
  const cut = start === -1 ? null : cutResults(items, { start, bytes: count * QUIET_BYTES });
  if (cut === null || context.mostResult === QUIET_BYTES) return false;
  context.mostResult = QUIET_BYTES;
  await take(session, cut, turn);
  await turn.emit({
    kind: "notice",
    text: `the model says nothing behind long results: cut to about ${QUIET_BYTES} bytes each from here on ` +
      "(max_result of the model in providers.yaml sets another limit)",
  });
  return true;
}

async function take(session: Session, shortened: Shortened, turn: RunningTurn): Promise<void> {
  const bytesBefore = requestBytes(session);
  const bytesKept = bytesUpTo(session, shortened.first);
  session.items.splice(0, session.items.length, ...shortened.items);
  await reportCacheInvalidation(session, turn, {
    reason: "shortened",
    bytesKept,
    bytesBefore,
    callIds: shortened.callIds,
  });
}

/**
 * A prompt that is still too long is sent with a notice, since the estimate may be wrong; only what is certainly too
 * long is not.
 */
async function checkRest(session: Session, limits: Limits, { emit }: RunningTurn): Promise<void> {
  const estimate = estimateOf(session);
  if (estimate <= limits.budget) return;
  const isKnown = isWindowKnown(session.model);
  const least = Math.floor(requestBytes(session) / MOST_BYTES_PER_TOKEN);
  if (isKnown && least > limits.window) throw tooLong(estimate, limits.window);
  if (session.context.said.has("tight")) return;
  session.context.said.add("tight");
  await emit({
    kind: "notice",
    text: session.model.windowSource === "guessed"
      ? "the prompt is about as long as one that the server refused as too long"
      : `the prompt has about ${estimate} tokens; of the window of ${limits.window} ` +
        `${isKnown ? "" : "(assumed) "}that leaves little or nothing for the response`,
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

function noRoom(session: Session): AgentcliError {
  const { contextWindow, windowSource } = session.model;
  const fixed = Math.ceil(bytesUpTo(session, 0) / session.context.bytesPerToken);
  return new AgentcliError(
    "context_overflow",
    `the context window${
      windowSource === "guessed" ? "" : ` of ${contextWindow} tokens`
    } is full again after each summary ` +
      `(${fixed} of them are the system prompt and the tools)`,
    { hint: "give the model a larger window on the server, or ask for less at once" },
  );
}
