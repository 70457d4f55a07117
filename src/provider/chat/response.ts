/** Reads the response to a chat request, or its failure. Loaded while the server works. */
import type { Clock } from "../../platform/io.ts";
import { ProviderFailure, retryAfter } from "../failure.ts";
import type { HttpResponse } from "../http/client.ts";
import { ResponseDecoder, type Verdict } from "./response_decoder.ts";
import { requestTexts } from "./request_body.ts";
import { type ServerError, serverErrorFromBody } from "./server_error.ts";
import type { ChatDelta, ChatOptions, ChatRequest, ChatResponse, Endpoint } from "../types.ts";
import type { ByteSource } from "../http/body.ts";
import { providerLabel } from "../../config/base_url.ts";

/** Bytes of an error response that are read. */
const ERROR_LIMIT = 64 * 1024;

interface SentRequest extends Pick<ChatOptions, "signal" | "onDelta" | "onAnswer"> {
  endpoint: Endpoint;
  request: ChatRequest;
  clock: Clock;
}

/** The failure for a response that is no success, and the error as the server gave it. */
export async function readRefusal(
  response: HttpResponse,
  sent: SentRequest,
): Promise<{ failure: ProviderFailure; error: ServerError }> {
  // A body that is too long or does not end does not matter: the status decides.
  const body = await response.text(ERROR_LIMIT).catch(() => "");
  await response.cancel();
  const { documentsIn } = await import("./errors.ts");
  for (const fields of documentsIn(body)) sent.onAnswer?.({ fields });
  const error = serverErrorFromBody(body);
  const wait = retryAfter(response.headers, sent.clock.now());
  const facts = { status: response.status, retryAfterMs: wait ?? undefined };
  return { failure: await failureFor(error, sent, facts), error };
}

/** Reads a reply. Throws a {@link ProviderFailure}, with what had arrived once part of it was passed on. */
export async function readReply(response: HttpResponse, sent: SentRequest): Promise<ChatResponse> {
  const { clock, signal } = sent;
  const whole = /^application\/json\b/i.test(response.headers.get("content-type") ?? "");
  const decoder = new ResponseDecoder({ whole, onFields: (fields) => sent.onAnswer?.({ fields }) });
  let handedOn = false;
  const onDelta = (delta: ChatDelta) => {
    if (delta.kind !== "prefill") handedOn = true;
    return sent.onDelta(delta);
  };
  const { firstByte, idle } = sent.endpoint.timeout;
  try {
    const end: ReadEnd = response.body === null ? { kind: "end" } : await readInto(decoder, response.body, {
      clock,
      signal,
      firstByteMs: firstByte * 1000,
      idleMs: idle * 1000,
      onDelta,
    });
    signal.throwIfAborted();
    decoder.end();
    for (const delta of decoder.takeDeltas()) await onDelta(delta);
    return await outcomeOf(await decoder.verdict(), end, sent);
  } catch (error) {
    throw handedOn && error instanceof ProviderFailure ? error.with({ partial: decoder.partial() }) : error;
  }
}

async function failureFor(
  error: ServerError,
  { endpoint, request }: SentRequest,
  response: { status: number; retryAfterMs?: number | undefined },
): Promise<ProviderFailure> {
  // With all that is known of servers: most replies need none of it.
  const { serverFailure } = await import("./errors.ts");
  return serverFailure(error, {
    endpoint,
    model: request.model,
    ...response,
    texts: requestTexts(request),
    images: request.messages.some((message) => typeof message.content !== "string"),
  });
}

async function outcomeOf(verdict: Verdict, end: ReadEnd, sent: SentRequest): Promise<ChatResponse> {
  const { provider, baseUrl } = sent.endpoint;
  switch (verdict.kind) {
    case "complete":
      return verdict.reply;
    case "error":
      throw await failureFor(verdict.error, sent, { status: 200 });
    case "empty":
      throw new ProviderFailure("empty_reply", `${providerLabel(provider)} sent an empty reply`, {
        kind: "empty",
        hint:
          "look at the server's log: some servers end a reply without an error when the model fails, others when the " +
          "prompt is longer than the window the model was loaded with",
      });
    case "foreign":
      throw new ProviderFailure("invalid_reply", `${providerLabel(provider)} did not respond like a model server`, {
        kind: "invalid",
        hint: `is ${baseUrl} the right address? most servers need one that ends in /v1`,
      });
    case "cut":
      throw end.kind === "idle" ? idleTimeout(provider, end.milliseconds) : cut(provider, end.kind);
  }
}

function idleTimeout(provider: string, milliseconds: number): ProviderFailure {
  const message = `${providerLabel(provider)} hit the idle timeout: no data for ${Math.round(milliseconds / 1000)} s`;
  const hint = "look at the server's log; the limits are timeout.first_byte_s and timeout.idle_s in providers.yaml";
  return new ProviderFailure("provider_timeout", message, { kind: "timeout", hint });
}

function cut(provider: string, end: "end" | "broken"): ProviderFailure {
  const why = "look at the server's log: it may have run out of memory or been stopped";
  return new ProviderFailure("connection_lost", `${providerLabel(provider)} ended its reply before it was complete`, {
    kind: "lost",
    // Some servers, and proxies in front of them, close a stream properly when they give up.
    hint: end === "broken" ? why : `${why}; the stream ended without a finish_reason and without [DONE]`,
  });
}

/** Milliseconds after the finish reason: only token counts may follow. Some servers send comments forever. */
const AFTER_FINISH = 10_000;
/** Milliseconds for the server to end the response after `[DONE]`, so that the connection can be used again. */
const AFTER_DONE = 100;
/**
 * The reason that ends a timer. Without an explicit reason the runtime creates an error, with a stack, for every reply.
 */
const OVER = "over";

/** How a body is read: the signal ends the reading, and the caller looks at it afterwards. */
interface ReadOptions extends Pick<ChatOptions, "signal" | "onDelta"> {
  clock: Clock;
  /** Milliseconds to the first byte, and between bytes; comments count as bytes. */
  firstByteMs: number;
  idleMs: number;
}

/** The end of a stream: the end of the body, an idle timeout of so many milliseconds, or a broken connection. */
type ReadEnd = { kind: "end" } | { kind: "idle"; milliseconds: number } | { kind: "broken" };

/**
 * Reads until the end, the end of the reply, or silence. Errors of the decoder (limits) and of `onDelta` are thrown;
 * the body is released in every case.
 */
export async function readInto(
  decoder: ResponseDecoder,
  source: ByteSource,
  options: ReadOptions,
): Promise<ReadEnd> {
  const timer = new IdleTimer(options.clock, () => source.cancel());
  timer.allow(options.firstByteMs);
  const stop = () => void source.cancel();
  options.signal.addEventListener("abort", stop, { once: true });
  let first = true;
  let ending = false;
  try {
    for (;;) {
      // The runtime's words for a connection that broke are dropped here.
      const bytes = await source.read().catch(() => undefined);
      if (timer.expired !== null) return { kind: "idle", milliseconds: timer.expired };
      if (bytes === undefined) return { kind: "broken" };
      if (bytes === null) return { kind: "end" };
      if (!ending) timer.alive();
      if (first) timer.allow(options.idleMs);
      first = false;
      decoder.feed(bytes);
      for (const delta of decoder.takeDeltas()) {
        const taken = options.onDelta(delta);
        if (taken === undefined) continue;
        // Time that the consumer of the deltas takes is not the server's silence.
        timer.pause();
        await taken;
        timer.resume();
        if (!ending) timer.alive();
      }
      if (decoder.done) {
        await Promise.race([drained(source), options.clock.sleep(AFTER_DONE, timer.signal)]);
        return { kind: "end" };
      }
      if (decoder.finished && !ending) {
        ending = true;
        timer.allow(Math.min(options.idleMs, AFTER_FINISH));
      }
    }
  } finally {
    timer.stop();
    options.signal.removeEventListener("abort", stop);
    await source.cancel();
  }
}

/** The reply is complete; how its connection ends does not matter. */
async function drained(source: ByteSource): Promise<void> {
  while (await source.read().catch(() => null) !== null);
}

/** One timer for many reads: it checks for the last sign of life only when the time would be up. */
class IdleTimer {
  expired: number | null = null;
  readonly #clock: Clock;
  readonly #onExpired: () => void;
  #last: number;
  #paused = false;
  #timer = new AbortController();

  constructor(clock: Clock, onExpired: () => void) {
    this.#clock = clock;
    this.#onExpired = onExpired;
    this.#last = clock.monotonic();
  }

  get signal(): AbortSignal {
    return this.#timer.signal;
  }

  alive(): void {
    this.#last = this.#clock.monotonic();
  }

  resume(): void {
    this.#paused = false;
  }

  /** No time counts as silence until {@link resume}. */
  pause(): void {
    this.#paused = true;
  }

  /** Allows `milliseconds` of silence from the last sign of life on. */
  allow(milliseconds: number): void {
    this.stop();
    this.#timer = new AbortController();
    this.#watch(milliseconds, this.#timer.signal).catch(() => {});
  }

  stop(): void {
    this.#timer.abort(OVER);
  }

  async #watch(milliseconds: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      if (this.#paused) this.#last = this.#clock.monotonic();
      const left = this.#last + milliseconds - this.#clock.monotonic();
      if (left <= 0) {
        this.expired = milliseconds;
        this.#onExpired();
        return;
      }
      await this.#clock.sleep(left, signal);
    }
  }
}
