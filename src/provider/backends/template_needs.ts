/** The form in which tool calls have to be sent, where not natively. */

const FALLBACKS = ["single", "text", "no_system"] as const;

/**
 * The form in which calls have to be sent to a server that does not take several in one message (`single`), none
 * (`text`), or neither them nor a system message (`no_system`).
 */
export type ToolCallFallback = typeof FALLBACKS[number];

/** The form in which calls have to be sent to the model; `native`: as they are. */
export type TemplateNeeds = ToolCallFallback | "native";

/** Returns whether a value is one of them. */
export function isToolCallFallback(value: unknown): value is ToolCallFallback {
  return FALLBACKS.some((name) => name === value);
}
