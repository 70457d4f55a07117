/** Calls that a model wrote as text, taken out of the reply under the rules of `provider/text_calls`. */
import type { ChatReply, ToolSchema } from "../provider/types.ts";

/** No form of a written call does without one of these. */
const COULD_BE_CALL = /[<[{]/;

/**
 * The reply with the calls found in its text, or null when there are none. Only where the reply has no structured calls
 * and was not cut (specification, wire reference §8).
 */
export async function recoverTextCalls(
  reply: ChatReply,
  tools: readonly ToolSchema[],
): Promise<{ reply: ChatReply; family: string } | null> {
  if (reply.calls.length > 0 || reply.finish === "length" || tools.length === 0) return null;
  if (!COULD_BE_CALL.test(reply.text)) return null;
  // Loaded after the reply: the way to the first request stays short.
  const { recoverMended } = await import("../provider/text_calls/recover.ts");
  const found = await recoverMended(reply.text, tools);
  if (found === null) return null;
  const calls = found.calls.map((call) => ({
    id: "",
    name: call.name,
    input: call.input,
    raw: JSON.stringify(call.input),
  }));
  return { reply: { ...reply, text: found.rest, calls, finish: "tool_calls" }, family: found.family };
}
