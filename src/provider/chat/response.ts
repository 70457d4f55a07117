/**
 * What came back of a request for a reply: the reply, or the failure that it amounts to. Loaded while the server works,
 * so that no request waits for it.
 */
import type { Clock } from "../../platform/io.ts";
import { ProviderFailure } from "../failure.ts";
import type { HttpResponse } from "../http/client.ts";
import { type ReadEnd, readInto } from "./stream_reader.ts";
import { ResponseDecoder, type Verdict } from "./response_decoder.ts";
import { requestTexts } from "./request.ts";
import { retryAfter } from "./retry.ts";
import { type ServerError, serverErrorFromBody } from "./server_error.ts";
import type { ChatDelta, ChatReply, ChatRequest, Endpoint } from "../types.ts";

/** Bytes of an error response that are read. */
const ERROR_LIMIT = 64 * 1024;

/** The request that was answered, and who listens. */
export interface AnsweredRequest {
  endpoint: Endpoint;
  request: ChatRequest;
  signal: AbortSignal;
  clock: Clock;
  onDelta(delta: ChatDelta): void | Promise<void>;
}

/** The failure for a response that is no success, and the error as the server gave it. */
export async function readRefusal(
  response: HttpResponse,
  answered: AnsweredRequest,
): Promise<{ failure: ProviderFailure; error: ServerError }> {
  // A body that is too long or does not end changes nothing: the status decides then.
  const body = await response.text(ERROR_LIMIT).catch(() => "");
  await response.cancel();
  const error = serverErrorFromBody(body);
  const wait = retryAfter(response.headers, answered.clock.now());
  const facts = { status: response.status, retryAfterMs: wait ?? undefined };
  return { failure: await failureFor(error, answered, facts), error };
}

/** Reads a reply. Throws a {@link ProviderFailure}, with what had arrived once something of it was handed on. */
export async function readReply(response: HttpResponse, answered: AnsweredRequest): Promise<ChatReply> {
  const { clock, signal } = answered;
  const whole = /^application\/json\b/i.test(response.headers.get("content-type") ?? "");
  const decoder = new ResponseDecoder({ whole });
  let handedOn = false;
  const onDelta = (delta: ChatDelta) => {
    if (delta.kind !== "prefill") handedOn = true;
    return answered.onDelta(delta);
  };
  const { firstByte, idle } = answered.endpoint.timeout;
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
    return await judge(await decoder.verdict(), end, answered);
  } catch (error) {
    throw handedOn && error instanceof ProviderFailure ? error.with({ partial: decoder.partial() }) : error;
  }
}

async function failureFor(
  error: ServerError,
  { endpoint, request }: AnsweredRequest,
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

/** The reply, or the failure it amounts to. */
async function judge(verdict: Verdict, end: ReadEnd, answered: AnsweredRequest): Promise<ChatReply> {
  const { provider, baseUrl } = answered.endpoint;
  switch (verdict.kind) {
    case "complete":
      return verdict.reply;
    case "error":
      throw await failureFor(verdict.error, answered, { status: 200 });
    case "empty":
      throw new ProviderFailure("empty_reply", `${provider} sent an empty reply`, {
        kind: "empty",
        hint:
          "look at the server's log: some servers end a reply without a word when the model fails, others when the " +
          "prompt is longer than the window the model was loaded with",
      });
    case "foreign":
      throw new ProviderFailure("invalid_reply", `${provider} did not answer as a model server`, {
        kind: "invalid",
        hint: `is ${baseUrl} the right address? most servers want one that ends in /v1`,
      });
    case "cut":
      throw end.kind === "silence" ? fellSilent(provider, end.milliseconds) : cut(provider, end.kind);
  }
}

function fellSilent(provider: string, milliseconds: number): ProviderFailure {
  return new ProviderFailure("provider_timeout", `${provider} fell silent for ${Math.round(milliseconds / 1000)} s`, {
    kind: "timeout",
    hint: "look at the server's log; the waits are timeout.first_byte_s and timeout.idle_s in providers.yaml",
  });
}

function cut(provider: string, end: "end" | "broken"): ProviderFailure {
  const why = "look at the server's log: it may have run out of memory or been stopped";
  return new ProviderFailure("connection_lost", `${provider} ended its reply before it was complete`, {
    kind: "lost",
    // Some servers, and proxies before them, close a stream properly where they give up.
    hint: end === "broken" ? why : `${why}; the stream ended without a finish_reason and without [DONE]`,
  });
}
