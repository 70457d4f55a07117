/** The model's list of steps above the input, as long as one is open. */
import type { SessionMemory } from "../../tools/tool.ts";
import { clean } from "../../terminal/clean.ts";
import { type Row, row, type Style } from "../../terminal/style.ts";
import { fit } from "../../terminal/table.ts";

type Todo = SessionMemory["todos"][number];

const LOOKS: Readonly<Record<Todo["status"], { sign: string; style: Style }>> = {
  completed: { sign: "[x]", style: "dim" },
  in_progress: { sign: "[>]", style: "bold" },
  pending: { sign: "[ ]", style: "plain" },
};

/** The list in at most `height` rows: around the step that is being done; in one row how many are done, and that step. */
export function todoRows(todos: readonly Todo[], { width, height }: { width: number; height: number }): Row[] {
  const done = todos.filter(({ status }) => status === "completed").length;
  if (done === todos.length || height < 1) return [];
  const current = Math.max(0, todos.findIndex(({ status }) => status === "in_progress"));
  const first = todos.findIndex(({ status }) => status !== "completed");
  const at = todos[current]?.status === "in_progress" ? current : first;
  if (height < Math.min(3, todos.length)) {
    return [row(fit(`${done}/${todos.length} ${text(todos[at])}`, width), "bold")];
  }
  const isCut = todos.length > height;
  const room = isCut ? height - 1 : todos.length;
  const start = Math.max(0, Math.min(at - 1, todos.length - room));
  const rows = todos.slice(start, start + room).map((todo) => {
    const { sign, style } = LOOKS[todo.status];
    return row(fit(`${sign} ${text(todo)}`, width), style);
  });
  return isCut ? [...rows, row(fit(`${done} of ${todos.length} steps done`, width), "dim")] : rows;
}

function text(todo: Todo | undefined): string {
  return clean(todo?.content ?? "");
}
