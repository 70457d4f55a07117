/**
 * The provider inside the program: an OpenAI-compatible server on a loopback port whose "model" is a fixed script. It
 * lets the whole path run (HTTP, streaming, tools, permissions, boundary, transcript) with no server at hand.
 */
import { serveLoopback } from "../platform/http_server.ts";
import { type DemoRequest, readDemoRequest } from "./request.ts";
import { replyTo } from "./script.ts";
import { completionOf, DEMO_MODEL, eventsOf } from "./stream.ts";

/** The demo, listening. */
export interface Demo {
  /** Holds a random part that other programs of this machine cannot guess. */
  baseUrl: string;
  /** Tokens. */
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

/** One event an HTTP chunk, each written only when the reader asks for it. */
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
  if (request.stream) return streamed(eventsOf(request, reply, stamp));
  return Response.json(completionOf(request, reply, stamp));
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
