/** The state of a running turn, and the result that it ends with. */
import { type AgentcliError, asAgentcliError, EXIT_CODE_OF } from "../errors.ts";
import type { Clock } from "../platform/io.ts";
import type { CheckResult, PermissionDenial, TurnResult } from "../protocol/turn_event.ts";
import type { Usage } from "../provider/types.ts";
import { assumedWindow } from "./context/tokens.ts";
import { type Session, type SessionModel } from "./session.ts";
import { sessionLabel } from "./labels.ts";

/** A running turn: its counts, its answer so far, and which notices it has had. */
export interface TurnState {
  /** Monotonic milliseconds. */
  started: number;
  apiMs: number;
  responses: number;
  usage: Usage;
  /** Read again by the server before the turn: tokens, and milliseconds. */
  rereadBefore: { tokens: number; ms: number };
  answer: string;
  denials: PermissionDenial[];
  stopReason: string | null;
  /** The last run of the check; absent where none ran. */
  check?: CheckResult;
  /** The model was told to write a file in parts. */
  askedForParts?: true;
}

/** The state of a turn that begins now. */
export function startTurnState(clock: Clock): TurnState {
  return {
    started: clock.monotonic(),
    apiMs: 0,
    responses: 0,
    usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
    rereadBefore: { tokens: 0, ms: 0 },
    answer: "",
    denials: [],
    stopReason: null,
  };
}

/**
 * Returns the result of a turn that the model ended. Its exit code is 8 when the check fails, and 6 when the last call
 * of some tool was denied because nobody was there to be asked.
 */
export function turnResult(session: Session, state: TurnState, clock: Clock): TurnResult {
  const result = figures(session, state, clock);
  if (state.check?.passed === false) {
    return {
      ...result,
      exitCode: EXIT_CODE_OF.check_failed,
      errorCode: "check_failed",
      hint: `the check does not pass; to see its output, run: ${state.check.command}`,
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
  // That mode overrides whatever else is allowed.
  if (policy.mode === "plan") return "in plan mode tools only read: take another --permission-mode";
  const onlyWrites = denied.every((name) => tools.find((tool) => tool.name === name)?.kind === "write");
  return `allow it: --allowed-tools ${denied.join(",")}, or --permission-mode ${
    onlyWrites ? "acceptEdits" : "bypassPermissions"
  }`;
}

/** Returns the result of a turn that failed with `error`. */
export function failedTurnResult(
  session: Session,
  failed: { state: TurnState; error: unknown },
  clock: Clock,
): TurnResult {
  const error = asAgentcliError(failed.error);
  return { ...figures(session, failed.state, clock), ...failureFields(error) };
}

/** Returns the fields of a result that describe a failure. */
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

/** Returns the window to report: a guessed one is not, but the one that it replaced. */
function shownWindow(model: SessionModel): number {
  const { contextWindow, windowSource, entry } = model;
  return windowSource === "guessed" ? entry.contextWindow ?? assumedWindow(model) : contextWindow;
}

/** Returns the tokens that the server has processed again in the session so far. */
export function rereadOf({ context: { cache } }: Session): TurnState["rereadBefore"] {
  return { tokens: cache.rereadTokens, ms: cache.rereadMs };
}

/** Adds the usage of a response to that of its turn. */
export function addUsage(sum: Usage, usage: Usage): void {
  sum.promptTokens += usage.promptTokens;
  sum.completionTokens += usage.completionTokens;
  sum.cachedTokens += usage.cachedTokens;
  if (usage.cacheReported) sum.cacheReported = true;
}

function figures(session: Session, state: TurnState, clock: Clock): TurnResult {
  const [before, now] = [state.rereadBefore, rereadOf(session)];
  return {
    outcome: "success",
    sessionId: session.id,
    answer: state.answer,
    durationMs: Math.round(clock.monotonic() - state.started),
    apiMs: Math.round(state.apiMs),
    turns: state.responses,
    usage: state.usage,
    reread: { tokens: now.tokens - before.tokens, ms: now.ms - before.ms },
    model: session.model.entry.id,
    contextWindow: shownWindow(session.model),
    maxTokens: session.model.maxTokens,
    denials: state.denials,
    stopReason: state.stopReason,
    check: state.check,
    label: sessionLabel(session),
    exitCode: 0,
    errorCode: null,
    hint: null,
    errors: [],
  };
}
