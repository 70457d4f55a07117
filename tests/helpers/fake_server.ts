/**
 * A scripted OpenAI-compatible server for tests. It records every request and connection; the script decides what each
 * chat request is answered.
 */
import { type FakeHttp, listenHttp, type Reply, type WireRequest } from "./fake_http.ts";
import type { PlannedUsage, Step } from "./fake_steps.ts";
import { type OfferedTool, offeredTools, pick } from "./fake_tools.ts";

export * from "./fake_steps.ts";

/** A request as it was recorded. */
export interface RecordedRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: Headers;
  text: string;
  /** The parsed body; null when it is no JSON. */
  // deno-lint-ignore no-explicit-any -- tests look into bodies of any shape
  json: any;
  /** From 0, counted over the chat requests alone; -1 for others. */
  index: number;
  /** Resolves when the client of this request has gone away. */
  gone: Promise<void>;
}

/** Steps in order (one a chat request), or a function of the request. After the last step: an error 500. */
export type Script = readonly Step[] | ((request: RecordedRequest) => Step | Promise<Step>);

/** How the server is set up. */
export interface FakeServerOptions {
  /** `127.0.0.1` (default), `127.0.0.2` (plays a remote host), `[::1]`. */
  host?: "127.0.0.1" | "127.0.0.2" | "[::1]";
  /** Default: one that is free. */
  port?: number;
  script?: Script;
  /** What it calls itself in the header `server` of streamed replies; default: nothing. */
  name?: string;
  /** The ids of `/models`, or the whole body, or null for 404. */
  models?: readonly string[] | Record<string, unknown> | null;
  /** Answers of other paths (`/api/ps`), and of `/v1/models` if named here. */
  routes?: Record<string, Step>;
}

/** A running server; `await using` closes it. */
export interface FakeServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/v1` */
  baseUrl: string;
  port: number;
  /** All requests, in order of arrival. */
  requests: RecordedRequest[];
  /** The chat requests alone. */
  chats(): RecordedRequest[];
  /** Number of TCP connections that were ever accepted. */
  connectionCount(): number;
  /** Every byte that every client sent. */
  received(): Uint8Array[];
  /** Capabilities that a step named and no offered tool had. */
  absent: string[];
  /** Resolves with the chat request of this index once it has arrived. */
  arrived(index: number): Promise<RecordedRequest>;
  close(): Promise<void>;
}

type Message = Extract<Step, { kind: "message" }>;

function wordsOf(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\s)/);
}

/** The events of a streamed message, without the blank lines. */
function eventsOf(message: Message, context: { request: RecordedRequest; tools: OfferedTool[]; absent: string[] }) {
  const { request } = context;
  const events: string[] = [];
  const chunk = (delta: Record<string, unknown>, finish: string | null = null) =>
    events.push(JSON.stringify({
      id: `chatcmpl-${request.index}`,
      object: "chat.completion.chunk",
      created: 1700000000,
      model: request.json?.model ?? "fake",
      choices: [{ index: 0, delta, finish_reason: finish }],
    }));
  chunk({ role: "assistant", content: "" });
  for (const word of wordsOf(message.reasoning ?? "")) chunk({ reasoning_content: word });
  for (const word of wordsOf(message.text ?? "")) chunk({ content: word });
  let index = 0;
  for (const call of message.calls ?? []) {
    const picked = pick(call, context.tools);
    if (picked === null) {
      const name = "capability" in call ? call.capability : call.name;
      context.absent.push(name);
      chunk({ content: `vector absent: ${name}` });
      continue;
    }
    const id = "id" in call && call.id !== undefined ? call.id : `call_${request.index}_${index}`;
    chunk({ tool_calls: [{ index, id, type: "function", function: { name: picked.name, arguments: "" } }] });
    const size = Math.max(1, Math.ceil(picked.input.length / 3));
    for (let at = 0; at < picked.input.length; at += size) {
      chunk({ tool_calls: [{ index, function: { arguments: picked.input.slice(at, at + size) } }] });
    }
    index += 1;
  }
  const finish = message.finish === undefined ? (index > 0 ? "tool_calls" : "stop") : message.finish;
  if (finish !== null) chunk({}, finish);
  const usage = usageOf(message, { request, events: events.length });
  const { timings } = message;
  if (usage !== null) events.push(JSON.stringify({ object: "chat.completion.chunk", choices: [], usage, timings }));
  events.push("[DONE]");
  return events;
}

function usageOf(message: Message, counted: { request: RecordedRequest; events: number }) {
  if (message.usage === null) return null;
  if (message.usage === undefined && counted.request.json?.stream_options?.include_usage !== true) return null;
  const planned: PlannedUsage = message.usage ??
    { prompt: Math.ceil(counted.request.text.length / 4), completion: counted.events };
  return {
    prompt_tokens: planned.prompt,
    completion_tokens: planned.completion,
    total_tokens: planned.prompt + planned.completion,
    ...(planned.cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: planned.cached } }),
  };
}

const STREAM = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

/** What a step is answered with. */
type Answering = Parameters<typeof eventsOf>[1] & { name: string | undefined };

async function perform(step: Step, reply: Reply, context: Answering): Promise<void> {
  const head = context.name === undefined ? STREAM : { ...STREAM, server: context.name };
  switch (step.kind) {
    case "repeat":
      return await perform(step.step, reply, context);
    case "later":
      return await perform(await step.step, reply, context);
    case "gated":
      await Promise.race([step.gate, reply.gone]);
      return await perform(await step.then, reply, context);
    case "status":
      return await reply.whole(step.status, step.headers ?? {}, step.body);
    case "raw":
      await reply.raw(step.bytes);
      return reply.cut();
    case "silence":
      if (!step.beforeHead) await reply.head(200, head);
      return await reply.gone;
    case "empty":
      await reply.head(200, head);
      await reply.chunk("data: [DONE]\n\n");
      return await reply.end();
    case "cut":
      await reply.head(200, head);
      for (const event of eventsOf(step.message, context).slice(0, step.events)) {
        await reply.chunk(`data: ${event}\n\n`);
      }
      return reply.cut();
    case "paused": {
      const events = eventsOf(step.message, context).map((event) => `data: ${event}\n\n`);
      await reply.head(200, head);
      for (const event of events.slice(0, step.events)) await reply.chunk(event);
      await Promise.race([step.gate, reply.gone]);
      for (const event of events.slice(step.events)) await reply.chunk(event);
      return await reply.end();
    }
    case "message":
      await reply.head(200, head);
      for (const event of eventsOf(step, context)) await reply.chunk(`data: ${event}\n\n`);
      return await reply.end();
  }
}

function modelList(models: FakeServerOptions["models"]): Step {
  if (models === null) return { kind: "status", status: 404, body: "{}" };
  const ids = models ?? ["fake"];
  const body = Array.isArray(ids)
    ? { object: "list", data: ids.map((id) => ({ id, object: "model", created: 1700000000, owned_by: "fake" })) }
    : ids;
  return { kind: "status", status: 200, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

/** The step for a chat request: the scripted one, or an error that says that the script is over. */
function chatStep(script: Script, request: RecordedRequest): Step | Promise<Step> {
  if (typeof script === "function") return script(request);
  const at = Math.min(request.index, script.length - 1);
  const step = script[at];
  if (step !== undefined && (request.index < script.length || step.kind === "repeat")) return step;
  return { kind: "status", status: 500, body: `{"error":{"message":"no step for request ${request.index}"}}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Starts the server on a free port. */
export function startFakeServer(options: FakeServerOptions = {}): FakeServer {
  const host = options.host ?? "127.0.0.1";
  const script = options.script ?? [{ kind: "repeat", step: { kind: "message", text: "Hello." } }];
  const requests: RecordedRequest[] = [];
  const absent: string[] = [];
  const waiting = new Map<number, (request: RecordedRequest) => void>();
  const chats = () => requests.filter((request) => request.index >= 0);

  const stepFor = (request: RecordedRequest): Step | Promise<Step> => {
    const path = request.path.split("?")[0] ?? "";
    const routed = options.routes?.[path];
    if (routed !== undefined) return routed;
    if (request.index >= 0) return chatStep(script, request);
    if (request.method === "GET" && path === "/v1/models") return modelList(options.models);
    return { kind: "status", status: 404, body: '{"error":{"message":"no such path"}}' };
  };
  const answer = async (wire: WireRequest, reply: Reply) => {
    const text = new TextDecoder().decode(wire.body);
    const isChat = wire.method === "POST" && /\/chat\/completions$/.test(wire.path);
    const request: RecordedRequest = {
      ...wire,
      text,
      json: parsed(text),
      index: isChat ? chats().length : -1,
      gone: reply.gone,
    };
    requests.push(request);
    waiting.get(request.index)?.(request);
    waiting.delete(request.index);
    await perform(await stepFor(request), reply, {
      request,
      tools: offeredTools(request.json),
      absent,
      name: options.name,
    });
  };
  const server: FakeHttp = listenHttp(host.replace(/[[\]]/g, ""), answer, options);
  const close = () => server.close();
  return {
    baseUrl: `http://${host}:${server.port}/v1`,
    port: server.port,
    requests,
    chats,
    connectionCount: () => server.connections.length,
    received: () => server.connections.map((connection) => connection.received()),
    absent,
    arrived(index) {
      const there = chats()[index];
      if (there) return Promise.resolve(there);
      const { promise, resolve } = Promise.withResolvers<RecordedRequest>();
      waiting.set(index, resolve);
      return promise;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
