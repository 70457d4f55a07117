/** The events of an answer, in either interface, as texts to be sent. */
import type { Interface } from "./mock_request.ts";

/** What an answer says: pieces of text, or a call. */
export type Said = { pieces: readonly string[] } | { call: { name: string; input: Record<string, unknown> } };

/** The answer, with what a server counts. */
export interface Answer {
  said: Said;
  /** Makes ids of one conversation differ. */
  round: number;
  prompt: number;
  tokens: number;
}

function chunk(delta: Record<string, unknown>, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const data = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1700000000, model: "bench", choices };
  return `data: ${JSON.stringify(data)}\n\n`;
}

function* chatBegin({ said, round }: Answer): Generator<string> {
  if ("call" in said) {
    const text = JSON.stringify(said.call.input);
    const half = text.length >> 1;
    const piece = (more: Record<string, unknown>) => chunk({ tool_calls: [{ index: 0, ...more }] });
    yield piece({ id: `call_${round}`, type: "function", function: { name: said.call.name, arguments: "" } });
    yield piece({ function: { arguments: text.slice(0, half) } });
    yield piece({ function: { arguments: text.slice(half) } });
  } else {
    yield chunk({ role: "assistant", content: "" });
    for (const content of said.pieces) yield chunk({ content });
  }
}

function chatUsage({ prompt, tokens }: Answer) {
  return { prompt_tokens: prompt, completion_tokens: tokens, total_tokens: prompt + tokens };
}

function chatEnd(answer: Answer): string {
  const finish = chunk({}, "call" in answer.said ? "tool_calls" : "stop");
  return `${finish}data: ${JSON.stringify({ choices: [], usage: chatUsage(answer) })}\n\ndata: [DONE]\n\n`;
}

/** The answer to a client that does not want a stream, over `chat`. */
export function wholeAnswer(answer: Answer): Record<string, unknown> {
  const content = "call" in answer.said ? null : answer.said.pieces.join("");
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  return { id: "chatcmpl-1", object: "chat.completion", created: 1700000000, choices, usage: chatUsage(answer) };
}

function typed(type: string, more: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

function responseOf({ round }: Answer) {
  return { id: `resp_${round}`, object: "response", created_at: 1700000000, model: "bench", output: [] };
}

function itemOf({ said, round }: Answer) {
  const id = `item_${round}`;
  if ("call" in said) {
    const { name, input } = said.call;
    const call_id = `call_${round}`;
    return { type: "function_call", id, call_id, name, arguments: JSON.stringify(input), status: "completed" };
  }
  const content = [{ type: "output_text", text: said.pieces.join(""), annotations: [] }];
  return { type: "message", id, role: "assistant", status: "completed", content };
}

function* responsesBegin(answer: Answer): Generator<string> {
  const { said } = answer;
  yield typed("response.created", { response: { ...responseOf(answer), status: "in_progress" } });
  const item = { ...itemOf(answer), status: "in_progress" };
  const at = { output_index: 0, item_id: item.id };
  if ("call" in said) {
    yield typed("response.output_item.added", { ...at, item: { ...item, arguments: "" } });
    yield typed("response.function_call_arguments.delta", { ...at, delta: JSON.stringify(said.call.input) });
  } else {
    yield typed("response.output_item.added", { ...at, item: { ...item, content: [] } });
    for (const delta of said.pieces) yield typed("response.output_text.delta", { ...at, content_index: 0, delta });
  }
}

function responsesEnd(answer: Answer): string {
  const { prompt, tokens } = answer;
  const item = itemOf(answer);
  const usage = {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: prompt + tokens,
  };
  const response = { ...responseOf(answer), status: "completed", output: [item], usage };
  return typed("response.output_item.done", { output_index: 0, item }) + typed("response.completed", { response });
}

/** The events: those that depend on what is said alone, and the last, with what was counted. */
export function eventsOf(answer: Answer, spoken: Interface): { begin: Iterable<string>; end: string } {
  return spoken === "chat"
    ? { begin: chatBegin(answer), end: chatEnd(answer) }
    : { begin: responsesBegin(answer), end: responsesEnd(answer) };
}
