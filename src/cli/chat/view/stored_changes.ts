/** Rebuilds what the calls of a stored session changed: from the contents that undo kept, and the calls themselves. */
import type { TurnEvent } from "../../../protocol/turn_event.ts";
import type { OpenSession } from "../../../runtime/open_session.ts";
import { isPrompt, type SessionItem, type ToolCall } from "../../../session/item.ts";
import type { TurnChange } from "../../../session/undo.ts";
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
  { session, undo }: Pick<OpenSession, "session" | "undo">,
): Promise<Map<string, StoredChange>> {
  const changes = new Map<string, StoredChange>();
  const calls = new Map<string, ToolCall>();
  let [contents, turn] = [new Map<string, string | null | undefined>(), new Map<string, TurnChange>()];
  for (const item of items) {
    if (isPrompt(item)) [contents, turn] = [new Map(), await changesOf(item.said, undo)];
    if (item.kind === "assistant") { for (const call of item.calls) calls.set(call.id, call); }
    if (item.kind !== "tool_result" || item.isError || item.label !== "open") continue;
    const { name, input } = calls.get(item.callId) ?? { name: "", input: null };
    if ((name !== "Write" && name !== "Edit") || input === null || typeof input.file_path !== "string") continue;
    const file = await session.workspace.resolve(input.file_path);
    if ("refused" in file) continue;
    const { real } = file;
    if (!contents.has(real)) contents.set(real, await contentBefore(turn.get(real)));
    const before = item.content.startsWith("Created ") ? null : contents.get(real);
    const after = name === "Write" ? input.content : typeof before === "string" ? editedText(before, input) : null;
    // A command may have changed the file between two calls of a turn.
    const isKnown = typeof after === "string" && (name === "Write" || agrees(after, item.content));
    if (!isKnown) contents.set(real, undefined);
    else {
      contents.set(real, after);
      if (before !== undefined && before !== after) changes.set(item.callId, { name: file.display, before, after });
    }
  }
  return changes;
}

/** Whether a text has the lines that the result of an edit shows, each at its number; longer ones are cut there. */
function agrees(text: string, result: string): boolean {
  const lines = text.split(/\r?\n/);
  return [...result.matchAll(/^(\d+)\t(.*?)\r?$/gm)].every(([, number, shown = ""]) =>
    lines[Number(number) - 1]?.startsWith(shown) === true
  );
}

/** Returns what a turn changed, by path. */
async function changesOf(number: number | undefined, undo: OpenSession["undo"]): Promise<Map<string, TurnChange>> {
  const changes = number === undefined ? [] : (await undo()).changes(number);
  return new Map(changes.map((change) => [change.path, change]));
}

/** Returns the content of a file before a turn changed it; null where there was none, undefined where nobody knows. */
async function contentBefore(change: TurnChange | undefined): Promise<string | null | undefined> {
  const before = change?.label === "open" ? await change.before() : undefined;
  if (before?.kind === "absent") return null;
  return before?.kind === "file" && before.bytes.length <= LIMIT ? new TextDecoder().decode(before.bytes) : undefined;
}
