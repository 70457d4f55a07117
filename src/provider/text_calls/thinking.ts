/** Reasoning that servers leave in the text: nothing in it is a call. */
import { endOfSpace } from "./cursor.ts";

/** Opening and closing tags: most families, Magistral, Gemma 4. */
export const THINKING: readonly (readonly [open: string, close: string])[] = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["[THINK]", "[/THINK]"],
  ["<|channel>thought", "<channel|>"],
];

/**
 * Offset where the message proper starts: behind reasoning at its beginning, with or without an opening tag (templates
 * may swallow it). The end of the text when the reasoning is not closed.
 */
export function skipThinking(text: string): number {
  let at = endOfSpace(text, 0);
  for (const [open, close] of THINKING) {
    if (!text.startsWith(open, at)) continue;
    const end = text.indexOf(close, at);
    at = end < 0 ? text.length : end + close.length;
    return at;
  }
  if (/[{[`]/.test(text.charAt(at))) return at;
  const close = "</think>";
  const end = text.indexOf(close);
  return end < 0 ? at : end + close.length;
}
