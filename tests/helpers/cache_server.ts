/**
 * A llama-server with one slot, for tests: it renders each request like a chat template, keeps what it has read and
 * written, and tells how much of the next prompt that covers. Tokens are four characters.
 */
import { type FakeServer, type RecordedRequest, startFakeServer, type Step } from "./fake_server.ts";

/** How its template and its cache are. */
export interface CacheOptions {
  /** The answer to the request of this index. */
  script(index: number, request: RecordedRequest): Extract<Step, { kind: "message" }>;
  /** The template can show the reasoning of all turns, and does where the request says so. Default: it never does. */
  preservesReasoning?: boolean;
  /** The state cannot go back: a prompt that does not begin with all of it is read from the start. */
  hybrid?: boolean;
  /** Forgets its slot before the request of this index, as it would for another client. */
  evictedBefore?: number;
  /** Further fields of `/props`. */
  props?: Record<string, unknown>;
}

/** One request as the server counted it, in tokens. */
export interface CountedRequest {
  prompt: number;
  cached: number;
  reply: number;
}

/** The server, and what it counted. */
export interface CacheServer extends FakeServer {
  counted: CountedRequest[];
}

const TOKEN = 4;
const tokensOf = (text: string) => Math.ceil(text.length / TOKEN);

// deno-lint-ignore no-explicit-any -- the body of a request
function render({ json }: { json: any }, options: CacheOptions): string {
  const showsReasoning = options.preservesReasoning === true &&
    json.chat_template_kwargs?.preserve_reasoning === true;
  const parts = [JSON.stringify(json.tools ?? [])];
  for (const message of json.messages) {
    const reasoning = showsReasoning && message.reasoning_content ? `<think>${message.reasoning_content}</think>` : "";
    const calls = (message.tool_calls ?? []).map((call: { function: { name: string; arguments: string } }) =>
      `<call>${call.function.name}${call.function.arguments}</call>`
    ).join("");
    parts.push(`<${message.role}>${reasoning}${message.content}${calls}</>`);
  }
  return `${parts.join("")}<assistant>`;
}

function written({ reasoning, text = "", calls = [] }: Extract<Step, { kind: "message" }>): string {
  const named = calls.map((call) => "name" in call ? `<call>${call.name}${JSON.stringify(call.input)}</call>` : "");
  return `${reasoning === undefined ? "" : `<think>${reasoning}</think>`}${text}${named.join("")}</>`;
}

function commonLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

/** Starts the server. */
export function startCacheServer(options: CacheOptions): CacheServer {
  const counted: CountedRequest[] = [];
  let state = "";
  const script = (request: RecordedRequest): Step => {
    if (request.index === options.evictedBefore) state = "";
    const prompt = render(request, options);
    const common = commonLength(state, prompt);
    const kept = options.hybrid === true && common < state.length ? 0 : common;
    const message = options.script(request.index, request);
    const reply = written(message);
    state = prompt + reply;
    const count = { prompt: tokensOf(prompt), cached: Math.floor(kept / TOKEN), reply: tokensOf(reply) };
    counted.push(count);
    const read = count.prompt - count.cached;
    const timings = { cache_n: count.cached, prompt_n: read, prompt_ms: read * 10, predicted_n: count.reply };
    return { ...message, usage: { prompt: count.prompt, completion: count.reply }, timings };
  };
  const props = {
    default_generation_settings: { n_ctx: 65_536 },
    total_slots: 1,
    chat_template_caps: {
      supports_tools: true,
      supports_tool_calls: true,
      supports_parallel_tool_calls: true,
      supports_preserve_reasoning: options.preservesReasoning === true,
    },
    ...options.props,
  };
  const json = (body: unknown): Step => ({
    kind: "status",
    status: 200,
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
  const server = startFakeServer({
    name: "llama.cpp",
    script,
    models: { object: "list", data: [{ id: "fake", object: "model", owned_by: "llamacpp" }] },
    routes: { "/props": json(props) },
  });
  return Object.assign(server, { counted });
}
