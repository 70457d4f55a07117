/** Findings of a probe, and the settings that follow from them. */
import { grouped } from "../../platform/number.ts";
import type { AgentcliError } from "../../errors.ts";
import type { Recognized } from "../backends/backend.ts";

/** Outcome of one check. `reason` says why nothing was measured. */
export type Outcome<T> =
  | { kind: "done"; found: T }
  | { kind: "failed"; error: AgentcliError }
  | { kind: "skipped"; reason: string };

/** The server answered, with or without a list of models. */
export interface Reachability {
  /** Until the list was read. */
  listMs: number;
  /** Models that the server lists; null when it gives no list. */
  models: number | null;
  /** True if the model is in the list; null without one. */
  listed: boolean | null;
  server: Recognized | null;
}

/** A first short reply came: the server may have loaded the model for it. */
export interface FirstReply {
  firstTokenMs: number;
  totalMs: number;
  /** The model that the server says it used, where that is another one. */
  answeredAs: string | null;
}

export interface ClaimedWindow {
  /** Null when it says nothing. */
  tokens: number | null;
  /** Path of the response that reports it. */
  source: string | null;
}

/** One long prompt. `repeated`: the marker at its start came back; `lost`: a reply without it; `refused`: too long. */
export interface WindowStep {
  /** Tokens, as the server counted them where that is known. */
  tokens: number;
  outcome: "repeated" | "lost" | "refused";
}

export interface ProvedWindow {
  /** Tokens of the longest prompt whose start was repeated; null when none was. */
  proved: number | null;
  /** Tokens of the shortest prompt that was cut or refused; null when none was. */
  tooLong: number | null;
  /** The window that a refusal named. */
  named: number | null;
  /** The model can repeat a marker from a short prompt: without that, longer ones prove nothing. */
  repeatsShort: boolean;
  /** In the order they were tried. */
  steps: WindowStep[];
  /** Reason for an end before all steps were tried; null for none. */
  ended: string | null;
}

/** A figure over several runs: the median. */
export interface Figure {
  median: number;
  runs: number;
}

/** Speed of replies, and the way they arrive. */
export interface Generation {
  /** Null where replies came too fast to measure. */
  tokensPerSecond: Figure | null;
  /** The server gave no counts: tokens are estimated from the text. */
  estimated: boolean;
  /** Of a short prompt, the model loaded. */
  firstTokenMs: Figure;
  streaming: "yes" | "no" | "unclear";
  /** Network reads that brought text, and the time between the first and the last: of the run with the most. */
  pieces: number;
  spanMs: number;
}

/** The same long prompt, new and then with the same beginning. */
export interface PromptCache {
  /** Of the new prompt. */
  promptTokens: number;
  estimated: boolean;
  coldFirstTokenMs: Figure;
  warmFirstTokenMs: Figure;
  /** Null where the first token came too fast to measure. */
  tokensPerSecond: Figure | null;
  /** Tokens that the server says it took from its cache; 0 where it does not say. */
  cachedTokens: number;
  kept: "yes" | "no" | "unclear";
}

/** A second request that begins with the first, its reply and the result of a tool: what each round of a turn is. */
export interface ToolRoundCache {
  /** Tokens of the first request, as the server counted them. */
  promptTokens: number;
  /** Of them, read again for the second; null where the server does not say. */
  rereadTokens: number | null;
  kept: "yes" | "no" | "unclear";
}

export interface CallFinding {
  /**
   * `text`: written into the text and recovered from it. `cut`: the token limit came before a complete call. `refused`:
   * the server does not support tool calling with this model.
   */
  how: "native" | "text" | "none" | "cut" | "refused";
  /** Names and arguments are what was asked for. */
  correct: boolean;
  /** The problem, or the form of a call in text; may be empty. */
  detail: string;
}

/** A result was sent back. */
export interface ToolResultFinding {
  how: "native" | "text";
  /** The reply holds what only the result said. */
  used: boolean;
  /** The server refuses a history without the model's reasoning; null where no reasoning was seen. */
  reasoningNeeded: boolean | null;
}

export interface JsonSchemaFinding {
  /** `refused`: the server rejects the field; `ignored`: it replies in words; `unclear`: the reply was cut. */
  support: "yes" | "ignored" | "refused" | "unclear";
  detail: string;
}

/** A reply was broken off, and the next one asked for. */
export interface StopFinding {
  nextFirstTokenMs: number;
  usualFirstTokenMs: number | null;
  /** The next reply did not wait for the one that was broken off. */
  stopped: boolean;
}

export interface Findings {
  reachable: Reachability;
  chat: FirstReply;
  windowClaimed: ClaimedWindow;
  generation: Generation;
  promptCache: PromptCache;
  toolCall: CallFinding;
  parallelCalls: CallFinding;
  nestedArguments: CallFinding;
  textToolCall: CallFinding;
  toolResult: ToolResultFinding;
  toolRoundCache: ToolRoundCache;
  jsonSchema: JsonSchemaFinding;
  edit: CallFinding;
  stop: StopFinding;
  windowProved: ProvedWindow;
}

export type Checks = { [K in keyof Findings]: Outcome<Findings[K]> };

export interface ProbeReport {
  checks: Checks;
  /** Replies that came, and how many of them held reasoning. */
  replies: { count: number; withReasoning: number };
  elapsedMs: number;
  /** The signal fired; what came after it was not measured. */
  interrupted: boolean;
}

/** Returns the finding of a check; null when it failed or was skipped. */
export function foundIn<T>(outcome: Outcome<T>): T | null {
  return outcome.kind === "done" ? outcome.found : null;
}

/** The answer. `fit` is null where it could not be found out. */
interface Verdict {
  fit: boolean | null;
  /** One sentence part: `yes, with native tool calls`. */
  text: string;
}

/** Settings for the configuration; absent where nothing was found. */
export interface Learnt {
  contextWindow?: number;
  toolCalls?: "native" | "text" | "none";
  reasoning?: "keep" | "drop";
}

/** Tokens: a smaller window is too small for prompt, tools and a file. */
const SMALLEST_WINDOW = 4096;

/** Reason why the model cannot be used at all; null when it replied. */
export function probeError({ checks }: Pick<ProbeReport, "checks">): AgentcliError | null {
  for (const outcome of [checks.reachable, checks.chat]) {
    if (outcome.kind === "failed") return outcome.error;
  }
  return null;
}

/** The verdict over all checks. */
export function verdictOf({ checks }: Pick<ProbeReport, "checks">): Verdict {
  if (probeError({ checks }) !== null) return { fit: false, text: "no: no reply came" };
  if (foundIn(checks.chat) === null) return { fit: null, text: "not known: nothing was measured" };
  const problem = callProblem(checks) ?? windowProblem(checks);
  if (problem !== null) return problem;
  if (foundIn(checks.toolResult)?.used === false) {
    return { fit: false, text: "no: it does not use the results of tools" };
  }
  const way = toolCallsOf(checks) === "native" ? "with native tool calls" : "with tool calls as text";
  const edits = foundIn(checks.edit)?.correct === false ? "; its edits need watching" : "";
  return { fit: true, text: `yes, ${way}${edits}` };
}

function callProblem(checks: Checks): Verdict | null {
  const calls = toolCallsOf(checks);
  if (calls === "none") return { fit: false, text: "no: it calls no tools, neither natively nor as text" };
  if (calls !== undefined) return null;
  const measured = foundIn(checks.toolCall) !== null && foundIn(checks.textToolCall) !== null;
  if (!measured) return { fit: null, text: "not known: its tool calls could not be measured" };
  return { fit: false, text: "no: no way to call tools worked" };
}

function windowProblem(checks: Checks): Verdict | null {
  const window = windowOf(checks);
  if (window === undefined || window >= SMALLEST_WINDOW) return null;
  return {
    fit: false,
    text: `no: a window of ${grouped(window)} tokens is too small, ${grouped(SMALLEST_WINDOW)} is the least`,
  };
}

/** Returns the settings that `--write` stores: clear findings only. */
export function learnt({ checks }: Pick<ProbeReport, "checks">): Learnt {
  const contextWindow = windowOf(checks);
  const toolCalls = toolCallsOf(checks);
  const needed = foundIn(checks.toolResult)?.reasoningNeeded ?? null;
  return {
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(toolCalls === undefined ? {} : { toolCalls }),
    ...(needed === null ? {} : { reasoning: needed ? "keep" : "drop" }),
  };
}

/** Returns the way of calling tools that worked: the protocol's own, otherwise that of the prompt. */
export function workingCalls(native: CallFinding | null, text: CallFinding | null): "native" | "text" | null {
  if (native?.correct && native.how === "native") return "native";
  if (text?.correct) return "text";
  // Tools are declared as the protocol says, and calls come as text: the agent recovers those too.
  return native?.correct ? "native" : null;
}

/** `none` only when every way was tried to its end and the model made no call at all: one refusal to call is chance. */
function toolCallsOf(checks: Checks): Learnt["toolCalls"] | undefined {
  const native = foundIn(checks.toolCall);
  const text = foundIn(checks.textToolCall);
  // That one way works says nothing about a better one that was not measured.
  if (native === null || (native.how !== "native" && text === null)) return undefined;
  const working = workingCalls(native, text);
  if (working !== null) return working;
  const all = [native, text, foundIn(checks.parallelCalls), foundIn(checks.nestedArguments)];
  return all.every((found) => found === null || found.how === "none" || found.how === "refused") ? "none" : undefined;
}

/** The window to count with: the claimed one unless a prompt within it was cut or refused, then what was proved. */
function windowOf(checks: Checks): number | undefined {
  const claimed = foundIn(checks.windowClaimed)?.tokens ?? undefined;
  const proof = foundIn(checks.windowProved);
  if (proof === null || !proof.repeatsShort) return claimed;
  const { named, proved, tooLong, steps } = proof;
  if (tooLong === null) return claimed ?? proved ?? undefined;
  const lostWithin = steps.some(({ outcome, tokens }) => outcome === "lost" && named !== null && tokens <= named);
  if (named !== null && !lostWithin) return named;
  return proved ?? undefined;
}
