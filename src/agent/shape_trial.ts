/**
 * Other shapes of a request, tried where the chat template of a model refuses or drops something. Loaded when a server
 * needs it.
 */
import type { CacheInvalidation, TurnListener } from "../protocol/turn_event.ts";
import { ProviderFailure } from "../provider/failure.ts";
import { isToolCallFallback } from "../provider/backends/model_metadata.ts";
import {
  bytesUpTo,
  reportCacheInvalidation,
  requestBytes,
  safest,
  shapeOf,
  shapesAfter,
  type ToolProtocol,
} from "./chat_request.ts";
import type { Session } from "./session.ts";

/** Returns what changes if the session continues in this shape, worded for the retry; null if nothing does. */
const CHANGES: Partial<
  Record<ToolProtocol, {
    how: string;
    reason: CacheInvalidation["reason"];
    /** The first item of the session that is sent otherwise; -1 for what stands before the items, null for none. */
    from(session: Session): number | null;
  }>
> = {
  single: {
    how: "with one tool call per message",
    reason: "one_call_a_message",
    from({ items }) {
      const at = items.findIndex((item) => item.kind === "assistant" && item.calls.length > 1);
      return at < 0 ? null : at;
    },
  },
  text: {
    how: "with the tools described in the prompt",
    reason: "tool_calls_as_text",
    from: ({ schemas, items }) => schemas.length > 0 || items.some((item) => item.kind === "tool_result") ? -1 : null,
  },
  no_system: {
    how: "with the system message before the user's words",
    reason: "no_system_message",
    from: () => -1,
  },
};

/** Tries the shapes of a request for one response. */
export class ShapeTrial {
  readonly #session: Session;
  /** The shape before, which is restored if all fail. */
  readonly #before: ToolProtocol;
  #tried: Pick<CacheInvalidation, "reason" | "bytesKept" | "bytesBefore"> | null = null;
  #attempt = 0;

  constructor(session: Session) {
    this.#session = session;
    this.#before = session.context.toolProtocol;
  }

  /** Changes to the next shape that may help; if none is left, restores the first and returns false. */
  async next(failure: ProviderFailure, { emit }: { emit: TurnListener }): Promise<boolean> {
    const session = this.#session;
    const { context } = session;
    const left = shapesAfter(context.toolProtocol, failure.kind).flatMap((name) => {
      const at = CHANGES[name]?.from(session) ?? null;
      return at === null ? [] : [{ name, at }];
    });
    const [next] = left;
    const change = next === undefined ? undefined : CHANGES[next.name];
    if (next === undefined || change === undefined || failure.partial !== null) {
      this.end();
      return false;
    }
    const { at } = next;
    const bytesKept = Math.min(at < 0 ? 0 : bytesUpTo(session, at), this.#tried?.bytesKept ?? Infinity);
    const bytesBefore = this.#tried?.bytesBefore ?? requestBytes(session);
    this.#tried = { reason: change.reason, bytesKept, bytesBefore };
    context.toolProtocol = next.name;
    context.sentBytes = Math.min(context.sentBytes, bytesKept);
    const attempt = ++this.#attempt;
    const reason = `${failure.message}; sent again ${change.how}`;
    const { kind, facts: { status = null } } = failure;
    await emit({
      kind: "retry",
      notice: { kind, attempt, maxRetries: attempt + left.length - 1, delayMs: 0, status, reason },
    });
    return true;
  }

  /** Keeps the shape that worked, for this session and for later ones with this model. */
  async keep({ emit }: { emit: TurnListener }): Promise<void> {
    const { context, model, schemas, server } = this.#session;
    if (this.#tried === null) return;
    const tried = this.#tried;
    this.#tried = null;
    const { toolProtocol } = context;
    if (shapeOf(toolProtocol).tools === "prompt" && schemas.length > 0) {
      await emit({
        kind: "notice",
        text:
          `${model.provider} does not support tool calling with ${model.entry.id}: tools are described in the prompt instead ` +
          "(to skip the failed request, set tool_calls: text in providers.yaml)",
      });
    }
    await reportCacheInvalidation(this.#session, { emit }, { ...tried, callIds: [], isResent: true });
    // What the server says of its template is cached as such: it may have another one tomorrow.
    const isReported = context.templateNeeds === toolProtocol;
    if (isToolCallFallback(toolProtocol) && !isReported) await server.remember({ toolCalls: toolProtocol });
  }

  /** Restores the shape if there was no response: another failure says nothing about it. */
  end(): void {
    if (this.#tried !== null) this.#session.context.toolProtocol = this.#before;
    this.#tried = null;
  }
}

/**
 * Asks for what the template needs, once a session. Throws a failure that another shape of the request helps against,
 * where the model was asked without its tools or without a part of the history.
 */
export async function checkTemplate(session: Session): Promise<void> {
  const { context, model, server, items } = session;
  const needs = context.templateNeeds = await server.templateNeeds();
  await takeProfile(session);
  if (needs === null || safest([needs, context.toolProtocol]) === context.toolProtocol) return;
  const subject = `the chat template of ${model.entry.id} on ${model.provider}`;
  if (needs === "text") {
    // Whoever configures native calls knows the template, but maybe not that it limits the calls of a message.
    if (model.entry.toolCalls !== undefined) return;
    throw new ProviderFailure("provider_error", `${subject} leaves tools out`, { kind: "no_tools" });
  }
  if (items.some((item) => item.kind === "assistant" && item.calls.length > 1)) {
    throw new ProviderFailure("provider_error", `${subject} shows only one tool call per message`, {
      kind: "template",
    });
  }
  // Nothing was left out yet, and what comes is sent in a way that leaves nothing out.
  context.toolProtocol = needs;
}

/** Takes over what the server reported with its template for later requests: nothing that was sent is changed. */
async function takeProfile(session: Session): Promise<void> {
  const profile = await session.server.learnedProfile();
  if (profile === null) return;
  session.profile = profile;
  if (session.items.every((item) => item.kind !== "assistant" || item.reasoning === "")) {
    session.context.history.keepReasoning = profile.keepsReasoning;
  }
}
