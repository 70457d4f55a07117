/** How tool calls have to be sent, where not as such. */

const FALLBACKS = ["single", "text", "no_system"] as const;

/**
 * How calls have to be sent to a server that does not take several in one message (`single`), none (`text`), or neither
 * them nor a system message (`no_system`).
 */
export type ToolCallFallback = typeof FALLBACKS[number];

/** How calls have to be sent to the model; `native`: as such. */
export type TemplateNeeds = ToolCallFallback | "native";

/** Whether a value is one of them. */
export function isToolCallFallback(value: unknown): value is ToolCallFallback {
  return FALLBACKS.some((name) => name === value);
}
