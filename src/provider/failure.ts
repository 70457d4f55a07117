/** Failures of a server, in the form the engine decides by, and when a failed request is sent again. */
import { AgentcliError, type ErrorCode } from "../errors.ts";
import type { ReceivedHeaders } from "./http/headers.ts";

/** The kinds of failure; what each means and does is in `errors.ts`. */
export type FailureKind =
  | "refused"
  | "unreachable"
  | "lost"
  | "timeout"
  | "context"
  | "loading"
  | "busy"
  | "auth"
  | "model"
  | "quota"
  | "cloud_disabled"
  | "no_tools"
  | "template"
  | "no_images"
  | "bad_image"
  | "tool_parse"
  | "request"
  | "transient"
  | "stream"
  | "invalid"
  | "empty";

/** The part of a reply that arrived before its connection ended. */
export interface PartialReply {
  text: string;
  reasoning: string;
}

/** Facts that go with a failure; all but `kind` are absent where they are not known. */
export interface FailureFacts {
  kind: FailureKind;
  hint?: string;
  /** HTTP status of the response. */
  status?: number;
  partial?: PartialReply;
  /** Of kind `context`: the window the server names, in tokens. */
  contextWindow?: number;
  /** Of kind `context`: a reply came, but to a part of the prompt. */
  dropped?: true;
  /** Of kind `context`: the prompt as the server counted it, in tokens. */
  promptTokens?: number;
  /** Of kind `tool_parse`: what the model wrote, where the server hands it back. Never for people. */
  failedGeneration?: string;
  /** The wait that the server requests, in milliseconds. */
  retryAfterMs?: number;
}

/** A failure of a provider. The message names the provider and holds nothing of the request. */
export class ProviderFailure extends AgentcliError {
  readonly kind: FailureKind;
  readonly facts: Readonly<FailureFacts>;

  constructor(code: ErrorCode, message: string, facts: FailureFacts) {
    super(code, message, { hint: facts.hint });
    this.kind = facts.kind;
    this.facts = facts;
  }

  /** The part of the reply that arrived before the failure; null for none. */
  get partial(): PartialReply | null {
    return this.facts.partial ?? null;
  }

  with(facts: Partial<FailureFacts>): ProviderFailure {
    return new ProviderFailure(this.code, this.message, { ...this.facts, ...facts });
  }
}

/** Retries of one request, not counting the wait for a model that loads. */
const MAX_RETRIES = 3;
/** Longest single wait, in milliseconds; a server that asks for more gets no wait. */
export const LONGEST_WAIT = 60_000;

/** Retry policy of a kind of failure: the number of retries, and the waits in milliseconds. */
interface Policy {
  retries: number;
  first: number;
  longest: number;
}

/** Kinds that are not here are never retried. All hold only while nothing of the reply has been handed on. */
const POLICIES: Partial<Record<FailureKind, Policy>> = {
  // On loopback a server may be starting; a longer wait makes no sense.
  refused: { retries: 1, first: 150, longest: 150 },
  busy: { retries: MAX_RETRIES, first: 500, longest: 8000 },
  // The peer had closed a connection that was kept open, or died.
  lost: { retries: 1, first: 100, longest: 100 },
  // llama.cpp cannot read what the model wrote: another sample often can.
  tool_parse: { retries: 1, first: 0, longest: 0 },
  loading: { retries: Number.POSITIVE_INFINITY, first: 500, longest: 5000 },
  // A bare `[DONE]`: a worker that failed, or a prompt that is too long: the second reply shows which.
  empty: { retries: 1, first: 0, longest: 0 },
};
/**
 * Kinds that are retried after a part of the reply was handed on: that part is void, and the reply begins anew. Nothing
 * of it has run, because calls run only once their reply is complete.
 */
const RESTARTED: ReadonlySet<FailureKind> = new Set(["lost", "stream", "transient", "busy", "tool_parse"]);
const RESTART: Policy = { retries: 1, first: 0, longest: 0 };
const GATEWAY: Policy = { retries: MAX_RETRIES, first: 500, longest: 8000 };
const SERVER_ERROR: Policy = { retries: 1, first: 500, longest: 500 };

interface RetryState {
  /** Retries before this one that {@link retryGroup} counts together with it. */
  retries: number;
  /** Milliseconds since the first attempt. */
  elapsedMs: number;
  /** Longest time to wait for a model that loads, in milliseconds. */
  loadingLimitMs: number;
  /** From 0 to 1, for spreading the waits. */
  random: number;
}

/** The retry for a failure, or null to give up. The server's `Retry-After` takes precedence over the table. */
export function nextRetry(
  failure: ProviderFailure,
  state: RetryState,
): { delayMs: number; maxRetries: number } | null {
  const policy = policyFor(failure);
  if (policy === null || state.retries >= policy.retries) return null;
  const requested = failure.facts.retryAfterMs;
  if (requested !== undefined && requested > LONGEST_WAIT) return null;
  const doubled = Math.min(policy.longest, policy.first * 2 ** Math.min(state.retries, 20));
  const delayMs = Math.round(requested ?? doubled * (0.75 + state.random / 2));
  if (policy.retries !== Number.POSITIVE_INFINITY) return { delayMs, maxRetries: policy.retries };
  const left = state.loadingLimitMs - state.elapsedMs;
  if (left < delayMs) return null;
  return { delayMs, maxRetries: state.retries + 1 + Math.floor(left / policy.longest) };
}

/** Returns the group by which retries are counted: one restart of a reply; other failures count by kind. */
export function retryGroup({ kind, partial }: ProviderFailure): string {
  return partial === null ? kind : "restart";
}

function policyFor(failure: ProviderFailure): Policy | null {
  if (failure.partial !== null) return RESTARTED.has(failure.kind) ? RESTART : null;
  if (failure.kind === "transient") {
    return [502, 503, 504].includes(failure.facts.status ?? 0) ? GATEWAY : SERVER_ERROR;
  }
  return POLICIES[failure.kind] ?? null;
}

/** The wait that a response asks for, in milliseconds; null when it asks for none. `now` as of `Clock.now`. */
export function retryAfter(headers: ReceivedHeaders, now: number): number | null {
  const milliseconds = Number(headers.get("retry-after-ms") ?? "x");
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = text === "" ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
