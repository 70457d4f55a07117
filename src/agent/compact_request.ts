/**
 * The request for a summary, made to fit whatever the tokenizer: its bytes are chosen, not its tokens. Pure over items.
 * Source: specification of the session engine ("a compaction request that provably fits").
 */
import type { ChatRequest, WireMessage } from "../provider/types.ts";
import { imagesOf, type SessionItem } from "../session/item.ts";
import PROMPT from "./compact_prompt.md" with { type: "text" };
import { headOf, tailOf } from "./cut_text.ts";
import { byteLength } from "./tokens.ts";

/** Bytes for one token in the proof: fewer than texts have; a lower measured ratio takes its place. */
const PESSIMISTIC_RATIO = 2;
/** Tokens for what chat templates add to two messages. */
const TEMPLATE_TOKENS = 64;
/** A record shorter than this is no basis for a summary. Bytes. */
const SMALLEST_RECORD = 1000;
/** Share of the record that one item may take: summaries of before carry the most. */
const SHARES = { summary: 1 / 3, user: 1 / 6, assistant: 1 / 8, tool_result: 1 / 16 } as const;

/** What limits a request for a summary. */
export interface CompactLimits {
  model: string;
  /** Tokens of the model that summarises. */
  window: number;
  /** Most tokens of the summary. */
  maxTokens: number;
  /** As measured in the session. */
  bytesPerToken: number;
  params?: Record<string, unknown> | undefined;
}

/** Bytes that the messages of a request may have, so that with the reply they fit for sure. */
export function provenBytes(limits: Pick<CompactLimits, "window" | "maxTokens" | "bytesPerToken">): number {
  const ratio = Math.min(PESSIMISTIC_RATIO, limits.bytesPerToken);
  return Math.floor((limits.window - limits.maxTokens - TEMPLATE_TOKENS) * ratio);
}

/** The request that asks for a summary of `items`; null when the window is too small for any. */
export function compactRequest(items: readonly SessionItem[], limits: CompactLimits): ChatRequest | null {
  const empty = messagesWith("");
  const room = provenBytes(limits) - byteLength(JSON.stringify(empty));
  if (room < SMALLEST_RECORD) return null;
  return {
    model: limits.model,
    messages: messagesWith(recordOf(items, room)),
    tools: [],
    maxTokens: limits.maxTokens,
    ...(limits.params === undefined ? {} : { params: limits.params }),
  };
}

function messagesWith(record: string): WireMessage[] {
  return [
    { role: "system", content: PROMPT.trimEnd() },
    { role: "user", content: `The record:\n\n${record}\n\nWrite the summary now.` },
  ];
}

/** Bytes of a text inside of JSON. */
function jsonBytes(text: string): number {
  return byteLength(JSON.stringify(text)) - 2;
}

const GAP = "\n\n";
const LEFT_OUT = "[Earlier parts are left out.]";

/**
 * The items as text of at most `limit` bytes of JSON: a summary of before and the user's words first, then what is
 * newest, in the order of the session.
 */
export function recordOf(items: readonly SessionItem[], limit: number): string {
  const pieces = new Map<number, string>();
  let left = limit - jsonBytes(LEFT_OUT) - jsonBytes(GAP);
  const take = (at: number) => {
    const item = items[at];
    if (item === undefined || pieces.has(at)) return;
    const piece = fitted(pieceOf(item), Math.min(Math.floor(limit * shareOf(item)), left - jsonBytes(GAP)));
    if (piece === "") return;
    pieces.set(at, piece);
    left -= jsonBytes(piece) + jsonBytes(GAP);
  };
  const first = items.findIndex((item) => item.kind === "user");
  if (first >= 0) take(first);
  for (let at = items.length - 1; at >= 0 && left > 0; at--) take(at);
  const record: string[] = [];
  let missing = false;
  for (let at = 0; at < items.length; at++) {
    const piece = pieces.get(at);
    if (piece !== undefined) record.push(piece);
    else if (!missing) record.push(LEFT_OUT);
    missing ||= piece === undefined;
  }
  return record.join(GAP);
}

function shareOf(item: SessionItem): number {
  return item.kind === "user" && item.origin === "summary" ? SHARES.summary : SHARES[item.kind];
}

function pieceOf(item: SessionItem): string {
  switch (item.kind) {
    case "user":
      return item.origin === "summary" ? item.text : `User: ${item.text}${imagesNote(item)}`;
    case "assistant": {
      const calls = item.calls.map((call) => `called ${call.name} ${JSON.stringify(call.input ?? {})}`);
      return [`Assistant: ${item.text}`, ...calls].join("\n");
    }
    case "tool_result":
      return `Result of ${item.name}${item.isError ? " (failed)" : ""}: ${item.content}`;
  }
}

/** A summary is made from words: that there was something to see is all it learns. */
function imagesNote(item: SessionItem): string {
  return imagesOf(item).map(({ name }) => ` [showed the image ${name}]`).join("");
}

/** The text, or its beginning and end, within so many bytes of JSON; empty when that is next to nothing. */
function fitted(text: string, limit: number): string {
  if (limit < 40) return "";
  // Text has at most six bytes of JSON a byte, and at least one: what is longer need not be measured.
  if (text.length <= limit && jsonBytes(text) <= limit) return text;
  for (let bytes = limit - 8; bytes >= 16; bytes = Math.floor(bytes * 0.7)) {
    const tail = Math.floor(bytes / 4);
    const piece = `${headOf(text, bytes - tail)} ... ${tailOf(text, tail)}`;
    if (jsonBytes(piece) <= limit) return piece;
  }
  return "";
}
