/** What a session counts and knows of its context: sizes, the ratio of bytes to tokens, and what happened to the prefix. */
import type { WireMessage } from "../provider/types.ts";
import type { SessionItem } from "../session/item.ts";
import { type HistoryOptions, messageOf } from "./request.ts";
import { byteLength, USUAL_RATIO } from "./tokens.ts";

/** How the tools of a session are offered: as such, described in the system message, or not at all. */
export type ToolProtocol = "native" | "text" | "none";

/** The part of a session that changes with every reply. The engine alone changes it. */
export interface ContextState {
  toolProtocol: ToolProtocol;
  bytesPerToken: number;
  /** Items that compaction took out, so that places in the session are counted on. */
  removed: number;
  /** Bytes of the last request that the next one begins with; 0 before the first. */
  sentBytes: number;
  /** How often the beginning of a request was not that of the one before. */
  breaks: number;
  compactions: {
    count: number;
    /** In a row, without progress. */
    fruitless: number;
    /** Replies since the last one. */
    repliesSince: number;
  };
  /** Notices that are given once. */
  said: Set<"truncated" | "text_calls" | "tight">;
  /** How items become messages; holds the messages that were made. */
  readonly history: HistoryOptions;
  /** Bytes of an item in a request. */
  sizeOf(item: SessionItem): number;
}

/** The state of a session without items. */
export function createContextState(toolProtocol: ToolProtocol, history: HistoryOptions): ContextState {
  const sizes = new WeakMap<SessionItem, number>();
  const remembering = { ...history, made: new WeakMap<SessionItem, WireMessage>() };
  return {
    toolProtocol,
    bytesPerToken: USUAL_RATIO,
    removed: 0,
    sentBytes: 0,
    breaks: 0,
    compactions: { count: 0, fruitless: 0, repliesSince: 0 },
    said: new Set(),
    history: remembering,
    sizeOf(item) {
      const known = sizes.get(item);
      if (known !== undefined) return known;
      const size = byteLength(JSON.stringify(messageOf(item, remembering))) + 1;
      sizes.set(item, size);
      return size;
    },
  };
}
