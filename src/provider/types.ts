/** The types between the engine and a server: the request, and the reply. */

import type { JsonRecord } from "../platform/record.ts";
import type { FailureKind } from "./failure.ts";
import type { ReceivedHeaders } from "./http/headers.ts";

export type { Endpoint } from "../config/endpoint.ts";

/** A function as it is declared to the server. */
export interface ToolSchema {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** A call in the history of a request: arguments are always a valid JSON object, serialized. */
export interface WireToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A part of a message that shows images. `url` is always a `data:` URL: nothing is fetched by a server. */
export type ContentPart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

/** One message of a request, in the form every backend takes: content is a string but for messages that show images. */
export type WireMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | ContentPart[] }
  | { role: "assistant"; content: string; tool_calls?: WireToolCall[]; reasoning_content?: string }
  | { role: "tool"; tool_call_id: string; name?: string; content: string };

export interface ChatRequest {
  model: string;
  messages: WireMessage[];
  /** Empty for none. */
  tools: ToolSchema[];
  maxTokens?: number;
  temperature?: number;
  /** Sent as they are (`params:` of the model). */
  params?: Record<string, unknown>;
}

/** Token counts as the server gave them. */
export interface Usage {
  promptTokens: number;
  completionTokens: number;
  /** Of the prompt, taken from the server's cache; 0 where it does not say. */
  cachedTokens: number;
  /** The server says what it took from its cache; absent where it does not. */
  cacheReported?: true;
  /** Milliseconds for reading the rest of the prompt; absent where the server does not say. */
  promptMs?: number;
}

/** A call as it arrived. `input` is null when the arguments cannot be used; `problem` says why, for the model. */
export interface ReplyCall {
  /** As the server gave it; empty when it gave none. */
  id: string;
  name: string;
  input: Record<string, unknown> | null;
  /** The arguments as they came. */
  raw: string;
  problem?: string;
}

/** The reason a reply ended. `unknown`: the stream was closed properly without saying. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "unknown";

/** A complete reply. An incomplete one is an error instead. */
export interface ChatResponse {
  text: string;
  reasoning: string;
  calls: ReplyCall[];
  /** Calls above the limit of one reply (1,000), which are not among `calls`; absent for none. */
  droppedCalls?: number;
  finish: FinishReason;
  usage: Usage | null;
  /** The field of the response that held the reasoning; absent where none did. */
  reasoningField?: string;
  /** The model the server says it used. */
  model: string | null;
}

/** A piece of a reply while it arrives; consecutive text of one network read comes as one piece. */
export type ChatDelta =
  | { kind: "text"; text: string }
  | { kind: "reasoning"; text: string }
  /** `index` counts the calls of the reply from 0. `name` is given with the first piece of a call. */
  | { kind: "tool_call"; index: number; name?: string; arguments: string }
  /** Prompt tokens read so far, `cached` of them from before, where the server says. */
  | { kind: "prefill"; processed: number; total: number; cached?: number };

/** A retry that is about to be waited for. */
export interface RetryNotice {
  /**
   * The failure; `reasoning`: there was too much of it. A loading model is requested until it is ready: the number of
   * attempts says little then.
   */
  kind: FailureKind | "reasoning";
  /** From 1. */
  attempt: number;
  maxRetries: number;
  delayMs: number;
  /** HTTP status, or null when no response came. */
  status: number | null;
  reason: string;
  /** The part of the reply that was handed on is void: it starts over. */
  restart?: true;
}

/** How to send a request, and the callbacks for its progress. */
export interface ChatOptions {
  signal: AbortSignal;
  /** Called before each attempt; what it throws ends the request before anything is sent. */
  beforeSend?(): Promise<void>;
  /** The request is on its way; called again for each attempt. */
  onSent?(): void;
  /**
   * Called when part of a response came, whatever its status: its head, or a piece of its JSON. What it throws ends the
   * request.
   */
  onAnswer?(answer: { headers?: ReceivedHeaders; fields?: JsonRecord }): void;
  /** A response begins; `server` is what the server calls itself. What it throws ends the request. */
  onResponse?(server: string): void | Promise<void>;
  /** Called at most once a kind for each network read; a promise is awaited before more is read. */
  onDelta(delta: ChatDelta): void | Promise<void>;
  /** Called before each wait. Where the notice says so, what was handed on is void. */
  onRetry?(notice: RetryNotice): void | Promise<void>;
}

/** Sends one request to a model and returns its response, which is always complete. Throws what the client throws. */
export type Chat = (request: ChatRequest, options: ChatOptions) => Promise<ChatResponse>;
