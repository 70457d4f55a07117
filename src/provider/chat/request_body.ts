/** The body of a request, in the form that every backend takes. Source: wire reference, §5. */
import { wordsOf } from "./content.ts";
import type { ProviderFailure } from "../failure.ts";
import type { ServerError } from "./server_error.ts";
import type { ChatRequest, WireMessage } from "../types.ts";

/** Fields that every request needs: never dropped, whatever a server says of them. */
const REQUIRED: ReadonlySet<string> = new Set(["model", "messages", "stream", "tools"]);

/** A body, and the fields in it that could be left out. */
interface RequestBody {
  /** The bytes, one piece after the other. */
  pieces: Uint8Array<ArrayBuffer>[];
  optional: string[];
}

/** State shared by the requests to one model. Without one a request starts afresh. */
export interface ChatCache {
  /** Fields that the server does not take. */
  refused: Set<string>;
  /** Called with all of them when there is one more. */
  onRefused?: ((refused: readonly string[]) => void) | undefined;
  /** The field of a message in which reasoning goes back: the one in which it came. */
  reasoningField: string;
  /** Messages as they were sent, each as bytes with a comma in front. */
  serialized: WeakMap<WireMessage, Uint8Array<ArrayBuffer>>;
}

/** Creates an empty cache; `refused` are fields that the server is known not to take. */
export function createChatCache(
  { refused = [], onRefused }: { refused?: readonly string[] | undefined; onRefused?: ChatCache["onRefused"] } = {},
): ChatCache {
  return { refused: new Set(refused), onRefused, reasoningField: REASONING, serialized: new WeakMap() };
}

/** The usual name for the reasoning of a message. */
const REASONING = "reasoning_content";

/**
 * Serializes a request. `refused` are fields that this server does not take; a refused `max_tokens` goes out under its
 * newer name, until that is refused too. Messages do not change, and keep their bytes from request to request: each is
 * serialized once, since a session of a thousand rounds sends its history a thousand times. What changes stands after
 * them.
 */
export function requestBody(request: ChatRequest, cache: ChatCache): RequestBody {
  const { refused, serialized, reasoningField } = cache;
  const optional: Record<string, unknown> = { ...request.params };
  if (request.temperature !== undefined) optional["temperature"] = request.temperature;
  if (request.maxTokens !== undefined) optional["max_tokens"] = request.maxTokens;
  optional["stream_options"] = { include_usage: true };
  if (refused.has("max_tokens") && optional["max_tokens"] !== undefined) {
    optional["max_completion_tokens"] = optional["max_tokens"];
  }
  for (const name of Object.keys(optional)) {
    if (REQUIRED.has(name) || refused.has(name)) delete optional[name];
  }
  const encoder = new TextEncoder();
  const head = JSON.stringify({ model: request.model, ...(request.tools.length > 0 ? { tools: request.tools } : {}) });
  const tail = JSON.stringify({ stream: true, ...optional });
  const field = refused.has(reasoningField) ? null : reasoningField;
  const bytesOf = (message: WireMessage) => {
    const known = serialized.get(message);
    if (known !== undefined) return known;
    const bytes = encoder.encode(`,${JSON.stringify(withReasoningAs(field, wellFormed(message)))}`);
    serialized.set(message, bytes);
    return bytes;
  };
  const pieces = [
    encoder.encode(`${head.slice(0, -1)},"messages":[`),
    ...request.messages.map((message, at) => at === 0 ? bytesOf(message).subarray(1) : bytesOf(message)),
    encoder.encode(`],${tail.slice(1)}`),
  ];
  const reasons = field !== null && request.messages.some((message) => "reasoning_content" in message);
  return { pieces, optional: [...Object.keys(optional), ...(reasons ? [field] : [])] };
}

/** The message with its reasoning under the name that the server uses; without reasoning where there is none. */
function withReasoningAs(field: string | null, message: WireMessage): object {
  if (field === REASONING || message.role !== "assistant" || message.reasoning_content === undefined) return message;
  const { reasoning_content, ...others } = message;
  return field === null ? others : { ...others, [field]: reasoning_content };
}

/** Half a surrogate pair would become an escape that JSON readers refuse (llama.cpp: 500). */
function wellFormed(message: WireMessage): WireMessage {
  const words = wordsOf(message);
  if (words.isWellFormed()) return message;
  if (typeof message.content === "string") return { ...message, content: words.toWellFormed() };
  const parts = message.content.map((part) =>
    part.type === "text" ? { ...part, text: part.text.toWellFormed() } : part
  );
  return { role: "user", content: parts };
}

/** The texts of a request that may hold something private: what a server's echo is searched for. */
export function requestTexts(request: ChatRequest): string[] {
  const messages = request.messages.flatMap((message) => {
    const calls = message.role === "assistant" ? message.tool_calls ?? [] : [];
    const reasoning = message.role === "assistant" ? message.reasoning_content ?? "" : "";
    return [wordsOf(message), reasoning, ...calls.map((call) => call.function.arguments)];
  });
  return [...messages, ...request.tools.map((tool) => tool.function.description)];
}

/** Returns the field of the request that the server's error names and that can be left out; null when there is none. */
export function refusedField(error: ServerError, optional: readonly string[]): string | null {
  // DeepSeek names the missing field.
  if (/must be passed back|is required/i.test(error.message)) return null;
  if (error.param !== null && optional.includes(error.param)) return error.param;
  return optional.find((name) => new RegExp(`\\b${RegExp.escape(name)}\\b`).test(error.message)) ?? null;
}

/** Tokens kept free below the window, for what a server counts and does not report. */
export const MARGIN = 16;
/** A response shorter than this is not worth a request. */
export const SMALLEST_RESPONSE = 64;

/**
 * The reply limit that would fit, when the server refused only because prompt and reply together are too long
 * (vLLM); null when the prompt alone is, or the numbers are not known.
 */
export function fittingMaxTokens(failure: ProviderFailure, request: ChatRequest): number | null {
  const { contextWindow, promptTokens } = failure.facts;
  if (failure.kind !== "context" || contextWindow === undefined || promptTokens === undefined) return null;
  const room = contextWindow - promptTokens - MARGIN;
  return request.maxTokens !== undefined && room >= SMALLEST_RESPONSE && room < request.maxTokens ? room : null;
}
