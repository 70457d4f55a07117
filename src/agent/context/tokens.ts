/**
 * Tokens: how many bytes make one, what a response's usage proves, and what a window leaves room for. No tokenizer is
 * known here: the ratio starts at a usual value and follows the server's counts. Source: specification of the session
 * engine, "Context".
 */
import type { ModelEntry } from "../../config/types.ts";
import { MARGIN, SMALLEST_RESPONSE } from "../../provider/chat/request_body.ts";

/** Bytes of a request for one token, before any response corrects it: English and code, JSON quoting included. */
export const USUAL_RATIO = 4;
/** No tokenizer has a ratio outside of this; such numbers are made up (KoboldCpp counts 100 for everything). */
const PLAUSIBLE = { least: 1, most: 8 };

/** Returns the estimated tokens of a number of bytes, rounded up. */
export function estimateTokens(bytes: number, bytesPerToken: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

type UsageVerdict =
  /** The prompt was counted whole: the ratio may follow it. */
  | { kind: "whole"; bytesPerToken: number }
  /**
   * The server seems to have dropped a part of the prompt; not `certain` where the count may leave out its cache.
   * `fell`: the prompt grew and its count went down.
   */
  | { kind: "cut"; certain: boolean; fell: boolean }
  /** The number is made up, or counts only what was not in the server's cache. */
  | { kind: "unusable" };

export interface CountedPrompt {
  promptTokens: number;
  bytes: number;
  /** Of them, not in the request before. */
  newBytes: number;
  bytesPerToken: number;
  /** Least tokens the prompt can have, see {@link leastTokens}, or `enough`; asked only when it matters. */
  least(enough: number): number;
  /** The prompt that this one begins with, where that was counted whole. */
  before: {
    promptTokens: number;
    /** Tokens that a template may leave out now and showed then. */
    slack: number;
    /** Least tokens of what is new. */
    leastNew(enough: number): number;
  } | null;
}

/** KoboldCpp, when tools are in the request: its numbers are the same for every response (wire reference, §6.5). */
const MADE_UP = 100;
/** Below this share of the estimate a count means that text is missing. */
const MISSING_SHARE = 0.6;
/** Tokens that templates differ by, from one prompt to the next. */
const TEMPLATE_SLACK = 64;
/** No server cuts a prompt that is shorter than the smallest default window (Ollama before 0.6), in tokens. */
const SMALLEST_WINDOW = 2048;

/**
 * Classifies a count of prompt tokens. `cut` needs two witnesses: the count is far below the estimate, and below what
 * any tokenizer would need for so many words; texts of few tokens (blank lines, long repetitions) do not raise it. In
 * the middle of a session it is seen much earlier: where the prompt only grew, its count has to grow by what is new.
 */
export function checkUsage(counted: CountedPrompt): UsageVerdict {
  const { promptTokens, bytes, newBytes } = counted;
  const estimate = estimateTokens(bytes, counted.bytesPerToken);
  if (promptTokens <= 0) return { kind: "unusable" };
  // Old versions of Ollama leave out of the count what they still had in their cache.
  const fresh = estimateTokens(newBytes, counted.bytesPerToken);
  const onlyFresh = newBytes < bytes && promptTokens > fresh * MISSING_SHARE && promptTokens < fresh * 1.5 + 32;
  const missing = missingOf(counted);
  if (missing !== null) return { kind: "cut", certain: !onlyFresh, fell: missing === "fell" };
  if (promptTokens < estimate * MISSING_SHARE) {
    if (onlyFresh) return { kind: "unusable" };
    if (estimate > SMALLEST_WINDOW && promptTokens !== MADE_UP && promptTokens < counted.least(promptTokens + 1)) {
      return { kind: "cut", certain: true, fell: false };
    }
  }
  const bytesPerToken = bytes / promptTokens;
  const plausible = bytesPerToken >= PLAUSIBLE.least && bytesPerToken <= PLAUSIBLE.most;
  return plausible ? { kind: "whole", bytesPerToken } : { kind: "unusable" };
}

/** Whether a prompt that only grew has fewer tokens than the one before, or than that and what is new have at least. */
function missingOf({ promptTokens, before }: CountedPrompt): "fell" | "short" | null {
  // A server that gives the same number twice made it up.
  if (before === null || promptTokens === before.promptTokens) return null;
  const room = promptTokens + TEMPLATE_SLACK + before.slack - before.promptTokens + 1;
  if (room <= 0) return "fell";
  return before.leastNew(room) >= room ? "short" : null;
}

/** Longest piece of text that one token may stand for, in characters. */
const LONGEST_TOKEN = 12;

/**
 * A number of tokens that no tokenizer in use goes below: each word, number and run of punctuation is at least one.
 * Counts no further than to `enough`: a long history is not read through after every response.
 */
export function leastTokens(texts: Iterable<string>, enough: number): number {
  let count = 0;
  for (const text of texts) {
    for (const [piece] of text.matchAll(/\p{L}+|\p{N}+|[^\s\p{L}\p{N}]+/gu)) {
      count += Math.ceil(piece.length / LONGEST_TOKEN);
      if (count >= enough) return enough;
    }
  }
  return count;
}

/**
 * Tokens that are assumed when neither configuration nor server tells the window, until the server shows otherwise:
 * services have large windows; a local server that has less refuses, or is caught dropping a part of the prompt.
 */
const ASSUMED_WINDOW = { local: 32_768, remote: 131_072 } as const;

/** Returns the window to count with while it is not known. */
export function assumedWindow({ local }: { local: boolean }): number {
  return local ? ASSUMED_WINDOW.local : ASSUMED_WINDOW.remote;
}

/** No response needs more; some servers refuse larger limits. */
const RESPONSE_LIMIT = 32_768;
/** A response that reasons and then writes a file needs this much, in tokens. */
const USUAL_RESPONSE = 8192;

/**
 * Response limit in tokens: what was asked for, else what the model's entry says, else a quarter of the window, and
 * more where that is too little to reason and to write a file: up to half of a small window.
 */
export function responseLimit(window: number, entry: ModelEntry, asked: number | undefined): number {
  const least = Math.max(Math.min(USUAL_RESPONSE, Math.floor(window / 2)), 256);
  return asked ?? entry.maxTokens ?? Math.min(Math.max(Math.floor(window / 4), least), RESPONSE_LIMIT);
}

export interface Limits {
  window: number;
  /**
   * Kept for the response: at most a quarter of the window, so that the reserve never forces a compaction by itself.
   */
  reserve: number;
  /** The longest prompt: window without reserve. */
  budget: number;
  /** Longer prompts are shortened: three quarters of the budget. */
  threshold: number;
  /** The goal of shortening, so that the next one is far away: a good third of the budget. */
  target: number;
  /** Shortening that leaves more than this, six tenths of the budget, would be needed again too soon. */
  relief: number;
}

/** The marks for a window and a response limit. */
export function limitsOf(model: { contextWindow: number; maxTokens: number }): Limits {
  const window = model.contextWindow;
  const reserve = Math.min(model.maxTokens, Math.floor(window / 4));
  const budget = Math.max(window - reserve - MARGIN, 1);
  const share = (part: number) => Math.floor(budget * part);
  return { window, reserve, budget, threshold: share(0.75), relief: share(0.6), target: share(0.35) };
}

/** Share of the window that one result of a tool may take, and all results of one response together. */
const RESULT_SHARE = { one: 1 / 8, all: 1 / 2 } as const;
/** Bytes that a result may have in any window: less would be useless. */
const SMALLEST_RESULT = 400;

/** Most bytes of one of so many results of a response; `most` tokens, where the model takes no longer ones. */
export function resultLimit(
  options: { window: number; bytesPerToken: number; count: number; most?: number | undefined },
): number {
  const share = Math.min(RESULT_SHARE.one, RESULT_SHARE.all / Math.max(options.count, 1));
  const tokens = Math.min(options.window * share, options.most ?? Infinity);
  return Math.max(Math.floor(tokens * options.bytesPerToken), SMALLEST_RESULT);
}

/**
 * The response limit of one request, so that prompt and response fit into the window together (vLLM refuses others).
 */
export function fittingResponse(model: { contextWindow: number; maxTokens: number }, promptTokens: number): number {
  const room = model.contextWindow - promptTokens - MARGIN;
  return Math.min(model.maxTokens, Math.max(room, SMALLEST_RESPONSE));
}

/** Share of the budget that a summary may take. */
export const SUMMARY_SHARE = 0.2;
