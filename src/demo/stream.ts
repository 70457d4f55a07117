/** A reply of the demo in the form of an OpenAI-compatible server. */
import type { DemoRequest } from "./request.ts";
import type { DemoReply } from "./script.ts";

/** The one model id of the demo. */
export const DEMO_MODEL = "demo";

/** Token counts are bytes divided by this: there is no tokenizer behind the demo. */
const BYTES_PER_TOKEN = 4;

function serialisedCalls(reply: DemoReply, id: string) {
  if (reply.kind === "text") return [];
  return reply.calls.map((call, index) => ({
    index,
    id: `call_${id}_${index}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.input) },
  }));
}

function usageOf(request: DemoRequest, reply: DemoReply) {
  const prompt = Math.ceil(request.bytes / BYTES_PER_TOKEN);
  const written = JSON.stringify(reply).length;
  const completion = Math.ceil(written / BYTES_PER_TOKEN);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** The whole reply, for a request without streaming. `created` is in seconds since 1970. */
export function completionOf(
  request: DemoRequest,
  reply: DemoReply,
  { id, created }: { id: string; created: number },
): Record<string, unknown> {
  const calls = serialisedCalls(reply, id).map(({ index: _index, ...call }) => call);
  const message = { role: "assistant", content: reply.text, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  const choice = { index: 0, message, finish_reason: reply.kind === "text" ? "stop" : "tool_calls" };
  return {
    id: `chatcmpl-${id}`,
    object: "chat.completion",
    created,
    model: DEMO_MODEL,
    choices: [choice],
    usage: usageOf(request, reply),
  };
}

/** The reply as events of a stream, each complete with its blank line, `[DONE]` last. */
export function* eventsOf(
  request: DemoRequest,
  reply: DemoReply,
  { id, created }: { id: string; created: number },
): Generator<string> {
  const head = { id: `chatcmpl-${id}`, object: "chat.completion.chunk", created, model: DEMO_MODEL };
  const event = (more: Record<string, unknown>) => `data: ${JSON.stringify({ ...head, ...more })}\n\n`;
  const delta = (content: Record<string, unknown>, finish: string | null = null) =>
    event({ choices: [{ index: 0, delta: content, finish_reason: finish }] });
  yield delta({ role: "assistant", content: "" });
  for (const word of reply.text.split(/(?<=\s)/)) {
    if (word !== "") yield delta({ content: word });
  }
  for (const call of serialisedCalls(reply, id)) {
    const { arguments: input } = call.function;
    yield delta({ tool_calls: [{ ...call, function: { ...call.function, arguments: "" } }] });
    // In two pieces, as real servers do: whoever reads the demo reads them too.
    const half = Math.ceil(input.length / 2);
    for (const piece of [input.slice(0, half), input.slice(half)]) {
      yield delta({ tool_calls: [{ index: call.index, function: { arguments: piece } }] });
    }
  }
  yield delta({}, reply.kind === "text" ? "stop" : "tool_calls");
  if (request.includeUsage) yield event({ choices: [], usage: usageOf(request, reply) });
  yield "data: [DONE]\n\n";
}
