/** The plan of a compaction: which items a summary replaces, and the request that asks for it. */
import { imagesOf, isUsersWords, type SessionItem } from "../../session/item.ts";
import type { ChatRequest, WireMessage } from "../../provider/types.ts";
import { byteLength, headOf, tailOf } from "../../platform/text.ts";
import PROMPT from "./compact_prompt.md" with { type: "text" };

export interface CompactPlan {
  /** The items kept before the summary: the user's first message, which is usually the task, unless it is long. */
  head: SessionItem[];
  /** The items that the summary replaces. */
  summarized: SessionItem[];
  /** The items kept after it: the user's last message and the last tool calls. A valid history by itself. */
  kept: SessionItem[];
  /** Items from the beginning that the summary stands for. */
  replaced: number;
}

interface PlanOptions {
  /** About the bytes to keep. */
  keepBytes: number;
  /** Bytes below which what is new to a summary is not worth one. */
  leastBytes: number;
  sizeOf(item: SessionItem): number;
}

/** Share of the summarized bytes that must not be a summary already: or a compaction would only redo its own work. */
const FRESH_SHARE = 0.25;
/** Share of the kept bytes that the user's first words may have. */
const HEAD_SHARE = 1 / 3;

/**
 * Plans a compaction that keeps about `keepBytes`; null when there is almost nothing old, or little more than the last
 * summary. The kept part begins with words of the user or with a response, so no result is without its call.
 */
export function planCompaction(items: readonly SessionItem[], options: PlanOptions): CompactPlan | null {
  const { sizeOf, keepBytes, leastBytes } = options;
  const lastWords = items.findLastIndex(isUsersWords);
  const start = keptFrom(items, { ...options, lastWords });
  const words = items[lastWords];
  const pinned = words !== undefined && lastWords < start ? [words] : [];
  const first = items.slice(0, start).find(isUsersWords);
  const head = first !== undefined && first !== words && sizeOf(first) <= keepBytes * HEAD_SHARE ? [first] : [];
  const summarized = items.slice(0, start).filter((item) => item !== words && !head.includes(item));
  const sum = (list: readonly SessionItem[]) => list.reduce((bytes, item) => bytes + sizeOf(item), 0);
  const fresh = sum(summarized.filter((item) => !isSummary(item)));
  if (fresh === 0 || fresh < leastBytes || fresh < sum(summarized) * FRESH_SHARE) return null;
  return { head, summarized, kept: [...pinned, ...items.slice(start)], replaced: start };
}

/** The earliest place from which the items have at most `keepBytes`; at least the last tool calls are kept. */
function keptFrom(
  items: readonly SessionItem[],
  { keepBytes, sizeOf, lastWords }: { keepBytes: number; sizeOf(item: SessionItem): number; lastWords: number },
): number {
  let bytes = 0;
  let start: number | null = null;
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at];
    if (item === undefined) continue;
    if (isSummary(item)) break;
    bytes += sizeOf(item);
    if (bytes > keepBytes && start !== null) break;
    // After the user's last words every response may begin the kept part, before them only a turn.
    if (at > lastWords ? item.kind === "assistant" : isUsersWords(item)) start = at;
    if (bytes > keepBytes && start !== null) break;
  }
  return start ?? items.length;
}

function isSummary(item: SessionItem): boolean {
  return item.kind === "user" && item.origin === "summary";
}

/** Bytes for one token in the proof: fewer than texts have; a lower measured ratio takes its place. */
const PESSIMISTIC_RATIO = 2;
/** Tokens for what chat templates add to two messages. */
const TEMPLATE_TOKENS = 64;
/** A record shorter than this is no basis for a summary. Bytes. */
const SMALLEST_RECORD = 1000;
/** Share of the record that one item may take: earlier summaries carry the most. */
const SHARES = { summary: 1 / 3, user: 1 / 6, assistant: 1 / 8, tool_result: 1 / 16 } as const;

interface CompactLimits {
  model: string;
  /** Tokens of the model that summarizes. */
  window: number;
  maxTokens: number;
  bytesPerToken: number;
  params?: Record<string, unknown> | undefined;
  /** The words of the person about what to keep. */
  keep?: string | undefined;
}

/** Bytes that the messages of a request may have, so that with the response they fit for sure. */
export function provenBytes(limits: Pick<CompactLimits, "window" | "maxTokens" | "bytesPerToken">): number {
  const ratio = Math.min(PESSIMISTIC_RATIO, limits.bytesPerToken);
  return Math.floor((limits.window - limits.maxTokens - TEMPLATE_TOKENS) * ratio);
}

/** The request that asks for a summary of `items`; null when the window is too small for any. */
export function compactRequest(items: readonly SessionItem[], limits: CompactLimits): ChatRequest | null {
  const empty = messagesWith("", limits.keep);
  const room = provenBytes(limits) - byteLength(JSON.stringify(empty));
  if (room < SMALLEST_RECORD) return null;
  return {
    model: limits.model,
    messages: messagesWith(recordOf(items, room), limits.keep),
    tools: [],
    maxTokens: limits.maxTokens,
    params: limits.params,
  };
}

function messagesWith(record: string, keep = ""): WireMessage[] {
  const wanted = keep === "" ? "" : ` Above all keep: ${keep}`;
  return [
    { role: "system", content: PROMPT.trimEnd() },
    { role: "user", content: `The record:\n\n${record}\n\nWrite the summary now.${wanted}` },
  ];
}

/** Bytes of a text inside of JSON. */
function jsonBytes(text: string): number {
  return byteLength(JSON.stringify(text)) - 2;
}

const GAP = "\n\n";
const LEFT_OUT = "[Earlier parts are left out.]";

/**
 * The items as text of at most `limit` bytes of JSON: an earlier summary and the user's words first, then what is
 * newest, in the order of the session.
 */
export function recordOf(items: readonly SessionItem[], limit: number): string {
  const pieces = new Map<number, string>();
  let left = limit - jsonBytes(LEFT_OUT) - jsonBytes(GAP);
  const take = (at: number) => {
    const item = items[at];
    if (item === undefined || pieces.has(at)) return;
    const share = isSummary(item) ? SHARES.summary : SHARES[item.kind];
    const piece = fitted(pieceOf(item), Math.min(Math.floor(limit * share), left - jsonBytes(GAP)));
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

function pieceOf(item: SessionItem): string {
  switch (item.kind) {
    case "user": {
      // A summary is made from words: that there was something to see is all it learns.
      const images = imagesOf(item).map(({ name }) => ` [showed the image ${name}]`).join("");
      return isSummary(item) ? item.text : `User: ${item.text}${images}`;
    }
    case "assistant": {
      const calls = item.calls.map((call) => `called ${call.name} ${JSON.stringify(call.input ?? {})}`);
      return [`Assistant: ${item.text}`, ...calls].join("\n");
    }
    case "tool_result":
      return `Result of ${item.name}${item.isError ? " (failed)" : ""}: ${item.content}`;
  }
}

/** The text, or its beginning and end, within a number of bytes of JSON; empty when that is almost nothing. */
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
