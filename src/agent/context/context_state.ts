/** The state of a session's context: sizes, the ratio of bytes to tokens, and what happened to the prefix. */
import { byteLength } from "../../platform/text.ts";
import { imageTokens } from "../../provider/chat/content.ts";
import type { TemplateNeeds } from "../../provider/backends/model_metadata.ts";
import type { ToolSchema } from "../../provider/types.ts";
import { imagesOf, type SessionItem } from "../../session/item.ts";
import { type HistoryOptions, messageOf } from "../messages.ts";
import { USUAL_RATIO } from "./tokens.ts";
import type { ToolProtocol } from "../chat_request.ts";

/** The part of a session that changes with every response. The engine alone changes it. */
export interface ContextState {
  toolProtocol: ToolProtocol;
  /** Whether the model gave a response in this session: its server has it loaded. */
  answered: boolean;
  bytesPerToken: number;
  counted: {
    promptTokens: number;
    bytes: number;
    /** Items of the session that were in it. */
    items: number;
    /** Counts of this server grew with the prompt at least once: they are of all of it. */
    grew: boolean;
  } | null;
  /** The window that the server reported when a count looked as if it dropped a part of the prompt. */
  reportedWindow?: number | null;
  /** Tokens of the longest prompt that the server took whole, by its own count. */
  provenTokens: number;
  /** The needs of the server's chat template; null where it does not say, undefined while it was not asked. */
  templateNeeds: TemplateNeeds | null | undefined;
  /** Whether the model supports image input; null while that is not known. */
  vision: boolean | null;
  /** Items that compaction removed, so that positions in the session keep counting. */
  removed: number;
  /** Bytes of the last request that the next one begins with; 0 before the first. */
  sentBytes: number;
  readonly cache: CacheTrace;
  /** How often the beginning of a request was not that of the one before. */
  invalidations: number;
  /** Most bytes of one tool result, where longer ones silenced the model; else no limit. */
  mostResult: number;
  /** Requests in a row that fill the window although the session was summarized for them. */
  full: number;
  /**
   * Whether the model of a role was refused a request or what one would hold. No such model sees more of this session:
   * with each refusal a remote one would learn that it guessed right.
   */
  isRefused: boolean;
  said: Set<"truncated" | "tight" | "other_model" | "reread">;
  readonly history: HistoryOptions;
  /** Bytes of an item in a request; an image counts as the bytes that its tokens would have as text. */
  sizeOf(item: SessionItem): number;
  /** Bytes of the first `count` of the items together. */
  sizeOfFirst(count: number, items: readonly SessionItem[]): number;
  /** Bytes of the system message and the tools in a request; without tools in it, `schemas` is null. */
  sizeOfBase(system: string, schemas: readonly ToolSchema[] | null): number;
}

/** The state of a server's prompt cache, from its token counts. */
interface CacheTrace {
  /** The last prompt with usable counts; null where there is none. */
  last: { promptTokens: number; cachedTokens: number; bytes: number } | null;
  /** Tokens that were read again although the prompt began as the one before, and the milliseconds for them. */
  rereadTokens: number;
  rereadMs: number;
}

/** The state of a session without items. */
export function createContextState(
  toolProtocol: ToolProtocol,
  { keepReasoning, vision }: { keepReasoning: boolean; vision: boolean | null },
): ContextState {
  const sizes = new WeakMap<SessionItem | ToolSchema, number>();
  const history: HistoryOptions = { keepReasoning, made: new WeakMap(), shown: new WeakMap() };
  const sizeOf = (item: SessionItem) => remembered(sizes, item, () => itemBytes(item, history));
  return {
    toolProtocol,
    answered: false,
    bytesPerToken: USUAL_RATIO,
    counted: null,
    provenTokens: 0,
    templateNeeds: undefined,
    vision,
    removed: 0,
    sentBytes: 0,
    cache: { last: null, rereadTokens: 0, rereadMs: 0 },
    invalidations: 0,
    mostResult: Infinity,
    full: 0,
    isRefused: false,
    said: new Set(),
    history,
    sizeOf,
    sizeOfFirst: (count, items) => items.slice(0, count).reduce((sum, item) => sum + sizeOf(item), 0),
    sizeOfBase(system, schemas) {
      if (schemas === null) return jsonBytes(system);
      const each = schemas.map((schema) => remembered(sizes, schema, () => jsonBytes(schema)));
      const commas = Math.max(schemas.length - 1, 0);
      return each.reduce((sum, bytes) => sum + bytes, jsonBytes(system) + commas + "[]".length);
    },
  };
}

function remembered<K extends WeakKey>(known: WeakMap<K, number>, key: K, measure: () => number): number {
  const before = known.get(key);
  if (before !== undefined) return before;
  const size = measure();
  known.set(key, size);
  return size;
}

function itemBytes(item: SessionItem, history: HistoryOptions): number {
  const images = imagesOf(item);
  const words = images.length === 0 ? item : { ...item, images: [] };
  const shown = images.reduce((bytes, image) => bytes + imageTokens(image) * USUAL_RATIO, 0);
  return jsonBytes(messageOf(words, history)) + shown + 1;
}

function jsonBytes(value: unknown): number {
  return byteLength(JSON.stringify(value));
}
