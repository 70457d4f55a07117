/**
 * Sends a chat request, reads and classifies the reply, and sends it again where that is safe, or without reasoning
 * where there was too much of it.
 */
import type { Clock } from "../../platform/io.ts";
import { grouped } from "../../platform/number.ts";
import { nextRetry, ProviderFailure, retryGroup } from "../failure.ts";
import type { HttpClient } from "../http/client.ts";
import { mergedFields, type RequestProfile } from "../profiles/profile.ts";
import { type ChatCache, createChatCache, fittingMaxTokens, refusedField, requestBody } from "./request_body.ts";
import type { ServerError } from "./server_error.ts";
import type { Chat, ChatDelta, ChatOptions, ChatRequest, ChatResponse, Endpoint, RetryNotice } from "../types.ts";

interface SendOptions extends ChatOptions {
  cache?: ChatCache;
  clock: Clock;
}

interface AddressedRequest {
  endpoint: Endpoint;
  request: ChatRequest;
}

/**
 * Sends a request and reads the reply. Throws a {@link ProviderFailure} that says what kind of failure it was and,
 * after a cut, what had arrived (`partial`); an abort throws the signal's reason. A reply that breaks off after
 * part of it was passed on is requested from the start once, with a notice that says so. A field that the server
 * refuses by name is dropped, once, and left out of later requests with the same cache.
 */
export async function chat(
  client: HttpClient,
  addressed: AddressedRequest,
  options: SendOptions,
): Promise<ChatResponse> {
  const attempts = new Attempts(client, { ...addressed, options });
  for (;;) {
    options.signal.throwIfAborted();
    try {
      return await attempts.once();
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof ProviderFailure)) throw error;
      const recovered = await recoverRefused(error, addressed.request);
      if (recovered !== null) return recovered;
      const notice = attempts.retryFor(error);
      if (notice === null) throw await attempts.final(error);
      await options.onRetry?.(notice);
      if (notice.delayMs > 0) await options.clock.sleep(notice.delayMs, options.signal);
    }
  }
}

/** Returns the reply that a server could not parse (Groq's `tool_use_failed`), if it holds calls of declared tools. */
async function recoverRefused(failure: ProviderFailure, { tools }: ChatRequest): Promise<ChatResponse | null> {
  const text = failure.facts.failedGeneration;
  if (text === undefined || tools.length === 0) return null;
  const { recoverMended } = await import("../text_calls/recover.ts");
  if (await recoverMended(text, tools) === null) return null;
  return { text, reasoning: "", calls: [], finish: "stop", usage: null, model: null };
}

/** The attempts at one request, and what later ones take from them. */
class Attempts {
  readonly #client: HttpClient;
  readonly #endpoint: Endpoint;
  readonly #options: SendOptions;
  readonly #started: number;
  readonly #cache: ChatCache;
  /** By {@link retryGroup}. */
  readonly #retries = new Map<string, number>();
  #request: ChatRequest;
  /** Of the last attempt. */
  #optional: string[] = [];
  #serverError: ServerError | null = null;

  constructor(client: HttpClient, addressed: AddressedRequest & { options: SendOptions }) {
    const { options } = addressed;
    this.#client = client;
    this.#endpoint = addressed.endpoint;
    this.#request = addressed.request;
    this.#options = options;
    this.#started = options.clock.monotonic();
    this.#cache = options.cache ?? createChatCache();
  }

  async once(): Promise<ChatResponse> {
    this.#serverError = null;
    await this.#options.beforeSend?.();
    const { pieces, optional } = requestBody(this.#request, this.#cache);
    this.#optional = optional;
    const response = await this.#client.send(this.#endpoint, {
      method: "POST",
      path: "/chat/completions",
      body: pieces,
      signal: this.#options.signal,
      onSent: () => {
        this.#options.onSent?.();
        void import("./response.ts");
      },
    });
    const { readRefusal, readReply } = await import("./response.ts");
    const sent = { ...this.#options, endpoint: this.#endpoint, request: this.#request };
    const isReply = response.status >= 200 && response.status <= 299;
    try {
      this.#options.onAnswer?.({ headers: response.headers });
      if (isReply) await this.#options.onResponse?.(response.headers.get("server") ?? "");
    } catch (error) {
      await response.cancel();
      throw error;
    }
    if (isReply) {
      const reply = await readReply(response, sent);
      this.#cache.reasoningField = reply.reasoningField ?? this.#cache.reasoningField;
      return reply;
    }
    const { failure, error } = await readRefusal(response, sent);
    this.#serverError = error;
    throw failure;
  }

  /** The retry for a failure of the last attempt; null to give up. */
  retryFor(failure: ProviderFailure): RetryNotice | null {
    const { kind, message: reason } = failure;
    const status = failure.facts.status ?? null;
    const again = { kind, attempt: 1, maxRetries: 1, delayMs: 0, status };
    const field = this.#fieldToDrop(failure);
    if (field !== null) {
      this.#cache.refused.add(field);
      // Messages are written without it from here on.
      if (field === this.#cache.reasoningField) this.#cache.serialized = new WeakMap();
      this.#cache.onRefused?.([...this.#cache.refused]);
      return { ...again, reason: `${reason}; sent again without ${field}` };
    }
    const maxTokens = fittingMaxTokens(failure, this.#request);
    if (maxTokens !== null && failure.partial === null) {
      this.#request = { ...this.#request, maxTokens };
      return { ...again, reason: `${reason}; sent again for a shorter reply` };
    }
    const group = retryGroup(failure);
    const retries = this.#retries.get(group) ?? 0;
    const next = nextRetry(failure, {
      retries,
      elapsedMs: this.#options.clock.monotonic() - this.#started,
      loadingLimitMs: this.#endpoint.timeout.firstByte * 1000,
      random: Math.random(),
    });
    if (next === null) return null;
    this.#retries.set(group, retries + 1);
    const restart = failure.partial === null ? {} : { restart: true as const };
    return { kind, attempt: retries + 1, ...next, status, reason, ...restart };
  }

  /**
   * The failure that ends the request. Of a model that the server does not have it names those that it has; of half a
   * reply, or none, it says that a second attempt failed too.
   */
  async final(failure: ProviderFailure): Promise<ProviderFailure> {
    if (failure.kind === "model") {
      const { withServedModels } = await import("./errors.ts");
      const addressed = { endpoint: this.#endpoint, model: this.#request.model, signal: this.#options.signal };
      return await withServedModels(failure, this.#client, addressed);
    }
    const group = retryGroup(failure);
    if (!this.#retries.has(group) || !["restart", "empty"].includes(group)) return failure;
    return new ProviderFailure(failure.code, `${failure.message}; two attempts failed`, failure.facts);
  }

  #fieldToDrop(failure: ProviderFailure): string | null {
    const { status } = failure.facts;
    if (
      (failure.kind !== "request" && failure.kind !== "template") || (status !== 400 && status !== 422) ||
      this.#serverError === null
    ) return null;
    return refusedField(this.#serverError, this.#optional);
  }
}

/** Characters of a token of reasoning. */
const CHARACTERS_PER_TOKEN = 4;
/** A server that enforces the limit itself counts tokens better: it may, within this factor. */
const PATIENCE = 1.5;
/** Ends the request; never shown. */
const TOO_LONG = "too long";

/**
 * Asks for a response whose reasoning is within the limit of the profile. One that goes beyond it is broken off and
 * requested again without reasoning, once: that response counts.
 */
export async function chatWithinLimit(
  chat: Chat,
  { request, profile }: { request: ChatRequest; profile: RequestProfile },
  options: ChatOptions,
): Promise<ChatResponse> {
  const { reasoningLimit, noThinking } = profile;
  if (reasoningLimit === null) return await chat(request, options);
  const most = reasoningLimit * CHARACTERS_PER_TOKEN * PATIENCE;
  const stop = new AbortController();
  let length = 0;
  const counted = {
    ...options,
    signal: AbortSignal.any([options.signal, stop.signal]),
    onDelta(delta: ChatDelta) {
      if (delta.kind === "reasoning" && (length += delta.text.length) > most) stop.abort(TOO_LONG);
      return options.onDelta(delta);
    },
    onRetry(notice: RetryNotice) {
      length = 0;
      return options.onRetry?.(notice);
    },
  };
  try {
    return await chat(request, counted);
  } catch (error) {
    if (error !== TOO_LONG || options.signal.aborted) throw error;
  }
  const tokens = grouped(reasoningLimit);
  await options.onRetry?.({
    kind: "reasoning",
    attempt: 1,
    maxRetries: 1,
    delayMs: 0,
    status: null,
    reason: `the model reasoned for more than ${tokens} tokens; asked again without reasoning`,
    restart: true,
  });
  return await chat({ ...request, params: mergedFields(request.params ?? {}, noThinking) }, options);
}
