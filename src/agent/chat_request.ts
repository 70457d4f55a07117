/** The request for the next reply, made from nothing but the session, and its size. */
import { promptProtocol } from "../provider/text_calls/prompt.ts";
import type { ChatRequest } from "../provider/types.ts";
import { fittingReply } from "./limits.ts";
import { buildMessages } from "./request.ts";
import type { Session } from "./session.ts";
import { estimateTokens } from "./tokens.ts";
import { shapeOf } from "./tool_protocol.ts";

/**
 * The request for the next reply, in the shape that its server takes. Prompt and reply limit fit into the window together, as far as the estimate goes.
 */
export function requestOf(session: Session): ChatRequest {
  const { entry, temperature } = session.model;
  const messages = buildMessages(systemText(session), session.items, session.context.history);
  const shape = shapeOf(session.context.toolProtocol);
  return {
    model: entry.id,
    messages: shape.history(messages),
    tools: shape.tools === "field" ? session.schemas : [],
    maxTokens: fittingReply(session.model, estimateOf(session)),
    ...(temperature === undefined ? {} : { temperature }),
    ...(entry.params === undefined ? {} : { params: entry.params }),
  };
}

function systemText(session: Session): string {
  if (shapeOf(session.context.toolProtocol).tools !== "prompt" || session.schemas.length === 0) {
    return session.system.text;
  }
  return `${session.system.text}\n\n${promptProtocol(session.schemas)}`;
}

/** Bytes of what stands before the first item: the system message and the tools. */
export function baseBytes(session: Session): number {
  const { context, schemas } = session;
  return context.sizeOfBase(systemText(session), shapeOf(context.toolProtocol).tools === "field" ? schemas : null);
}

/** Bytes of the items up to `end` and of what stands before them. */
export function bytesUpTo(session: Session, end: number): number {
  return baseBytes(session) + session.context.sizeOfFirst(end, session.items);
}

/** Bytes of the next request, as the ratio is calibrated on them. */
export function requestBytes(session: Session): number {
  return bytesUpTo(session, session.items.length);
}

/** Tokens of the next request, estimated. */
export function estimateOf(session: Session): number {
  return estimateTokens(requestBytes(session), session.context.bytesPerToken);
}
