/**
 * Messages of a conversation: their words, their images with an estimate of their tokens, and one
 * tool call each for templates that show no more.
 */
import type { ContentPart, WireMessage, WireToolCall } from "../types.ts";

/** The words of a message; images have none. */
export function wordsOf(message: WireMessage): string {
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => part.type === "text" ? part.text : "").join("");
}

/** The images of a message. */
export function imageParts(message: WireMessage): ContentPart[] {
  return typeof message.content === "string" ? [] : message.content.filter((part) => part.type === "image_url");
}

/** The types that servers take. GIF is not among them: it is animated, and few read it. Source: wire reference, §5. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp"] as const;
export type ImageType = typeof IMAGE_TYPES[number];

export interface ShownImage {
  mediaType: ImageType;
  /** Base64, in one line. */
  data: string;
  /** Pixels, as the header of the file says. */
  width: number;
  height: number;
  /** Its name in messages: its path, or its place in a message. */
  name: string;
}

/** Side in pixels of the square that is one token. Source: model card of Qwen2-VL (patches of 14, merged 2 by 2). */
const TOKEN_SIDE = 28;
/** Every image of Gemma 3 has this many tokens, however small; LLaVA 1.5 takes 576. */
const FEWEST_TOKENS = 256;
/** Larger images are scaled down by the server. Source: llama.cpp, limit of image tokens of the Qwen models. */
const MOST_TOKENS = 4096;

/** Estimates the tokens of an image, on the high side: models differ by a factor of ten. */
export function imageTokens({ width, height }: Pick<ShownImage, "width" | "height">): number {
  const squares = Math.ceil(width / TOKEN_SIDE) * Math.ceil(height / TOKEN_SIDE);
  return Math.min(Math.max(squares, FEWEST_TOKENS), MOST_TOKENS);
}

/** The address in which an image is sent: the content itself, never a place to fetch it from. */
export function imageUrl({ mediaType, data }: Pick<ShownImage, "mediaType" | "data">): string {
  return `data:${mediaType};base64,${data}`;
}

type Assistant = WireMessage & { role: "assistant" };

/** The messages that one with several calls became: the same each time, so that they are written once. */
const split = new WeakMap<WireMessage, Assistant[]>();

/**
 * The same history with each call in a message of its own, its result after it: words and reasoning stay with the
 * first. Messages without several calls are passed on as they are. A longer history begins with the same messages.
 */
export function oneCallEach(messages: readonly WireMessage[]): WireMessage[] {
  const shaped: WireMessage[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as WireMessage;
    const calls = message.role === "assistant" ? message.tool_calls ?? [] : [];
    if (message.role !== "assistant" || calls.length < 2) {
      shaped.push(message);
      continue;
    }
    const results = resultsBehind(messages, at);
    at += results.length;
    for (const part of partsOf(message, calls)) {
      const id = part.tool_calls?.[0]?.id;
      shaped.push(part, ...results.filter((result) => result.tool_call_id === id));
    }
  }
  return shaped;
}

function resultsBehind(messages: readonly WireMessage[], at: number): (WireMessage & { role: "tool" })[] {
  const end = messages.findIndex((message, index) => index > at && message.role !== "tool");
  return messages.slice(at + 1, end < 0 ? undefined : end).filter((message) => message.role === "tool");
}

function partsOf(message: Assistant, calls: readonly WireToolCall[]): Assistant[] {
  const known = split.get(message);
  if (known !== undefined) return known;
  const parts = calls.map((call, index): Assistant =>
    index === 0 ? { ...message, tool_calls: [call] } : { role: "assistant", content: "", tool_calls: [call] }
  );
  split.set(message, parts);
  return parts;
}
