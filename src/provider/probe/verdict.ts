/** What the checks together say: whether the model can do agent turns, and what the configuration should hold. */
import type { AgentcliError } from "../../errors.ts";
import { workingCalls } from "./battery.ts";
import { type Checks, foundIn, type ProbeReport } from "./findings.ts";

/** The answer. `fit` is null where it could not be found out. */
export interface Verdict {
  fit: boolean | null;
  /** One sentence part: `yes, with native tool calls`. */
  text: string;
}

/** What was found out for the configuration; absent where it was not. */
export interface Learnt {
  contextWindow?: number;
  toolCalls?: "native" | "text" | "none";
  reasoning?: "keep" | "drop";
}

/** Tokens: a smaller window has no room for prompt, tools and a file. */
const SMALLEST_WINDOW = 4096;

/** Why the model cannot be used at all; null when it replied. */
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
    text: `no: a window of ${count(window)} tokens is too small, ${count(SMALLEST_WINDOW)} is the least`,
  };
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

/** What `--write` stores: only what was clearly found. */
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

/** `none` only when every way was tried to its end and the model made no call at all: one refusal to call is chance. */
function toolCallsOf(checks: Checks): Learnt["toolCalls"] | undefined {
  const native = foundIn(checks.toolCall);
  const text = foundIn(checks.textToolCall);
  // That one way works says nothing of the better one while that was not measured.
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
