/** Failures of a server, in the form the engine decides by. */
import { AgentcliError, type ErrorCode } from "../errors.ts";

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
