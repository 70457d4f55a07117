/** The live rows below the chat: the current activity, queued messages, the input line, and the status. */
import { estimateOf } from "../../../agent/chat_request.ts";
import { type Session } from "../../../agent/session.ts";
import { sessionLabel } from "../../../agent/labels.ts";
import type { PermissionMode } from "../../../config/types.ts";
import { rateText } from "../view/activity.ts";
import { clean } from "../../../terminal/clean.ts";
import { tokensText } from "../../run/text_output.ts";
import type { SessionMemory } from "../../../tools/tool.ts";
import { type Row, row, rowWidth, type Span, span, type Style } from "../../../terminal/style.ts";
import { fit } from "../../../terminal/table.ts";
import type { LiveRows } from "../../../terminal/screen.ts";
import type { QueuedMessage } from "../../../runtime/prompts.ts";
import { isOwnLine } from "../input/typed_line.ts";
import { modelName } from "../../../config/find.ts";

/** Redrawing is delayed by this, so that a fast model costs no more than thirty drawings a second. Milliseconds. */
const FRAME_MS = 33;

/** Paces `draw`: calls of `soon` are combined into one drawing, and have no effect after `stop`. */
export function createFrames(draw: () => void) {
  let frame: ReturnType<typeof setTimeout> | null = null;
  const stop = () => {
    if (frame !== null) clearTimeout(frame);
    frame = null;
  };
  const now = () => {
    stop();
    draw();
  };
  return { soon: () => void (frame ??= setTimeout(now, FRAME_MS)), now, stop };
}

/** Contents of the status line. `session` is null before one is ready; `rate` in tokens a second. */
interface Status {
  session: Session | null;
  mode: PermissionMode;
  rate: number | null;
}

const GAP = " · ";

/**
 * The line, at most `width` cells. Parts are dropped from the least important on: the rate, the window, the provider,
 * the model, of which a long name is cut before that. Where the model runs, a mode that asks less or does less, and
 * `no-cloud` stay at any width, shortened if need be.
 */
export function statusRow({ session, mode, rate }: Status, width: number): Row {
  const modes = mode === "default" ? [] : [modeSpan(mode)];
  if (session === null) return joined([...modes, span("no model yet", "dim")], width);
  const { model } = session;
  const place = model.local ? span("local", "good") : span("remote", "warning");
  const label = sessionLabel(session) === "open" ? [] : [span("no-cloud", "accent")];
  const used = estimateOf(session);
  const share = Math.round((used / model.contextWindow) * 100);
  const context = `${tokensText(used)} of ${tokensText(model.contextWindow)} (${share} %)`;
  const window = span(context, share >= 75 ? "warning" : "dim");
  const speed = rate === null ? [] : [span(rateText(rate), "dim")];
  const name = (text: string) => span(clean(text), "dim");
  const { provider, product } = model;
  const id = modelName(model.entry.id);
  const before = product === undefined ? `${provider}:` : `${product} · `;
  const [full, short] = [name(`${before}${id}`), name(id)];
  const kept = [...label, ...modes];
  const others = lineWidth([place, name(before), ...kept, window]);
  const cut = name(`${before}${fit(id, Math.max(LONG_NAME, width - others))}`);
  const lines = [
    [place, full, ...kept, window, ...speed],
    [place, full, ...kept, window],
    [place, cut, ...kept, window],
    [place, full, ...kept],
    [place, short, ...kept],
  ];
  const fitting = lines.find((line) => lineWidth(line) <= width);
  if (fitting !== undefined) return joined(fitting, width);
  const room = width - lineWidth([place, ...kept]) - GAP.length;
  if (room >= SHORTEST_NAME) return joined([place, { ...short, text: fit(short.text, room) }, ...kept], width);
  return joined([place, ...kept], width);
}

/** A name of a model is cut to this before the window is left out. */
const LONG_NAME = 14;
/** A model name is not cut below this: it would say nothing. */
const SHORTEST_NAME = 6;

function modeSpan(mode: PermissionMode): Span {
  return mode === "bypassPermissions" ? span("bypass", "error") : span(mode, "accent");
}

function lineWidth(parts: readonly Span[]): number {
  return rowWidth(parts) + GAP.length * (parts.length - 1);
}

/** Uses gaps of one space, then cuts the longest parts, where the terminal is too narrow for whole words. */
function joined(parts: readonly Span[], width: number): Row {
  const gap = lineWidth(parts) <= width ? GAP : " ";
  const shown = [...parts];
  for (let over = rowWidth(parts) + gap.length * (parts.length - 1) - width; over > 0; over--) {
    const widths = shown.map((part) => rowWidth([part]));
    const longest = widths.indexOf(Math.max(...widths));
    const part = shown[longest];
    if (part !== undefined) shown[longest] = { ...part, text: fit(part.text, Math.max(1, rowWidth([part]) - 1)) };
  }
  return shown.flatMap((part, index) => index === 0 ? [part] : [span(gap, "dim"), part]);
}

/** Texts that wait and are shown. */
const WAITING_ROWS = 3;
/** Rows of the list of steps. */
const MOST_TODOS = 7;
/** Rows that must be free for an empty one between the open block and what is done. */
const GAP_ROOM = 6;

/** The parts, each already as wide as the terminal. */
interface LiveParts {
  /** The block that is still written, and calls that run; their end is shown. */
  open: readonly Row[];
  /** The block that a person unfolded, in at most a number of rows. */
  unfolded(height: number): readonly Row[];
  todos: readonly Todo[];
  activity: Row | null;
  waiting: readonly Pick<QueuedMessage, "text" | "isForLater">[];
  /** A hint about a key; empty for none. */
  hint: string;
  /** The input line, or a question. */
  line: LiveRows;
  status: Row;
}

/** The rows from top to bottom, at most `height` where the line leaves room. */
export function liveRows(parts: LiveParts, { width, height }: { width: number; height: number }): LiveRows {
  const { line, status } = parts;
  const free = Math.max(0, height - line.rows.length - 1);
  const activity = activityRows(parts, width).slice(0, free);
  let room = free - activity.length;
  const unfolded = parts.unfolded(room);
  room -= unfolded.length;
  const todos = todoRows(parts.todos, { width, height: Math.min(MOST_TODOS, room >> 1) });
  room -= todos.length;
  const open = room > 0 ? parts.open.slice(-room) : [];
  const gap: Row[] = room - open.length > GAP_ROOM && open.length > 0 ? [[]] : [];
  const above = [...open, ...gap, ...unfolded, ...activity, ...todos];
  const cursor = line.cursor === null ? null : { ...line.cursor, row: line.cursor.row + above.length };
  return { rows: [...above, ...line.rows, status], cursor };
}

function activityRows({ activity, waiting, hint }: LiveParts, width: number): Row[] {
  const queued = waiting.slice(0, WAITING_ROWS).map(({ text, isForLater }) =>
    row(fit(`${isForLater === true || isOwnLine(text) ? "queued" : "steering"}: ${clean(text)}`, width), "dim")
  );
  const hinted = hint === "" ? [] : [row(fit(hint, width), "warning")];
  return [...activity === null ? [] : [activity], ...queued, ...hinted];
}

type Todo = SessionMemory["todos"][number];

const TODO_LOOKS: Readonly<Record<Todo["status"], { sign: string; style: Style }>> = {
  completed: { sign: "[x]", style: "dim" },
  in_progress: { sign: "[>]", style: "bold" },
  pending: { sign: "[ ]", style: "plain" },
};

/** Returns the open todo list in at most `height` rows around the current step; in one row, the count and that step. */
function todoRows(todos: readonly Todo[], { width, height }: { width: number; height: number }): Row[] {
  const done = todos.filter(({ status }) => status === "completed").length;
  if (done === todos.length || height < 1) return [];
  const current = Math.max(0, todos.findIndex(({ status }) => status === "in_progress"));
  const first = todos.findIndex(({ status }) => status !== "completed");
  const at = todos[current]?.status === "in_progress" ? current : first;
  if (height < Math.min(3, todos.length)) {
    return [row(fit(`${done}/${todos.length} ${todoText(todos[at])}`, width), "bold")];
  }
  const isCut = todos.length > height;
  const room = isCut ? height - 1 : todos.length;
  const start = Math.max(0, Math.min(at - 1, todos.length - room));
  const rows = todos.slice(start, start + room).map((todo) => {
    const { sign, style } = TODO_LOOKS[todo.status];
    return row(fit(`${sign} ${todoText(todo)}`, width), style);
  });
  return isCut ? [...rows, row(fit(`${done} of ${todos.length} steps done`, width), "dim")] : rows;
}

function todoText(todo: Todo | undefined): string {
  return clean(todo?.content ?? "");
}
