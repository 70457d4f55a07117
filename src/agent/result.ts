/** How a turn ended, as one result. */
import { type AgentcliError, asAgentcliError, EXIT_CODE_OF } from "../errors.ts";
import type { Clock } from "../platform/io.ts";
import type { CheckResult, PermissionDenial, TurnResult } from "../protocol/turn_event.ts";
import type { Usage } from "../provider/types.ts";
import { assumedWindow } from "./context/tokens.ts";
import { type Session, sessionLabel, type SessionModel } from "./session.ts";

export interface TurnCount {
  /** Monotonic milliseconds. */
  started: number;
  apiMs: number;
  turns: number;
  usage: Usage;
  /** Read again by the server before the turn: tokens, and milliseconds. */
  rereadBefore: { tokens: number; ms: number };
  answer: string;
  denials: PermissionDenial[];
  stopReason: string | null;
  /** The last run of the check; absent where none ran. */
  check?: CheckResult;
  /** The model was told to write a file in parts. */
  toldParts?: true;
  /** The last response ended for tool calls and has none: its server lost them. */
  isCallLost?: boolean;
  /** Calls of the last response that were above the limit of one response. */
  droppedCalls: number;
}

/** The counts of a turn that begins now. */
export function startCount(clock: Clock): TurnCount {
  return {
    started: clock.monotonic(),
    apiMs: 0,
    turns: 0,
    usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
    rereadBefore: { tokens: 0, ms: 0 },
    answer: "",
    denials: [],
    stopReason: null,
    droppedCalls: 0,
  };
}

/** The result of a turn that came to its end. Exit code 8 when its check does not pass, 6 when the last call of some tool was denied unasked. */
export function turnResult(session: Session, count: TurnCount, clock: Clock): TurnResult {
  const result = figures(session, count, clock);
  if (count.check?.passed === false) {
    return {
      ...result,
      exitCode: EXIT_CODE_OF.check_failed,
      errorCode: "check_failed",
      hint: `the check does not pass; to see its output, run: ${count.check.command}`,
    };
  }
  const denied = [...session.deniedUnasked].filter(([, isDenied]) => isDenied).map(([name]) => name);
  if (denied.length === 0) return result;
  return {
    ...result,
    exitCode: EXIT_CODE_OF.permission_denied,
    errorCode: "permission_denied",
    hint: wayToAllow(denied, session),
  };
}

function wayToAllow(denied: readonly string[], { policy, tools }: Session): string {
  // That mode goes before whatever else is allowed.
  if (policy.mode === "plan") return "in plan mode tools only read: take another --permission-mode";
  const onlyWrites = denied.every((name) => tools.find((tool) => tool.name === name)?.kind === "write");
  return `allow it: --allowed-tools ${denied.join(",")}, or --permission-mode ${
    onlyWrites ? "acceptEdits" : "bypassPermissions"
  }`;
}

/** The result of a turn that failed with `error`. */
export function failure(session: Session, failed: { count: TurnCount; error: unknown }, clock: Clock): TurnResult {
  const error = asAgentcliError(failed.error);
  return { ...figures(session, failed.count, clock), ...failureFields(error) };
}

/** The fields of a result that tell of a failure. */
export function failureFields(
  error: AgentcliError,
): Pick<TurnResult, "outcome" | "exitCode" | "errorCode" | "hint" | "errors" | "stopReason"> {
  return {
    outcome: error.code === "max_turns" ? "error_max_turns" : "error_during_execution",
    exitCode: error.exitCode,
    errorCode: error.code,
    hint: error.hint ?? null,
    errors: [error.message],
    stopReason: null,
  };
}

/** A guess is no figure of the model: what it took the place of is shown. */
function shownWindow(model: SessionModel): number {
  const { contextWindow, windowSource, entry } = model;
  return windowSource === "guessed" ? entry.contextWindow ?? assumedWindow(model) : contextWindow;
}

/** Tokens that the server processed again in the session so far. */
export function rereadOf({ context: { cache } }: Session): TurnCount["rereadBefore"] {
  return { tokens: cache.rereadTokens, ms: cache.rereadMs };
}

function rereadSince(session: Session, before: TurnCount["rereadBefore"]): TurnCount["rereadBefore"] {
  const now = rereadOf(session);
  return { tokens: now.tokens - before.tokens, ms: now.ms - before.ms };
}

/** Adds the usage of a response to that of its turn. */
export function addUsage(sum: Usage, usage: Usage): void {
  sum.promptTokens += usage.promptTokens;
  sum.completionTokens += usage.completionTokens;
  sum.cachedTokens += usage.cachedTokens;
  if (usage.cacheTold) sum.cacheTold = true;
}

function figures(session: Session, count: TurnCount, clock: Clock): TurnResult {
  return {
    outcome: "success",
    sessionId: session.id,
    answer: count.answer,
    durationMs: Math.round(clock.monotonic() - count.started),
    apiMs: Math.round(count.apiMs),
    turns: count.turns,
    usage: count.usage,
    reread: rereadSince(session, count.rereadBefore),
    model: session.model.entry.id,
    contextWindow: shownWindow(session.model),
    maxTokens: session.model.maxTokens,
    denials: count.denials,
    stopReason: count.stopReason,
    check: count.check,
    label: sessionLabel(session),
    exitCode: 0,
    errorCode: null,
    hint: null,
    errors: [],
  };
}
