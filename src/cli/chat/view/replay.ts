/** Draws the end of a resumed session as it looked when it was live. Loaded when a session is resumed. */
import { openHome } from "../../../platform/home.ts";
import { counted } from "../../../platform/number.ts";
import { ageText, findSession } from "../../../session/list.ts";
import {
  isPrompt,
  type SessionItem,
  type ToolCall,
  type ToolResultItem,
  typedText,
  type UserItem,
} from "../../../session/item.ts";
import type { Session } from "../../../agent/session.ts";
import { clean } from "../../../terminal/clean.ts";
import { type Row, row, span } from "../../../terminal/style.ts";
import { fit } from "../../../terminal/table.ts";
import { wrap } from "../../../terminal/wrap.ts";
import type { OpenSession } from "../../../runtime/open_session.ts";
import { selectorOf } from "../../../runtime/agent_session.ts";
import type { Context } from "../../command.ts";
import { echoRows } from "./event_rows.ts";
import type { ChatView } from "../begin.ts";
import type { TurnView } from "./turn_view.ts";
import type { TurnEvent } from "../../../protocol/turn_event.ts";
import type { TurnChange } from "../../../session/undo.ts";
import { subjectOfUnchecked } from "../../../tools/tool.ts";
import { editedText } from "../questions/preview.ts";

const MOST_TURNS = 6;
/** Characters of turns that are drawn besides the last one. */
const MOST_CHARACTERS = 12_000;
/** Characters of one text that are drawn. */
const LONGEST_TEXT = 40_000;

/** Draws the head of the session and its last turns: rows into `shown`, events by way of `turns`. */
export async function replaySession(
  opened: OpenSession,
  shown: Pick<ChatView, "print" | "width" | "isTerminal">,
  { turns, context }: { turns: Pick<TurnView, "event" | "finish">; context: Context },
): Promise<void> {
  const { session } = opened;
  const width = shown.width();
  shown.print([...wrap([span(await sessionHead(opened, context), "dim")], { width, indent: [span("  ")] }), []]);
  const { last, hidden } = lastTurns(session.items);
  if (hidden > 0) {
    const earlier = hidden === 1 ? "1 earlier turn is" : `${hidden} earlier turns are`;
    shown.print([row(fit(`  ... ${earlier} not shown (/export writes all)`, width), "dim"), []]);
  }
  // Where the output may be kept, protected content must not appear.
  const items = last.filter((item) => item.label === "open" || shown.isTerminal);
  const changes = await storedChanges(last, opened);
  const calls = new Map<string, ToolCall>();
  let isBegun = false;
  for (const item of items) {
    if (item.kind === "user") {
      if (isPrompt(item) && isBegun) turns.finish(null);
      isBegun = true;
      shown.print(userRows(item, shown.width()));
    } else if (item.kind === "assistant") {
      for (const call of item.calls) calls.set(call.id, call);
      const { id: messageId } = item;
      const text = item.text.slice(0, LONGEST_TEXT);
      if (text !== "") turns.event({ kind: "delta", messageId, delta: { kind: "text", text } });
      turns.event({ kind: "response", item, model: session.model.entry.id, usage: null, stopReason: "stop" });
    } else {
      const call = calls.get(item.callId);
      const subject = call === undefined ? "" : subjectOf(call, session);
      turns.event({ kind: "tool_start", callId: item.callId, toolName: item.name, subject });
      await turns.event({ kind: "tool_result", item, details: endOf(item), change: changes.get(item.callId) });
    }
  }
  turns.finish(null);
}

/**
 * Returns the line that names a session:
 * `session 1a2b3c4d · its name · 12 turns · 3h ago · provider:model · directory`.
 */
async function sessionHead(opened: OpenSession, { io }: Context): Promise<string> {
  const { session } = opened;
  const { root } = session.workspace;
  const summary = await findSession(await openHome(io), session.id, { projectRoot: root }).catch(() => null);
  const turns = summary?.turns ?? session.items.filter(isPrompt).length;
  const parts = [
    `session ${session.id.slice(0, 8)}`,
    ...summary === null || summary.title === "" ? [] : [clean(summary.title)],
    counted(turns, "turn"),
    ...summary === null ? [] : [ageText(io.clock.now() - summary.updated)],
    clean(selectorOf(opened)),
    clean(root),
  ];
  return parts.join(" · ");
}

/**
 * Returns what may be sent again as the person's own words, which have no label: null for a protected prompt of which
 * the typed line is not known, since its text may hold what was attached.
 */
export function wordsToSendAgain(prompt: UserItem): string | null {
  return prompt.typed === undefined && prompt.label !== "open" ? null : typedText(prompt);
}

/** The items of the last turns, and how many turns come before them. */
function lastTurns(items: readonly SessionItem[]): { last: readonly SessionItem[]; hidden: number } {
  const starts = items.flatMap((item, at) => isPrompt(item) ? [at] : []);
  let [first, characters] = [starts.length, 0];
  while (first > 0 && starts.length - first < MOST_TURNS) {
    const turn = items.slice(starts[first - 1], starts[first]);
    characters += turn.reduce((sum, item) => sum + drawnLength(item), 0);
    if (characters > MOST_CHARACTERS && first < starts.length) break;
    first--;
  }
  return { last: first === 0 ? items : items.slice(starts[first]), hidden: first };
}

function drawnLength(item: SessionItem): number {
  return item.kind === "tool_result" ? 100 : item.text.length;
}

function userRows(item: UserItem, width: number): Row[] {
  switch (item.origin) {
    case "engine":
      return [];
    case "summary":
      return [row(fit("  the older part was summarized", width), "dim"), []];
    case "note":
      return [row(fit(`  ${clean(item.text.split("\n", 1)[0] ?? "")}`, width), "dim")];
    default:
      return [...echoRows(typedText(item), width), []];
  }
}

/** How a stored command ended: its result says so. */
function endOf({ name, content, isError }: ToolResultItem): Record<string, unknown> | undefined {
  if (name !== "Bash") return undefined;
  const [, code] = /(?:^|\n)\[exit code (\d+)\]/.exec(content) ?? [];
  return code === undefined && isError ? undefined : { exitCode: Number(code ?? 0) };
}

/** Returns the subject of a call as it was shown. The input of a stored call may fit no current tool. */
function subjectOf({ name, input }: ToolCall, { tools }: Session): string {
  if (input === null || Object.keys(input).length === 0) return "";
  const subject = subjectOfUnchecked(tools.find((tool) => tool.name === name), input);
  return subject ?? Object.values(input).find((value) => typeof value === "string") ?? "";
}

/** A change as events report it. */
type StoredChange = NonNullable<(TurnEvent & { kind: "tool_result" })["change"]>;

/** Larger contents are not compared. Bytes. */
const LIMIT = 1024 * 1024;

/**
 * Returns the changes by the ids of their calls, as far as they can be known: a file is followed from its content
 * before the turn, call by call.
 */
async function storedChanges(
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

/**
 * Returns the content of a file before a turn changed it; null where there was none, undefined where it is not known.
 */
async function contentBefore(change: TurnChange | undefined): Promise<string | null | undefined> {
  const before = change?.label === "open" ? await change.before() : undefined;
  if (before?.kind === "absent") return null;
  return before?.kind === "file" && before.bytes.length <= LIMIT ? new TextDecoder().decode(before.bytes) : undefined;
}
