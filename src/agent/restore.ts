/** Copies a stored session, or one of this process with another model, into a new one. Loaded with the first. */
import type { SessionItem } from "../session/item.ts";
import type { SessionContext } from "../session/line.ts";
import type { Session } from "./session.ts";
import { writtenTodos } from "./todos.ts";

interface RestoredParts {
  items: readonly SessionItem[];
  /** Items that summaries replaced. */
  removed: number;
  isRefused: boolean;
  /** The system message and tools of its requests; null when it was protected or the model is another one. */
  context: SessionContext | null;
}

/**
 * Puts stored items into an empty session, with their todo list, and the stored tool schemas where they name the same
 * tools.
 */
export function restoreSession(session: Session, stored: RestoredParts): void {
  session.items.push(...stored.items);
  session.memory.todos.push(...writtenTodos(stored.items));
  session.context.removed = stored.removed;
  session.context.isRefused = stored.isRefused;
  const tools = stored.context?.tools ?? [];
  const names = (schemas: readonly { function: { name: string } }[]) =>
    schemas.map((schema) => schema.function.name).join("\n");
  if (tools.length > 0 && names(tools) === names(session.schemas)) {
    session.schemas.splice(0, session.schemas.length, ...tools);
  }
}

/** Copies what a session of this process holds into one with another model. */
export function carryOver(session: Session, previous: Session): void {
  session.items.push(...previous.items);
  session.context.removed = previous.context.removed;
  session.context.isRefused = previous.context.isRefused;
  session.work.changes += previous.work.changes;
  session.work.commands += previous.work.commands;
  session.memory.todos.push(...previous.memory.todos);
  if (previous.memory.commands !== undefined) session.memory.commands = previous.memory.commands;
  for (const [path, known] of previous.memory.files) session.memory.files.set(path, known);
  for (const [name, denied] of previous.deniedUnasked) session.deniedUnasked.set(name, denied);
}
