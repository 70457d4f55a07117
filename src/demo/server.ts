/** The provider inside the program: an OpenAI-compatible server on a loopback port whose model is a fixed script. */
import { byteLength } from "../platform/text.ts";
import { serveLoopback } from "../platform/http_server.ts";
import { type DemoReply, replyTo } from "./script.ts";
import { isRecord, parseJson } from "../platform/record.ts";

export interface Demo {
  /** Holds a random part that other programs of this machine cannot guess. */
  baseUrl: string;
  contextWindow: number;
  close(): Promise<void>;
}

/** Tokens that the demo says it takes; the script itself has no limit. */
const CONTEXT_WINDOW = 32_768;

function failure(status: number, message: string): Response {
  return Response.json({ error: { message, type: "invalid_request_error", code: status } }, { status });
}

function modelList(): Response {
  const model = { id: DEMO_MODEL, object: "model", created: 0, owned_by: "agentcli", max_model_len: CONTEXT_WINDOW };
  return Response.json({ object: "list", data: [model] });
}

function streamed(events: Iterator<string>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = events.next();
      if (next.done) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

function complete(request: DemoRequest): Response {
  const reply = replyTo(request);
  const stamp = { id: crypto.randomUUID(), created: Math.floor(Date.now() / 1000) };
  return streamed(eventsOf(request, reply, stamp));
}

async function answer(request: Request, prefix: string): Promise<Response> {
  const path = new URL(request.url).pathname;
  if (!path.startsWith(`${prefix}/`)) return failure(404, "no such path");
  const rest = path.slice(prefix.length);
  if (request.method === "GET" && rest === "/models") return modelList();
  if (request.method !== "POST" || rest !== "/chat/completions") return failure(404, "no such path");
  const asked = readDemoRequest(await request.text());
  return asked === null ? failure(400, "the body is no chat request") : complete(asked);
}

/** Starts the demo on a free port of 127.0.0.1. It ends with {@link Demo.close}. */
export function startDemo(): Promise<Demo> {
  const prefix = `/${crypto.randomUUID()}/v1`;
  const server = serveLoopback((request) => answer(request, prefix));
  const baseUrl = `http://127.0.0.1:${server.port}${prefix}`;
  return Promise.resolve({ baseUrl, contextWindow: CONTEXT_WINDOW, close: () => server.close() });
}

const DEMO_MODEL = "demo";

/** Token counts are bytes divided by this: there is no tokenizer behind the demo. */
const BYTES_PER_TOKEN = 4;

function serializedCalls(reply: DemoReply, id: string) {
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

/** Returns the reply as events of a stream, each complete with its blank line, `[DONE]` last. */
function* eventsOf(
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
  for (const call of serializedCalls(reply, id)) {
    const { arguments: input } = call.function;
    yield delta({ tool_calls: [{ ...call, function: { ...call.function, arguments: "" } }] });
    // In two pieces, as real servers do: whoever reads the demo reads them too.
    const half = Math.ceil(input.length / 2);
    for (const piece of [input.slice(0, half), input.slice(half)]) {
      yield delta({ tool_calls: [{ index: call.index, function: { arguments: piece } }] });
    }
  }
  yield delta({}, reply.kind === "text" ? "stop" : "tool_calls");
  yield event({ choices: [], usage: usageOf(request, reply) });
  yield "data: [DONE]\n\n";
}

export interface DemoMessage {
  role: string;
  content: string;
  /** Calls of an assistant message. */
  calls: { id: string; name: string; input: Record<string, unknown> }[];
  /** The call that a tool message answers; empty for other messages. */
  callId: string;
}

export interface DemoRequest {
  messages: DemoMessage[];
  tools: string[];
  bytes: number;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function inputOf(serialized: string): Record<string, unknown> {
  const value = parseJson(serialized);
  return isRecord(value) ? value : {};
}

function messageOf(message: Record<string, unknown>): DemoMessage {
  const calls = list(message.tool_calls).map((call) => {
    const called = isRecord(call.function) ? call.function : {};
    return { id: text(call.id), name: text(called.name), input: inputOf(text(called.arguments)) };
  });
  const parts = list(message.content).map((part) => text(part.text)).join("");
  return {
    role: text(message.role),
    content: text(message.content) || parts,
    calls,
    callId: text(message.tool_call_id),
  };
}

/** Returns the request in `body`; null when it is not a chat request. */
function readDemoRequest(body: string): DemoRequest | null {
  const value = inputOf(body);
  if (!Array.isArray(value.messages)) return null;
  return {
    messages: list(value.messages).map(messageOf),
    tools: list(value.tools).map((tool) => text(isRecord(tool.function) ? tool.function.name : "")),
    bytes: byteLength(body),
  };
}
