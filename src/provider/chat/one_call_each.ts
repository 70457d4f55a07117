/** A history in which no message holds more than one call, for chat templates that show no more. */
import type { WireMessage, WireToolCall } from "../types.ts";

type Assistant = WireMessage & { role: "assistant" };

/** The messages that one with several calls became: the same each time, so that they are written once. */
const split = new WeakMap<WireMessage, Assistant[]>();

/**
 * The same history with each call in a message of its own, its result behind it: words and reasoning stay with the
 * first. Messages without several calls are passed on as they are. A longer history begins with the same messages.
 */
export function oneCallEach(messages: readonly WireMessage[]): WireMessage[] {
  const shaped: WireMessage[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as WireMessage;
    const calls = message.role === "assistant" ? message.tool_calls ?? [] : [];
    if (message.role !== "assistant" || calls.length < 2) {
      shaped.push(message);
      continue;
    }
    const results = resultsBehind(messages, at);
    at += results.length;
    for (const part of partsOf(message, calls)) {
      const id = part.tool_calls?.[0]?.id;
      shaped.push(part, ...results.filter((result) => result.tool_call_id === id));
    }
  }
  return shaped;
}

function resultsBehind(messages: readonly WireMessage[], at: number): (WireMessage & { role: "tool" })[] {
  const end = messages.findIndex((message, index) => index > at && message.role !== "tool");
  return messages.slice(at + 1, end < 0 ? undefined : end).filter((message) => message.role === "tool");
}

function partsOf(message: Assistant, calls: readonly WireToolCall[]): Assistant[] {
  const known = split.get(message);
  if (known !== undefined) return known;
  const parts = calls.map((call, index): Assistant =>
    index === 0 ? { ...message, tool_calls: [call] } : { role: "assistant", content: "", tool_calls: [call] }
  );
  split.set(message, parts);
  return parts;
}
