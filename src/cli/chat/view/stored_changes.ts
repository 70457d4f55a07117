/** Rebuilds what the calls of a stored session changed: from the contents that undo kept, and the calls themselves. */
import type { TurnEvent } from "../../../protocol/turn_event.ts";
import type { OpenSession } from "../../../runtime/open_session.ts";
import { isPrompt, type SessionItem, type ToolCall } from "../../../session/item.ts";
import { editedText } from "../questions/preview.ts";

/** A change as events tell it. */
export type StoredChange = NonNullable<(TurnEvent & { kind: "tool_result" })["change"]>;

/** Larger contents are not compared. Bytes. */
const LIMIT = 1024 * 1024;

/**
 * Returns the changes by the ids of their calls, as far as they can be known: a file is followed from its content before
 * the turn, call by call.
 */
export async function storedChanges(
  items: readonly SessionItem[],
  { session, undo, numbers }: Pick<OpenSession, "session" | "undo" | "numbers">,
): Promise<Map<string, StoredChange>> {
  const changes = new Map<string, StoredChange>();
  const calls = new Map<string, ToolCall>();
  let contents = new Map<string, string | null>();
  for (const item of items) {
    if (isPrompt(item)) contents = await contentsBefore(numbers.of(item), undo);
    if (item.kind === "assistant") { for (const call of item.calls) calls.set(call.id, call); }
    if (item.kind !== "tool_result" || item.isError || item.label !== "open") continue;
    const { name, input } = calls.get(item.callId) ?? { name: "", input: null };
    if ((name !== "Write" && name !== "Edit") || input === null || typeof input.file_path !== "string") continue;
    const file = await session.workspace.resolve(input.file_path);
    if ("refused" in file) continue;
    const before = item.content.startsWith("Created ") ? null : contents.get(file.path);
    const after = name === "Write" ? input.content : typeof before === "string" ? editedText(before, input) : null;
    if (typeof after !== "string") contents.delete(file.path);
    else {
      contents.set(file.path, after);
      if (before !== undefined && before !== after) changes.set(item.callId, { name: file.display, before, after });
    }
  }
  return changes;
}

/** The contents of files before a turn changed them; null for files that were not there. */
async function contentsBefore(
  turn: number | undefined,
  undo: OpenSession["undo"],
): Promise<Map<string, string | null>> {
  const contents = new Map<string, string | null>();
  const store = turn === undefined ? null : await undo();
  for (const { path, before, label } of await store?.changes(turn ?? 0) ?? []) {
    if (label !== "open" || before.kind === "not_kept") continue;
    if (before.kind === "absent") contents.set(path, null);
    else if (before.bytes.length <= LIMIT) contents.set(path, new TextDecoder().decode(before.bytes));
  }
  return contents;
}
