/** A stored session taken up again: the same items, and in front of them the same bytes as far as they still hold. */
import type { SessionItem } from "../session/item.ts";
import type { SessionContext } from "../session/line.ts";
import type { Session } from "./session.ts";
import type { SystemPrompt } from "./system_prompt.ts";

/** What was stored of a session. */
export interface RestoredParts {
  items: readonly SessionItem[];
  /** Items that summaries replaced. */
  removed: number;
  /** What stood before the first item; null when it was protected or the model is another one. */
  context: SessionContext | null;
}

/**
 * The system message to go on with: the stored one, so that the server finds the bytes it knows, unless what the caller
 * now wants in it is not there.
 */
export function restoredSystem(
  built: SystemPrompt,
  stored: SessionContext | null,
  wanted: readonly (string | undefined)[],
): SystemPrompt {
  if (stored === null) return built;
  const { text, label } = stored.system;
  if (wanted.some((words) => words !== undefined && !text.includes(words))) return built;
  // A label that has risen since stays risen.
  const risen = built.label === "open" ? label : built.label;
  return {
    text,
    label: risen,
    parts: [{ name: "stored system message", bytes: new TextEncoder().encode(text).length }],
  };
}

/** Puts the stored items into a session that has none, and the stored tool schemas where they name the same tools. */
export function restoreSession(session: Session, stored: RestoredParts): void {
  session.items.push(...stored.items);
  session.context.removed = stored.removed;
  const tools = stored.context?.tools ?? [];
  const names = (schemas: readonly { function: { name: string } }[]) =>
    schemas.map((schema) => schema.function.name).join("\n");
  if (tools.length > 0 && names(tools) === names(session.schemas)) {
    session.schemas.splice(0, session.schemas.length, ...tools);
  }
}

/** Takes over what a session of this process holds, for one with another model. */
export function carryOver(session: Session, previous: Session): void {
  session.items.push(...previous.items);
  session.context.removed = previous.context.removed;
  session.memory.todos.push(...previous.memory.todos);
  for (const [path, known] of previous.memory.files) session.memory.files.set(path, known);
  for (const [name, denied] of previous.deniedUnasked) session.deniedUnasked.set(name, denied);
}
