/** Accumulates a message from the parts of its response. */
import { type PartialReply, ProviderFailure } from "../failure.ts";
import type { JsonRecord } from "../../platform/record.ts";
import type { ChatDelta, ChatResponse, FinishReason, ReplyCall, Usage } from "../types.ts";
import { readArguments } from "./arguments.ts";
import type { PromptProgress, Timings } from "./response_decoder.ts";
import { type ServerError, serverErrorFromBody } from "./server_error.ts";
import { ThinkSplitter } from "./think.ts";
import { type CollectedCall, ToolCallCollector, type ToolPiece } from "./tool_deltas.ts";

/** The words of servers for why a reply ended. `abort` (SGLang) and `error` (OpenRouter) are failures. */
const FINISH: Readonly<Record<string, FinishReason | "failure">> = {
  stop: "stop",
  eos: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  tool_calls: "tool_calls",
  tool_use: "tool_calls",
  function_call: "tool_calls",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  content_filter: "content_filter",
  error: "failure",
  abort: "failure",
};

/** Most text, reasoning and arguments of one reply, in characters. Source: no-cloud boundary, "Around it". */
const REPLY_LIMIT = 64 * 1024 * 1024;

/** Most white space that is held back in front of an answer, in characters. */
const LONGEST_INDENT = 256;

/** The failure of a reply that is too long to keep. */
export function tooLong(): ProviderFailure {
  return new ProviderFailure("invalid_reply", "the server sent a reply of more than 64 MiB", { kind: "invalid" });
}

/** Collects the parts of one reply; `takeDeltas` gives what is new, `reply` the whole. */
export class MessageAccumulator {
  /** The first error; nothing that follows undoes it. */
  failure: ServerError | null = null;
  /** Null until the server gave a reason. */
  ending: FinishReason | null = null;
  /** Something came that is not part of any reply. */
  isJunk = false;
  /** Text, reasoning or a call has come. */
  started = false;
  /** As the server said last. */
  usage: Usage | null = null;
  timings: Timings | null = null;
  model: string | null = null;
  /** Not handed on yet. */
  progress: PromptProgress | null = null;
  #text = "";
  #reasoning = "";
  readonly #calls = new ToolCallCollector();
  readonly #think = new ThinkSplitter({
    text: (text) => this.#addText(text),
    reasoning: (text) => this.#addReasoning(text),
    reclassify: (rest) => this.#reclassify(rest),
  });
  #reasoningField: string | undefined;
  #length = 0;
  #newText = "";
  /** Index of the choice that is read: with n > 1 the others come with their own, and the only one may have any. */
  #choice: number | null = null;
  /** White space in front of the text, after its last line end; null once the text has more than white space. */
  #indent: string | null = "";
  #newReasoning = "";
  #newPieces = new Map<number, ToolPiece>();

  /** Returns whether a choice of this index is the one that is read. */
  follows(index: number): boolean {
    this.#choice ??= index;
    return index === this.#choice;
  }

  content(text: string): void {
    this.#count(text);
    this.#think.push(text);
  }

  /** `field` is the name that the server gave it, where it has one. */
  reasoning(text: string, field?: string): void {
    this.#reasoningField ??= field;
    this.#count(text);
    this.#think.reasoningIsSeparate();
    this.#addReasoning(text);
  }

  toolCall(delta: JsonRecord): void {
    const piece = this.#calls.push(delta);
    if (piece === null) return;
    this.#count(piece.arguments);
    this.started = true;
    const same = this.#newPieces.get(piece.index);
    if (same === undefined) this.#newPieces.set(piece.index, piece);
    else {
      same.arguments += piece.arguments;
      if (piece.name !== undefined) same.name = piece.name;
    }
  }

  finish(reason: string): void {
    const known = FINISH[reason] ?? "unknown";
    if (known === "failure") this.failure ??= serverErrorFromBody("the server gave up");
    else this.ending = known;
  }

  /** Returns what is new, at most one of a kind and of a call. */
  takeDeltas(): ChatDelta[] {
    const deltas: ChatDelta[] = [];
    if (this.progress !== null) deltas.push({ kind: "prefill", ...this.progress });
    this.progress = null;
    if (this.#newReasoning !== "") deltas.push({ kind: "reasoning", text: this.#newReasoning });
    if (this.#newText !== "") deltas.push({ kind: "text", text: this.#newText });
    this.#newReasoning = this.#newText = "";
    if (this.#newPieces.size > 0) {
      for (const piece of this.#newPieces.values()) deltas.push({ kind: "tool_call", ...piece });
      this.#newPieces = new Map();
    }
    return deltas;
  }

  /** Nothing more comes: what was held back is released. */
  end(): void {
    this.#think.end();
  }

  partial(): PartialReply {
    return { text: this.#text, reasoning: this.#reasoning };
  }

  async reply(): Promise<ChatResponse> {
    const calls: ReplyCall[] = [];
    for (const collected of this.#calls.calls()) calls.push(await this.#call(collected));
    const ending = this.ending ?? "unknown";
    // `stop` with calls is common; what to do with calls is clear, whatever the reason says (rule 8).
    const finish = calls.length > 0 && (ending === "stop" || ending === "unknown") ? "tool_calls" : ending;
    const { dropped } = this.#calls;
    return {
      ...this.partial(),
      ...(this.#reasoningField === undefined ? {} : { reasoningField: this.#reasoningField }),
      calls,
      ...(dropped === 0 ? {} : { droppedCalls: dropped }),
      finish,
      usage: usageWith(this.usage, this.timings),
      model: this.model,
    };
  }

  async #call(collected: CollectedCall): Promise<ReplyCall> {
    const { id, name, raw } = collected;
    if (this.ending === "length") return { id, name, raw, input: null, problem: CUT };
    if (name === "") {
      return { id, name, raw, input: null, problem: "The call names no tool. Send it again with a name." };
    }
    return { id, name, raw, ...await readArguments(raw) };
  }

  #count(text: string): void {
    this.#length += text.length;
    if (this.#length > REPLY_LIMIT) throw tooLong();
  }

  #reclassify(rest: string): void {
    const text = (this.#text + rest).trimEnd();
    this.#text = this.#newText = this.#indent = "";
    if (text !== "") this.#addReasoning(text);
  }

  /** Blank lines in front of the answer are not part of it: templates and models leave them behind the reasoning. */
  #addText(text: string): void {
    if (this.#indent !== null) {
      const all = this.#indent + text;
      const start = all.length - all.trimStart().length;
      text = all.slice(all.lastIndexOf("\n", start - 1) + 1);
      this.#indent = start < all.length ? null : text.slice(-LONGEST_INDENT);
      if (this.#indent !== null) return;
    }
    this.#text += text;
    this.#newText += text;
    this.started = true;
  }

  #addReasoning(text: string): void {
    this.#reasoning += text;
    this.#newReasoning += text;
    this.started = true;
  }
}

/** The usage, with what the timings say of the cache; they make one where there is none. */
function usageWith(usage: Usage | null, timings: Timings | null): Usage | null {
  if (timings === null) return usage;
  const { cached, read, readMs, written } = timings;
  const cachedTokens = cached ?? (usage === null ? 0 : Math.max(usage.promptTokens - read, 0));
  return {
    ...usage ?? { promptTokens: cachedTokens + read, completionTokens: written },
    cachedTokens,
    ...(cached === null && usage === null ? {} : { cacheReported: true }),
    ...(readMs === null ? {} : { promptMs: readMs }),
  };
}

/**
 * For the model, with every call of a reply that ran into the token limit: the last is cut, and it is unknown which
 * that is.
 */
const CUT = "The reply was cut at the token limit, so this call was not run. " +
  "Send it again with shorter arguments, or do the work in smaller steps.";
