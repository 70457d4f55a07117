/** The model under test: asks it, measures the time, and records what every reply shows. */
import { byteLength } from "../../platform/text.ts";
import { grouped } from "../../platform/number.ts";
import type { Clock } from "../../platform/io.ts";
import { chat } from "../chat/chat.ts";
import { createChatCache } from "../chat/request_body.ts";
import type { HttpClient } from "../http/client.ts";
import { wordsOf } from "../chat/content.ts";
import type { ChatRequest, ChatResponse, Endpoint, ToolSchema, WireMessage } from "../types.ts";

export interface SubjectOptions {
  client: HttpClient;
  endpoint: Endpoint;
  model: string;
  /** Request fields that the configuration gives the model: measured is what the agent would get. */
  params?: Record<string, unknown>;
  clock: Clock;
  /** Receives a progress line about the current wait. */
  onNote?(text: string): void;
}

interface ProbeRequest {
  messages: WireMessage[];
  tools?: ToolSchema[];
  /** Tokens of the reply: every step is bounded. */
  maxTokens: number;
  params?: Record<string, unknown>;
}

/** A reply with its times, in milliseconds from the request (the last attempt of it) on. */
export interface TimedReply {
  reply: ChatResponse;
  /** Until something of the reply came. */
  firstMs: number;
  /** Until the last piece of it. */
  lastMs: number;
  endMs: number;
  /** Network reads that brought text, reasoning or parts of calls. */
  pieces: number;
  /** The reasons for which the request was sent again. */
  retries: string[];
}

/** Bytes of a token before any calibration: less than most have, so that a first prompt is too short, not too long. */
const BYTES_PER_TOKEN = 4;
/** Prompts shorter than this, in tokens, say more of the chat template than of the text. */
const TELLING_PROMPT = 200;
/** A ratio outside of this is a made-up count (KoboldCpp: always 100). */
const PLAUSIBLE = { least: 1.5, most: 12 };

/** One model under test. */
export class Subject {
  readonly client: HttpClient;
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly clock: Clock;
  readonly #options: SubjectOptions;
  readonly #cache = createChatCache();
  #bytesPerToken = BYTES_PER_TOKEN;
  replies = 0;
  withReasoning = 0;

  constructor(options: SubjectOptions) {
    this.client = options.client;
    this.endpoint = options.endpoint;
    this.model = options.model;
    this.clock = options.clock;
    this.#options = options;
  }

  /** As the counts of the server so far say. */
  get bytesPerToken(): number {
    return this.#bytesPerToken;
  }

  note(text: string): void {
    this.#options.onNote?.(text);
  }

  /** Asks and measures the time. Throws what {@link chat} throws. */
  async send(request: ProbeRequest, waiting: { signal: AbortSignal; onPiece?(): void }): Promise<TimedReply> {
    const { clock } = this;
    const times = { start: clock.monotonic(), first: null as number | null, last: 0, pieces: 0 };
    const retries: string[] = [];
    const reply = await chat(this.client, { endpoint: this.endpoint, request: this.#request(request) }, {
      signal: waiting.signal,
      cache: this.#cache,
      clock,
      onDelta: (delta) => {
        if (delta.kind === "prefill") {
          this.note(
            `prompt ${grouped(delta.processed)} of ${grouped(delta.total)} tokens`,
          );
          return;
        }
        times.first ??= clock.monotonic();
        // White space at the end is held back and released when the reply is over: it does not count as a piece.
        if (delta.kind === "tool_call" || delta.text.trim() !== "") {
          times.pieces += 1;
          times.last = clock.monotonic();
        }
        waiting.onPiece?.();
      },
      onRetry: ({ reason, delayMs }) => {
        retries.push(reason);
        Object.assign(times, { start: clock.monotonic() + delayMs, first: null, last: 0, pieces: 0 });
      },
    });
    const end = clock.monotonic();
    this.replies += 1;
    if (reply.reasoning !== "") this.withReasoning += 1;
    const first = times.first ?? end;
    return {
      reply,
      firstMs: first - times.start,
      lastMs: Math.max(times.last, first) - times.start,
      endMs: end - times.start,
      pieces: times.pieces,
      retries,
    };
  }

  /** Tokens of a prompt, as the server counted or as estimated from its bytes. */
  promptTokens(request: ProbeRequest, reply: ChatResponse): { tokens: number; estimated: boolean } {
    const estimate = Math.round(bytesOf(request.messages) / this.#bytesPerToken);
    const counted = reply.usage?.promptTokens ?? 0;
    const plausible = counted > 0 && isPlausible(bytesOf(request.messages) / counted);
    return plausible ? { tokens: counted, estimated: false } : { tokens: estimate, estimated: true };
  }

  /**
   * Takes the size of a token from the server's count. Only for prompts that were new and were read whole: some servers
   * count neither what they took from their cache nor what they dropped.
   */
  calibrate(request: ProbeRequest, reply: ChatResponse): void {
    const counted = reply.usage?.promptTokens ?? 0;
    const ratio = bytesOf(request.messages) / counted;
    if (counted >= TELLING_PROMPT && isPlausible(ratio)) this.#bytesPerToken = ratio;
  }

  #request(request: ProbeRequest): ChatRequest {
    const params = { ...this.#options.params, ...request.params };
    return {
      model: this.model,
      messages: request.messages,
      tools: request.tools ?? [],
      maxTokens: request.maxTokens,
      // The same question should get the same answer, unless the configuration says how the model samples.
      ...("temperature" in params ? {} : { temperature: 0 }),
      params,
    };
  }
}

function isPlausible(bytesPerToken: number): boolean {
  return bytesPerToken >= PLAUSIBLE.least && bytesPerToken <= PLAUSIBLE.most;
}

function bytesOf(messages: readonly WireMessage[]): number {
  return messages.reduce((sum, message) => sum + byteLength(wordsOf(message)), 0);
}

/** A single question of the user. */
export function userMessage(content: string): WireMessage[] {
  return [{ role: "user", content }];
}
