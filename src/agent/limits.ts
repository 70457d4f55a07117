/** What a window leaves room for. Source: specification of the session engine, "Context". */
import type { ModelEntry } from "../config/types.ts";

/** Assumed when neither configuration nor server tells the window, until the server teaches better. */
export const ASSUMED_WINDOW = 8192;
/** No reply needs more; some servers refuse larger limits. */
const REPLY_LIMIT = 32_768;
/** A reply shorter than this is not worth asking for. */
const SMALLEST_REPLY = 64;
/** Kept free below the window, for what a server counts and nobody sees. Tokens. */
const MARGIN = 16;

/** Reply limit in tokens: what was asked for, else what the model's entry says, else a quarter of the window. */
export function replyLimit(window: number, entry: ModelEntry, asked: number | undefined): number {
  return asked ?? entry.maxTokens ?? Math.min(Math.max(Math.floor(window / 4), 256), REPLY_LIMIT);
}

/** Marks in the window, in tokens. */
export interface Limits {
  window: number;
  /** Kept for the reply: at most a quarter of the window, so that the reserve never forces a compaction by itself. */
  reserve: number;
  /** The longest prompt: window without reserve. */
  budget: number;
  /** Longer prompts are shortened: three quarters of the budget. */
  threshold: number;
  /** What shortening aims at, so that the next one is far away: a good third of the budget. */
  target: number;
  /** Shortening that leaves more than this, six tenths of the budget, would be needed again too soon. */
  relief: number;
}

/** The marks for a window and a reply limit. */
export function limitsOf(model: { contextWindow: number; maxTokens: number }): Limits {
  const window = model.contextWindow;
  const reserve = Math.min(model.maxTokens, Math.floor(window / 4));
  const budget = Math.max(window - reserve - MARGIN, 1);
  const share = (part: number) => Math.floor(budget * part);
  return { window, reserve, budget, threshold: share(0.75), relief: share(0.6), target: share(0.35) };
}

/** Share of the window that one result of a tool may take, and all results of one reply together. */
const RESULT_SHARE = { one: 1 / 8, all: 1 / 2 } as const;
/** Bytes that a result may have in any window: less would tell nothing. */
const SMALLEST_RESULT = 400;

/** Most bytes of one of so many results of a reply. */
export function resultLimit(given: { window: number; bytesPerToken: number; count: number }): number {
  const share = Math.min(RESULT_SHARE.one, RESULT_SHARE.all / Math.max(given.count, 1));
  return Math.max(Math.floor(given.window * share * given.bytesPerToken), SMALLEST_RESULT);
}

/** The reply limit of one request, so that prompt and reply fit into the window together (vLLM refuses others). */
export function fittingReply(model: { contextWindow: number; maxTokens: number }, promptTokens: number): number {
  const room = model.contextWindow - promptTokens - MARGIN;
  return Math.min(model.maxTokens, Math.max(room, SMALLEST_REPLY));
}
