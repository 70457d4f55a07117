/** Does the model use the result of a call, and does the server want the reasoning that led to it? */
import { ProviderFailure } from "../failure.ts";
import { asTextMessages, promptProtocol } from "../text_calls/prompt.ts";
import type { ChatReply, WireMessage } from "../types.ts";
import type { ToolResultFinding } from "./findings.ts";
import { CALL_TOKENS, WEATHER_QUESTION } from "./native_calls.ts";
import { WEATHER } from "./sample_tools.ts";
import type { Subject } from "./subject.ts";

/** Nobody guesses it. */
const DEGREES = "-37";
/** Nine letters and digits: the narrowest rule there is for ids (Mistral). */
const CALL_ID = "call00001";

/** How calls are made, and the reply that made one (null: its reasoning is not known). */
export interface ToolTurn {
  how: "native" | "text";
  reply: ChatReply | null;
}

/**
 * Sends a result back, first without the model's reasoning. Only when the server refuses that, and takes the same with
 * the reasoning, it needs it (DeepSeek: 400).
 */
export async function useToolResult(
  subject: Subject,
  turn: ToolTurn,
  options: { signal: AbortSignal },
): Promise<ToolResultFinding> {
  const reasoning = turn.reply?.reasoning ?? "";
  const ask = async (history: WireMessage[]) => {
    const tools = turn.how === "native" ? [WEATHER] : [];
    const { reply } = await subject.ask({ messages: history, tools, maxTokens: CALL_TOKENS }, options);
    return /[-−–]\s?37|minus (?:37|thirty-seven)/i.test(reply.text);
  };
  try {
    const used = await ask(historyOf(turn.how, ""));
    return { how: turn.how, used, reasoningNeeded: reasoning === "" ? null : false };
  } catch (error) {
    const refused = error instanceof ProviderFailure && (error.kind === "request" || error.kind === "template");
    if (!refused || reasoning === "" || turn.how === "text") throw error;
    return { how: turn.how, used: await ask(historyOf(turn.how, reasoning)), reasoningNeeded: true };
  }
}

function historyOf(how: ToolTurn["how"], reasoning: string): WireMessage[] {
  const turns: WireMessage[] = [
    { role: "user", content: WEATHER_QUESTION },
    {
      role: "assistant",
      content: "",
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      tool_calls: [{
        id: CALL_ID,
        type: "function",
        function: { name: WEATHER.function.name, arguments: JSON.stringify({ city: "Paris" }) },
      }],
    },
    {
      role: "tool",
      tool_call_id: CALL_ID,
      name: WEATHER.function.name,
      content: JSON.stringify({ celsius: Number(DEGREES), sky: "clear" }),
    },
  ];
  return how === "native" ? turns : asTextMessages([{ role: "system", content: promptProtocol([WEATHER]) }, ...turns]);
}
