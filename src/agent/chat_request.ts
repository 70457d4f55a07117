/**
 * The next request, made from nothing but the session: its shape, its size, and the report when it does not begin with
 * the bytes of the one before.
 */
import type { FailureKind } from "../provider/failure.ts";
import { oneCallEach } from "../provider/chat/content.ts";
import { mergedFields } from "../provider/profiles/profile.ts";
import { asTextMessages, promptProtocol, withoutSystemMessage } from "../provider/text_calls/prompt.ts";
import type { ChatRequest, WireMessage } from "../provider/types.ts";
import { estimateTokens, fittingResponse } from "./context/tokens.ts";
import { buildMessages } from "./messages.ts";
import type { Session } from "./session.ts";
import { byteLength } from "../platform/text.ts";
import type { CacheInvalidation, TurnListener } from "../protocol/turn_event.ts";

/** In this order each works with more templates than the one before, and asks more of the model. */
const SHAPES = {
  /** Tools and calls as such. */
  native: { tools: "field", history: (messages: WireMessage[]) => messages },
  /** The same with one call a message: templates of Llama 3 refuse more, others drop all but the first. */
  single: { tools: "field", history: oneCallEach },
  /** Tools described in the system message, calls and results as text. */
  text: { tools: "prompt", history: asTextMessages },
  none: { tools: "nowhere", history: asTextMessages },
  /**
   * As text, with the words of the system message before the user's first: templates of Gemma 2 have no such message.
   */
  no_system: { tools: "prompt", history: (messages: WireMessage[]) => withoutSystemMessage(asTextMessages(messages)) },
} as const;

export type ToolProtocol = keyof typeof SHAPES;

const ORDER = Object.keys(SHAPES) as ToolProtocol[];

const ASKED_FOR: Partial<Record<FailureKind, ToolProtocol>> = { template: "single", no_tools: "text" };

/** The shape of this name. */
export function shapeOf(protocol: ToolProtocol): { tools: string; history(messages: WireMessage[]): WireMessage[] } {
  return SHAPES[protocol];
}

/** The name where it is one of a shape; for what was stored. */
export function protocolNamed(name: string | undefined): ToolProtocol | undefined {
  return ORDER.find((protocol) => protocol === name);
}

/** The shape that works with the most templates: whatever the others are needed for, it covers. */
export function safest(protocols: readonly (ToolProtocol | undefined)[]): ToolProtocol | undefined {
  return ORDER.findLast((protocol) => protocols.includes(protocol));
}

/** Whether another shape may help after a failure of this kind. */
export function asksForShape(failure: FailureKind): boolean {
  return ASKED_FOR[failure] !== undefined;
}

/** The shapes that are left to try after a failure of a request in this one, the next first. */
export function shapesAfter(protocol: ToolProtocol, failure: FailureKind): ToolProtocol[] {
  const least = ASKED_FOR[failure];
  if (least === undefined) return [];
  const from = Math.max(ORDER.indexOf(protocol) + 1, ORDER.indexOf(least));
  return ORDER.slice(from).filter((other) => other !== "none");
}

/**
 * The request for the next response, in the shape that its server takes. Prompt and response limit fit into the window
 * together, as far as the estimate goes.
 */
export function requestOf(session: Session): ChatRequest {
  const { entry, temperature } = session.model;
  const messages = buildMessages(systemText(session), session.items, session.context.history);
  const shape = shapeOf(session.context.toolProtocol);
  return {
    model: entry.id,
    messages: shape.history(messages),
    tools: shape.tools === "field" ? session.schemas : [],
    ...(isLimitUnknown(session.model) ? {} : { maxTokens: fittingResponse(session.model, estimateOf(session)) }),
    temperature,
    params: mergedFields(session.profile.fields, entry.params),
  };
}

/** An unknown service has a limit of its own, and refuses a higher one. */
function isLimitUnknown({ local, windowSource, askedMaxTokens, entry }: Session["model"]): boolean {
  return !local && windowSource === "assumed" && askedMaxTokens === undefined && entry.maxTokens === undefined;
}

/** Fields of a side request to the same model, which leaves the session's cache alone. */
export function sideFields({ profile, model }: Session): Record<string, unknown> {
  return mergedFields({ ...profile.fields, ...profile.sideFields }, model.entry.params);
}

function systemText(session: Session): string {
  if (shapeOf(session.context.toolProtocol).tools !== "prompt" || session.schemas.length === 0) {
    return session.system.text;
  }
  return `${session.system.text}\n\n${promptProtocol(session.schemas)}`;
}

/** Bytes before the first item: the system message and the tools. */
export function baseBytes(session: Session): number {
  const { context, schemas } = session;
  return context.sizeOfBase(systemText(session), shapeOf(context.toolProtocol).tools === "field" ? schemas : null);
}

/** Describes the part of a request before the first prompt: its parts in bytes, and about how many tokens it has. */
export function breakdown(session: Session): string {
  const total = baseBytes(session);
  const tools = Math.max(total - byteLength(JSON.stringify(session.system.text)), 0);
  const parts = [...session.system.parts, { name: `${session.schemas.length} tools`, bytes: tools }];
  const listed = parts.map((part) => `${part.name} ${part.bytes}`).join(", ");
  return `prompt before your words: ${total} bytes, about ${Math.ceil(total / 4)} tokens (${listed})`;
}

/** Bytes of the items up to `end` and of what stands before them. */
export function bytesUpTo(session: Session, end: number): number {
  return baseBytes(session) + session.context.sizeOfFirst(end, session.items);
}

/** Bytes of the next request, as the ratio is calibrated on them. */
export function requestBytes(session: Session): number {
  return bytesUpTo(session, session.items.length);
}

export interface SentRequest {
  bytes: number;
  /** Of them, not in the request before. */
  newBytes: number;
}

/** Measures the request that is about to be sent, and keeps its size for the next. */
export function recordRequest(session: Session): SentRequest {
  const { context } = session;
  const bytes = requestBytes(session);
  const newBytes = Math.max(bytes - context.sentBytes, 0);
  context.sentBytes = bytes;
  return { bytes, newBytes };
}

/** Tokens of the next request, estimated. */
export function estimateOf(session: Session): number {
  return estimateTokens(requestBytes(session), session.context.bytesPerToken);
}

/**
 * Counts and reports the break where a request was sent that the next one does not begin with. `isResent`: the next one
 * has been sent meanwhile.
 */
export async function reportCacheInvalidation(
  session: Session,
  { emit }: { emit: TurnListener },
  { isResent = false, ...happened }: Omit<CacheInvalidation, "kind" | "bytesAfter" | "count"> & { isResent?: boolean },
): Promise<void> {
  const { context } = session;
  if (!isResent && context.sentBytes <= happened.bytesKept) return;
  if (!isResent) context.sentBytes = happened.bytesKept;
  const count = ++context.invalidations;
  await emit({ kind: "cache_invalidated", ...happened, bytesAfter: requestBytes(session), count });
}
