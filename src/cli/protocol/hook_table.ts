/** Hooks that a client registered in `initialize`, and whom of them a tool concerns. */
import { fieldsOf, textOf, textsOf } from "./fields.ts";

/** Where a hook is called; other names are not called at all. */
export type HookEvent = "PreToolUse" | "PostToolUse" | "UserPromptSubmit" | "Stop";

/** One callback of the client. */
export interface HookEntry {
  callbackId: string;
  /** Whether the hook wants to hear of this tool. */
  matches(toolName: string): boolean;
  /** Milliseconds that it may take. */
  timeoutMs: number;
}

/** The callbacks by event. */
export type HookTable = ReadonlyMap<HookEvent, readonly HookEntry[]>;

const EVENTS: readonly HookEvent[] = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"];

/** How long a hook may take when it does not say, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** A matcher is a name, names joined by `|`, or an expression for the whole name; nothing and `*` match all. */
function matcherOf(text: string | undefined): (toolName: string) => boolean {
  if (text === undefined || text === "*") return () => true;
  try {
    const expression = new RegExp(`^(?:${text})$`);
    return (toolName) => expression.test(toolName);
  } catch {
    return (toolName) => toolName === text;
  }
}

/** Reads the field `hooks` of `initialize`: `{event: [{matcher?, hookCallbackIds, timeout? (seconds)}]}`. */
export function readHooks(value: unknown): HookTable {
  const given = fieldsOf(value);
  const table = new Map<HookEvent, HookEntry[]>();
  for (const event of EVENTS) {
    const groups = Array.isArray(given[event]) ? given[event].map(fieldsOf) : [];
    const entries = groups.flatMap((group) => {
      const matches = matcherOf(textOf(group.matcher));
      const seconds = typeof group.timeout === "number" && group.timeout > 0 ? group.timeout : null;
      const timeoutMs = seconds === null ? TIMEOUT_MS : seconds * 1000;
      return textsOf(group.hookCallbackIds).map((callbackId) => ({ callbackId, matches, timeoutMs }));
    });
    if (entries.length > 0) table.set(event, entries);
  }
  return table;
}
