/** Does the model call tools in text when the prompt says how? What servers without tools are used with. */
import { promptProtocol } from "../text_calls/prompt.ts";
import type { ToolSchema, WireMessage } from "../types.ts";
import { judgeCalls, weatherOf } from "./calls.ts";
import type { CallFinding } from "./findings.ts";
import { CALL_TOKENS, WEATHER_QUESTION } from "./native_calls.ts";
import { WEATHER } from "./sample_tools.ts";
import type { Subject } from "./subject.ts";

/** A question with the tools in the system message. */
export function withProtocol(tools: readonly ToolSchema[], prompt: string): WireMessage[] {
  return [{ role: "system", content: promptProtocol(tools) }, { role: "user", content: prompt }];
}

/** One call of one tool, written as text. */
export async function textToolCall(subject: Subject, signal: AbortSignal): Promise<CallFinding> {
  const asked = { messages: withProtocol([WEATHER], WEATHER_QUESTION), maxTokens: CALL_TOKENS };
  const { reply } = await subject.ask(asked, { signal });
  return judgeCalls(reply, { tools: [WEATHER], check: weatherOf("Paris") });
}
