/**
 * The shapes of a request: how it offers tools and shows the calls of before. Chat templates differ in what they can
 * show; what one refuses is sent in the next shape. Source: the chat templates that llama.cpp tests with.
 */
import type { FailureKind } from "../provider/failure.ts";
import { oneCallEach } from "../provider/chat/content.ts";
import { asTextMessages, withoutSystemMessage } from "../provider/text_calls/prompt.ts";
import type { WireMessage } from "../provider/types.ts";

/** In this order each takes more templates than the one before, and asks more of the model. */
const SHAPES = {
  /** Tools and calls as such. */
  native: { tools: "field", history: (messages: WireMessage[]) => messages },
  /** The same with one call a message: templates of Llama 3 refuse more for ever, others drop all but the first. */
  single: { tools: "field", history: oneCallEach },
  /** Tools described in the system message, calls and results as text. */
  text: { tools: "prompt", history: asTextMessages },
  /** No tools at all. */
  none: { tools: "nowhere", history: asTextMessages },
  /** As text, with the words of the system message before the user's first: templates of Gemma 2 know no such message. */
  no_system: { tools: "prompt", history: (messages: WireMessage[]) => withoutSystemMessage(asTextMessages(messages)) },
} as const;

/** A shape by name. */
export type ToolProtocol = keyof typeof SHAPES;

const ORDER = Object.keys(SHAPES) as ToolProtocol[];

/** What a failure asks for at least. */
const ASKED_FOR: Partial<Record<FailureKind, ToolProtocol>> = { template: "single", no_tools: "text" };

/** The shape of this name. */
export function shapeOf(protocol: ToolProtocol): { tools: string; history(messages: WireMessage[]): WireMessage[] } {
  return SHAPES[protocol];
}

/** The name where it is one of a shape; for what was stored. */
export function protocolNamed(name: string | undefined): ToolProtocol | undefined {
  return ORDER.find((protocol) => protocol === name);
}

/** The shape that takes the most templates: what one of them was needed for, it does. */
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
