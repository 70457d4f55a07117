/**
 * A server with a window of so many tokens, for tests: it counts each request like a tokenizer and refuses what does
 * not fit, or silently leaves out the oldest messages. Its model does one step after the other, whatever it is shown.
 */
import {
  type FakeServer,
  type FakeServerOptions,
  type PlannedCall,
  type RecordedRequest,
  say,
  startFakeServer,
  type Step,
} from "./fake_server.ts";

/** How the server takes a prompt that is too long, and what it tells of its window. */
export type WindowDialect =
  /** llama.cpp: 400 with both numbers when the prompt alone is too long; tells its window. */
  | "llama.cpp"
  /** vLLM: 400 when prompt and reply together are too long; tells its window. */
  | "vllm"
  /** llama.cpp whose model is not loaded at first: tells its window with a refusal alone. */
  | "named"
  /** Refuses without a number and tells nothing. */
  | "untold"
  /** Ollama: leaves out the oldest messages but the system message; tells its window. */
  | "silent"
  /** The same, and tells nothing. */
  | "silent_untold";

/** A message of a request's body, as far as it is looked at. */
export interface SentMessage {
  role: string;
  content: string;
  tool_calls?: { function: { name: string; arguments: string } }[];
}

/** What the model of the server is shown: the messages that are left, and the names of the tools. */
export interface Shown {
  messages: readonly SentMessage[];
  tools: readonly string[];
}

/** A step of the model: calls, or the answer that ends the turn. Null skips the step. */
export type ModelStep = (shown: Shown) => PlannedCall[] | string | null;

/** What happened at the server. */
export interface WindowServer extends FakeServer {
  /** Requests of the turn that were answered, as they were shown to the model. */
  answered: Shown[];
  /** Requests for summaries. */
  summaries: number;
  /** Requests refused as too long. */
  refused: number;
  /** Requests of which a part was left out. */
  cut: number;
}

/** Tokens of a text: short pieces of words, single digits and short runs of signs. Dense where real tokenizers are. */
function countTokens(text: string): number {
  return text.match(/ ?\p{L}{1,6}|\p{N}| ?[^\s\p{L}\p{N}]{1,3}|\s+/gu)?.length ?? 0;
}

function messageTokens(message: SentMessage): number {
  return 5 + countTokens(message.content) + (message.tool_calls ? countTokens(JSON.stringify(message.tool_calls)) : 0);
}

const json = (status: number, body: unknown): Step => ({
  kind: "status",
  status,
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});

/** What a server of the dialect tells before it is asked for a reply. */
function told(dialect: WindowDialect, window: number): FakeServerOptions {
  const list = (owner: string, more = {}) => ({
    models: { object: "list", data: [{ id: "fake", object: "model", owned_by: owner, ...more }] },
  });
  switch (dialect) {
    case "llama.cpp":
      return {
        ...list("llamacpp"),
        routes: { "/props": json(200, { default_generation_settings: { n_ctx: window } }) },
      };
    case "vllm":
      return list("vllm", { max_model_len: window });
    case "silent":
      return {
        ...list("library"),
        routes: { "/api/ps": json(200, { models: [{ name: "fake:latest", context_length: window }] }) },
      };
    default:
      return list("somebody");
  }
}

function tooLong(dialect: WindowDialect, counted: { prompt: number; reply: number; window: number }): Step | null {
  const { prompt, reply, window } = counted;
  switch (dialect) {
    case "named":
    case "llama.cpp": {
      if (prompt < window) return null;
      const message = `request (${prompt} tokens) exceeds the available context size (${window} tokens)`;
      const type = "exceed_context_size_error";
      return json(400, { error: { code: 400, message, type, n_prompt_tokens: prompt, n_ctx: window } });
    }
    case "vllm": {
      if (prompt + reply <= window) return null;
      const message = `This model's maximum context length is ${window} tokens. However, you requested ` +
        `${prompt + reply} tokens (${prompt} in the messages, ${reply} in the completion).`;
      return json(400, { object: "error", message, type: "BadRequestError", code: 400 });
    }
    case "untold":
      return prompt < window
        ? null
        : json(400, { error: { message: "the request exceeds the available context size" } });
    default:
      return null;
  }
}

/** What is left of the messages: the system message, and from the end as many as fit; always the last. */
function leftOf(messages: readonly SentMessage[], room: number): SentMessage[] {
  const [system, ...others] = messages;
  if (system === undefined) return [];
  let start = 0;
  const sum = () => messageTokens(system) + others.slice(start).reduce((all, one) => all + messageTokens(one), 0);
  while (start < others.length - 1 && sum() > room) start++;
  return [system, ...others.slice(start)];
}

/** How the server is set up. */
export interface WindowOptions {
  window: number;
  dialect: WindowDialect;
  steps: readonly ModelStep[];
  /** Tokens of a request as something real counts them, or how that refuses it. */
  // deno-lint-ignore no-explicit-any -- the body of a request
  ask?(body: any): Promise<number | Step>;
}

/** Starts the server. */
export function startWindowServer(options: WindowOptions): WindowServer {
  const { window, dialect, steps } = options;
  let at = 0;
  const counts: Pick<WindowServer, "answered" | "summaries" | "refused" | "cut"> = {
    answered: [],
    summaries: 0,
    refused: 0,
    cut: 0,
  };
  const script = async ({ json: body }: RecordedRequest): Promise<Step> => {
    const tools = countTokens(JSON.stringify(body.tools ?? []));
    const all: SentMessage[] = body.messages;
    const tokensOf = (messages: readonly SentMessage[]) =>
      messages.reduce((sum, message) => sum + messageTokens(message), tools);
    const asked = await options.ask?.(body) ?? tokensOf(all);
    const refusal = typeof asked === "number"
      ? tooLong(dialect, { prompt: asked, reply: body.max_tokens, window })
      : asked;
    if (refusal !== null) {
      counts.refused++;
      return refusal;
    }
    const messages = dialect.startsWith("silent") ? leftOf(all, window - tools) : all;
    if (messages.length < all.length) counts.cut++;
    const whole = typeof asked === "number" ? asked : 0;
    const prompt = messages.length < all.length ? Math.min(tokensOf(messages), window) : whole;
    const usage = { prompt, completion: 20 };
    if (body.tools === undefined) {
      counts.summaries++;
      return say("Files were read one by one; none of them held the word that is wanted so far. ".repeat(4), { usage });
    }
    const shown: Shown = {
      messages,
      tools: body.tools.map((tool: { function: { name: string } }) => tool.function.name),
    };
    counts.answered.push(shown);
    let step: ReturnType<ModelStep> = null;
    while (step === null) step = steps[at++]?.(shown) ?? (at > steps.length ? "There are no more steps." : null);
    return typeof step === "string" ? say(step, { usage }) : { kind: "message", calls: step, usage };
  };
  return Object.assign(counts, startFakeServer({ ...told(dialect, window), script }));
}
