/** One request for a reply: sent, read, classified, and sent again where that is safe. */
import type { Clock } from "../platform/io.ts";
import { serverFailure } from "./errors.ts";
import { type FailureKind, ProviderFailure } from "./failure.ts";
import type { DoorResponse, HttpDoor } from "./http.ts";
import { type ReadingEnd, readInto } from "./reading.ts";
import { ReplyDecoder, type Verdict } from "./reply.ts";
import { fittingMaxTokens, refusedField, requestBody, requestTexts } from "./request.ts";
import { nextRetry, retryAfter } from "./retry.ts";
import { type ServerError, serverErrorFromBody } from "./server_error.ts";
import type { ChatDelta, ChatReply, ChatRequest, Endpoint, RetryNotice } from "./types.ts";
import { WrittenHistory } from "./written.ts";

/** Bytes of an error response that are read. */
const ERROR_LIMIT = 64 * 1024;

/** How a request is made. */
export interface ChatOptions {
  signal: AbortSignal;
  clock: Clock;
  /** Called when a request is on its way. */
  onSent?(): void;
  /** Called at most once a kind for each network read; a promise is awaited before more is read. */
  onDelta(delta: ChatDelta): void | Promise<void>;
  /** Called before each wait. */
  onRetry?(notice: RetryNotice): void;
}

/** What is asked, and of whom. */
export interface ChatQuestion {
  endpoint: Endpoint;
  request: ChatRequest;
}

/**
 * Asks for a reply and reads it. Throws a {@link ProviderFailure} that says what kind of failure it was and, after a
 * cut, what had arrived (`partial`); an abort throws the signal's reason. Sent again by itself only while nothing of the
 * reply was handed on. A field that the server refuses by name is dropped, once, and remembered by the door.
 */
export async function chat(door: HttpDoor, asked: ChatQuestion, options: ChatOptions): Promise<ChatReply> {
  const attempts = new Attempts(door, { ...asked, options });
  for (;;) {
    options.signal.throwIfAborted();
    try {
      return await attempts.once();
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof ProviderFailure)) throw error;
      const notice = attempts.retryFor(error);
      if (notice === null) throw error;
      options.onRetry?.(notice);
      if (notice.delayMs > 0) await options.clock.sleep(notice.delayMs, options.signal);
    }
  }
}

/** The attempts at one request, and what they taught. */
class Attempts {
  readonly #door: HttpDoor;
  readonly #endpoint: Endpoint;
  readonly #options: ChatOptions;
  readonly #started: number;
  readonly #refused: Set<string>;
  readonly #written: WrittenHistory;
  readonly #retries = new Map<FailureKind, number>();
  #request: ChatRequest;
  /** Of the last attempt. */
  #optional: string[] = [];
  #serverError: ServerError | null = null;

  constructor(door: HttpDoor, asked: ChatQuestion & { options: ChatOptions }) {
    const { options } = asked;
    this.#door = door;
    this.#endpoint = asked.endpoint;
    this.#request = asked.request;
    this.#options = options;
    this.#started = options.clock.monotonic();
    const name = `${asked.endpoint.provider} ${asked.request.model}`;
    this.#refused = door.refusedFields?.get(name) ?? new Set();
    door.refusedFields?.set(name, this.#refused);
    this.#written = door.writtenHistory ?? new WrittenHistory();
  }

  async once(): Promise<ChatReply> {
    this.#serverError = null;
    const { pieces, optional } = requestBody(this.#request, { refused: this.#refused, written: this.#written });
    this.#optional = optional;
    const response = await this.#door.send(this.#endpoint, {
      method: "POST",
      path: "/chat/completions",
      body: pieces,
      signal: this.#options.signal,
      onSent: this.#options.onSent,
    });
    if (response.status < 200 || response.status > 299) throw await this.#refusal(response);
    return await this.#read(response);
  }

  /** The retry for a failure of the last attempt; null to give up. */
  retryFor(failure: ProviderFailure): RetryNotice | null {
    const status = failure.facts.status ?? null;
    const reason = failure.message;
    const field = this.#fieldToDrop(failure);
    if (field !== null) {
      this.#refused.add(field);
      return { attempt: 1, maxRetries: 1, delayMs: 0, status, reason: `${reason}; sent again without ${field}` };
    }
    const maxTokens = fittingMaxTokens(failure, this.#request);
    if (maxTokens !== null && failure.partial === null) {
      this.#request = { ...this.#request, maxTokens };
      return { attempt: 1, maxRetries: 1, delayMs: 0, status, reason: `${reason}; sent again for a shorter reply` };
    }
    const retries = this.#retries.get(failure.kind) ?? 0;
    const next = nextRetry(failure, {
      retries,
      elapsedMs: this.#options.clock.monotonic() - this.#started,
      loadingLimitMs: this.#endpoint.timeout.firstByte * 1000,
      random: Math.random(),
    });
    if (next === null) return null;
    this.#retries.set(failure.kind, retries + 1);
    return { attempt: retries + 1, ...next, status, reason };
  }

  #fieldToDrop(failure: ProviderFailure): string | null {
    const { status } = failure.facts;
    if (failure.kind !== "request" || (status !== 400 && status !== 422) || this.#serverError === null) return null;
    return refusedField(this.#serverError, this.#optional);
  }

  /** The failure for a response that is no success. */
  async #refusal(response: DoorResponse): Promise<ProviderFailure> {
    // A body that is too long or does not end changes nothing: the status decides then.
    const body = await response.text(ERROR_LIMIT).catch(() => "");
    await response.cancel();
    this.#serverError = serverErrorFromBody(body);
    const wait = retryAfter(response.headers, this.#options.clock.now());
    return this.#serverFailure(this.#serverError, { status: response.status, retryAfterMs: wait ?? undefined });
  }

  #serverFailure(error: ServerError, response: { status: number; retryAfterMs?: number | undefined }): ProviderFailure {
    const request = this.#request;
    return serverFailure(error, {
      endpoint: this.#endpoint,
      model: request.model,
      ...response,
      texts: requestTexts(request),
      images: request.messages.some((message) => typeof message.content !== "string"),
    });
  }

  async #read(response: DoorResponse): Promise<ChatReply> {
    const { clock, signal } = this.#options;
    const whole = /^application\/json\b/i.test(response.headers.get("content-type") ?? "");
    const decoder = new ReplyDecoder({ whole });
    let handedOn = false;
    const onDelta = (delta: ChatDelta) => {
      if (delta.kind !== "prefill") handedOn = true;
      return this.#options.onDelta(delta);
    };
    const { firstByte, idle } = this.#endpoint.timeout;
    try {
      const end: ReadingEnd = response.body === null ? { kind: "end" } : await readInto(decoder, response.body, {
        clock,
        signal,
        firstByteMs: firstByte * 1000,
        idleMs: idle * 1000,
        onDelta,
      });
      signal.throwIfAborted();
      decoder.end();
      for (const delta of decoder.takeDeltas()) await onDelta(delta);
      return this.#judge(await decoder.verdict(), end);
    } catch (error) {
      throw handedOn && error instanceof ProviderFailure ? error.with({ partial: decoder.partial() }) : error;
    }
  }

  /** The reply, or the failure it amounts to. */
  #judge(verdict: Verdict, end: ReadingEnd): ChatReply {
    const { provider, baseUrl } = this.#endpoint;
    switch (verdict.kind) {
      case "complete":
        return verdict.reply;
      case "error":
        throw this.#serverFailure(verdict.error, { status: 200 });
      case "empty":
        throw new ProviderFailure("empty_reply", `${provider} sent an empty reply`, {
          kind: "empty",
          hint: "the conversation is probably longer than the window the model was loaded with: " +
            "load it with a larger one, or start with less: fewer files, a narrower question",
        });
      case "foreign":
        throw new ProviderFailure("invalid_reply", `${provider} did not answer as a model server`, {
          kind: "invalid",
          hint: `is ${baseUrl} the right address? most servers want one that ends in /v1`,
        });
      case "cut":
        throw end.kind === "silence" ? fellSilent(provider, end.milliseconds) : cut(provider);
    }
  }
}

function fellSilent(provider: string, milliseconds: number): ProviderFailure {
  return new ProviderFailure("provider_timeout", `${provider} fell silent for ${Math.round(milliseconds / 1000)} s`, {
    kind: "timeout",
    hint: "look at the server's log; the waits are timeout.first_byte_s and timeout.idle_s in providers.yaml",
  });
}

function cut(provider: string): ProviderFailure {
  return new ProviderFailure("connection_lost", `${provider} ended its reply before it was complete`, {
    kind: "lost",
    hint: "look at the server's log: it may have run out of memory or been stopped; then try again",
  });
}
