/** One JSON value of a reply into its parts. A whole reply that was not streamed has the same parts under `message`. */
import { countOf, isRecord, type JsonRecord, textOf } from "../record.ts";
import { type ServerError, serverErrorIn, serverErrorOf } from "./server_error.ts";
import type { Usage } from "../types.ts";

/** Where the parts go. */
export interface ChunkSink {
  /** Whether a choice of this index is the one that is read. */
  follows(index: number): boolean;
  content(text: string): void;
  reasoning(text: string): void;
  /** One entry of `tool_calls`. */
  toolCall(delta: JsonRecord): void;
  finish(reason: string): void;
  usage(usage: Usage): void;
  model(name: string): void;
  progress(processed: number, total: number): void;
  error(error: ServerError): void;
}

/** Fields that hold reasoning; the first that is not empty counts, some servers fill two alike. */
const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text", "thinking"] as const;

/** Hands the parts of `value` to `sink`. `event` is the name of the event it came in. Unknown shapes give no part. */
export function readChunk(value: JsonRecord, from: { event: string; sink: ChunkSink }): void {
  const { event, sink } = from;
  const error = event === "error" ? serverErrorOf(value) : serverErrorIn(value);
  if (error !== null) sink.error(error);
  if (typeof value["model"] === "string" && value["model"] !== "") sink.model(value["model"]);
  const choices = value["choices"];
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (isRecord(choice)) readChoice(choice, sink);
  readUsage(value["usage"], sink);
  if (isRecord(value["x_groq"])) readUsage(value["x_groq"]["usage"], sink);
  readProgress(value["prompt_progress"], sink);
}

function readChoice(choice: JsonRecord, sink: ChunkSink): void {
  if (typeof choice.index === "number" && !sink.follows(choice.index)) return;
  const part = choice["delta"] ?? choice["message"];
  if (isRecord(part)) readPart(part, sink);
  else if (typeof choice["text"] === "string") sink.content(choice["text"]);
  if (choice["usage"] !== undefined) readUsage(choice["usage"], sink);
  const reason = choice["finish_reason"];
  if (typeof reason === "string" && reason !== "") sink.finish(reason);
}

function readPart(part: JsonRecord, sink: ChunkSink): void {
  for (const field of REASONING_FIELDS) {
    const text = part[field];
    if (typeof text === "string" && text !== "") {
      sink.reasoning(text);
      break;
    }
  }
  const content = part["content"];
  if (typeof content === "string") {
    if (content !== "") sink.content(content);
  } else if (Array.isArray(content)) {
    for (const each of content) readContentPart(each, sink);
  }
  const calls = part["tool_calls"];
  if (Array.isArray(calls)) {
    for (const call of calls) if (isRecord(call)) sink.toolCall(call);
  }
}

/** A member of a list of content parts (Mistral): text, or thinking that holds text parts of its own. */
function readContentPart(part: unknown, sink: ChunkSink): void {
  if (typeof part === "string") return part === "" ? undefined : sink.content(part);
  if (!isRecord(part)) return;
  const thinking = part["thinking"];
  if (typeof thinking === "string") sink.reasoning(thinking);
  if (Array.isArray(thinking)) {
    for (const each of thinking) {
      const text = isRecord(each) ? textOf(each["text"]) : textOf(each);
      if (text !== null) sink.reasoning(text);
    }
  }
  const text = thinking === undefined ? textOf(part["text"]) : null;
  if (text !== null) sink.content(text);
}

function readUsage(value: unknown, sink: ChunkSink): void {
  if (!isRecord(value)) return;
  const promptTokens = countOf(value["prompt_tokens"]) ?? countOf(value["input_tokens"]);
  const completionTokens = countOf(value["completion_tokens"]) ?? countOf(value["output_tokens"]);
  if (promptTokens === null && completionTokens === null) return;
  const details = value["prompt_tokens_details"] ?? value["input_tokens_details"];
  const cached = (isRecord(details) ? countOf(details["cached_tokens"]) : null) ??
    countOf(value["prompt_cache_hit_tokens"]) ?? countOf(value["cached_tokens"]) ?? 0;
  sink.usage({ promptTokens: promptTokens ?? 0, completionTokens: completionTokens ?? 0, cachedTokens: cached });
}

/** llama.cpp with `return_progress`. */
function readProgress(value: unknown, sink: ChunkSink): void {
  if (!isRecord(value)) return;
  const processed = countOf(value["processed"]);
  const total = countOf(value["total"]);
  if (processed !== null && total !== null && total > 0) sink.progress(processed, total);
}
