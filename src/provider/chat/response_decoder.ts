/** Decodes a response while it arrives: bytes in, deltas and in the end a verdict out. Source: wire reference, §6. */
import { MessageAccumulator, tooLong } from "./message_accumulator.ts";
import { EventDecoder, LineDecoder } from "./sse.ts";
import { countOf, isRecord, type JsonRecord, parseJson, textOf } from "../../platform/record.ts";
import { type ServerError, serverErrorIn, serverErrorOf } from "./server_error.ts";
import type { ChatDelta, ChatResponse } from "../types.ts";

/**
 * Most bytes that are read of one reply (after decompression). What is kept of it has a limit of its own, in the
 * accumulator: servers wrap a token of four bytes in two hundred that are not kept.
 */
const WIRE_LIMIT = 1024 * 1024 * 1024;
/** Largest document that is read whole, in bytes. Source: specification of the no-cloud boundary, "Around it". */
const DOCUMENT_LIMIT = 64 * 1024 * 1024;
/** Longest `data: [DONE]` that is taken without its line end. */
const DONE_LENGTH = 16;

/** Outcome of a response. `cut`: it ended without saying that it was complete. */
export type Verdict =
  | { kind: "complete"; reply: ChatResponse }
  | { kind: "error"; error: ServerError }
  | { kind: "cut" }
  | { kind: "empty" }
  /** Nothing in it was a reply. */
  | { kind: "foreign" };

/** Reads one reply. `whole`: the content type says that it is one JSON document. */
export class ResponseDecoder {
  readonly #lines: LineDecoder;
  readonly #events: EventDecoder;
  readonly #message = new MessageAccumulator();
  /** The bytes of a document that is read whole. */
  readonly #whole: { decoder: TextDecoder; text: string } | null;
  #bytes = 0;
  /** `[DONE]` came: nothing more of the reply follows. */
  done = false;

  readonly #onFields: (fields: JsonRecord) => void;

  /** `onFields` is called with each piece of JSON before anything of it is taken. */
  constructor(options: { whole: boolean; onFields?(fields: JsonRecord): void }) {
    this.#onFields = (fields) => options.onFields?.(fields);
    this.#whole = options.whole ? { decoder: new TextDecoder(), text: "" } : null;
    this.#events = new EventDecoder({
      value: (value, event) => this.#read(value, event),
      done: () => this.done = true,
      junk: () => this.#message.isJunk = true,
    });
    this.#lines = new LineDecoder((line) => this.#events.line(line));
  }

  /** Takes the next bytes of the body. More than 64 MiB of answer, or a line over 16 MiB, is `invalid_reply`. */
  feed(bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength;
    if (this.#bytes > (this.#whole === null ? WIRE_LIMIT : DOCUMENT_LIMIT)) throw tooLong();
    if (this.#whole !== null) {
      this.#whole.text += this.#whole.decoder.decode(bytes, { stream: true });
      return;
    }
    this.#lines.feed(bytes);
    // Kobold closes, others keep the connection: the last line may never get its end.
    const { rest } = this.#lines;
    if (rest.length <= DONE_LENGTH && rest.trim() === "data: [DONE]") this.done = true;
  }

  /** The server said that the reply is complete. */
  get finished(): boolean {
    return this.done || this.#message.ending !== null;
  }

  /** Returns the deltas since the last call: at most one of a kind, and of a tool call. */
  takeDeltas(): ChatDelta[] {
    return this.#message.takeDeltas();
  }

  /** Ends the reading; `takeDeltas` once more gives what was held back. */
  end(): void {
    if (this.#whole !== null) this.#endWhole(this.#whole.text + this.#whole.decoder.decode());
    else {
      this.#lines.end();
      this.#events.end();
    }
    this.#message.end();
  }

  partial(): { text: string; reasoning: string } {
    return this.#message.partial();
  }

  /** Returns the outcome, after {@link end}. An error wins over everything that follows it. */
  async verdict(): Promise<Verdict> {
    const message = this.#message;
    if (message.failure !== null) return { kind: "error", error: message.failure };
    if (message.ending === null && !message.started) {
      if (this.done) return { kind: "empty" };
      return { kind: message.isJunk ? "foreign" : "cut" };
    }
    if (!this.finished) return { kind: "cut" };
    return { kind: "complete", reply: await message.reply() };
  }

  #read(value: JsonRecord, event: string): void {
    this.#onFields(value);
    readChunk(value, { event, message: this.#message });
  }

  #endWhole(text: string): void {
    const document = parseJson(text);
    if (isRecord(document)) {
      // A document that could be parsed is complete, whether it gives a reason or not.
      this.done = Array.isArray(document["choices"]) && document["choices"].length > 0;
      this.#message.isJunk = !this.done;
      return this.#read(document, "");
    }
    // Some servers call a stream JSON.
    for (const line of text.split(/\r\n|\n|\r/)) this.#events.line(line);
    this.#events.end();
  }
}

/** Counts of llama.cpp for one response; null for what an older version does not report. */
export interface Timings {
  cached: number | null;
  /** Tokens of the prompt that were read, and milliseconds for it. */
  read: number;
  readMs: number | null;
  written: number;
}

/** Tokens of the prompt that a server has read, some of them from its cache. */
export type PromptProgress = Omit<ChatDelta & { kind: "prefill" }, "kind">;

/** Fields that hold reasoning; the first that is not empty counts, some servers fill two alike. */
const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text", "thinking"] as const;

/**
 * Hands the parts of `value` to `message`. `event` is the name of the event it came in. Unknown shapes have no parts.
 */
function readChunk(value: JsonRecord, { event, message }: { event: string; message: MessageAccumulator }): void {
  const error = event === "error" ? serverErrorOf(value) : serverErrorIn(value);
  message.failure ??= error;
  if (typeof value["model"] === "string" && value["model"] !== "") message.model = value["model"];
  const choices = value["choices"];
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (isRecord(choice)) readChoice(choice, message);
  readUsage(value["usage"], message);
  if (isRecord(value["x_groq"])) readUsage(value["x_groq"]["usage"], message);
  readTimings(value["timings"], message);
  readProgress(value["prompt_progress"], message);
}

function readChoice(choice: JsonRecord, message: MessageAccumulator): void {
  if (typeof choice.index === "number" && !message.follows(choice.index)) return;
  const part = choice["delta"] ?? choice["message"];
  if (isRecord(part)) readPart(part, message);
  else if (typeof choice["text"] === "string") message.content(choice["text"]);
  if (choice["usage"] !== undefined) readUsage(choice["usage"], message);
  const reason = choice["finish_reason"];
  if (typeof reason === "string" && reason !== "") message.finish(reason);
}

function readPart(part: JsonRecord, message: MessageAccumulator): void {
  for (const field of REASONING_FIELDS) {
    const text = part[field];
    if (typeof text === "string" && text !== "") {
      message.reasoning(text, field);
      break;
    }
  }
  const content = part["content"];
  if (typeof content === "string") {
    if (content !== "") message.content(content);
  } else if (Array.isArray(content)) {
    for (const each of content) readContentPart(each, message);
  }
  const calls = part["tool_calls"];
  if (Array.isArray(calls)) {
    for (const call of calls) if (isRecord(call)) message.toolCall(call);
  }
}

/** A member of a list of content parts (Mistral): text, or thinking that holds text parts of its own. */
function readContentPart(part: unknown, message: MessageAccumulator): void {
  if (typeof part === "string") return part === "" ? undefined : message.content(part);
  if (!isRecord(part)) return;
  const thinking = part["thinking"];
  if (typeof thinking === "string") message.reasoning(thinking);
  if (Array.isArray(thinking)) {
    for (const each of thinking) {
      const text = isRecord(each) ? textOf(each["text"]) : textOf(each);
      if (text !== null) message.reasoning(text);
    }
  }
  const text = thinking === undefined ? textOf(part["text"]) : null;
  if (text !== null) message.content(text);
}

function readUsage(value: unknown, message: MessageAccumulator): void {
  if (!isRecord(value)) return;
  const promptTokens = countOf(value["prompt_tokens"]) ?? countOf(value["input_tokens"]);
  const completionTokens = countOf(value["completion_tokens"]) ?? countOf(value["output_tokens"]);
  if (promptTokens === null && completionTokens === null) return;
  const details = value["prompt_tokens_details"] ?? value["input_tokens_details"];
  const cached = (isRecord(details) ? countOf(details["cached_tokens"]) : null) ??
    countOf(value["prompt_cache_hit_tokens"]) ?? countOf(value["cached_tokens"]);
  message.usage = {
    promptTokens: promptTokens ?? 0,
    completionTokens: completionTokens ?? 0,
    cachedTokens: cached ?? 0,
    ...(cached === null ? {} : { cacheReported: true }),
  };
}

/** llama.cpp, in the last chunk. */
function readTimings(value: unknown, message: MessageAccumulator): void {
  if (!isRecord(value)) return;
  const read = countOf(value["prompt_n"]);
  if (read === null) return;
  const written = countOf(value["predicted_n"]) ?? 0;
  message.timings = { cached: countOf(value["cache_n"]), read, readMs: countOf(value["prompt_ms"]), written };
}

/** llama.cpp with `return_progress`. */
function readProgress(value: unknown, message: MessageAccumulator): void {
  if (!isRecord(value)) return;
  const processed = countOf(value["processed"]);
  const total = countOf(value["total"]);
  const cached = countOf(value["cache"]);
  if (processed === null || total === null || total === 0) return;
  message.progress = { processed, total, ...(cached === null || cached === 0 ? {} : { cached }) };
}
