/** The todo list of a stored session. Loaded with one. */
import { checkArguments } from "../provider/check_arguments.ts";
import type { SessionItem } from "../session/item.ts";
import { todoWriteDeclaration, type TodoWriteInput } from "../tools/declarations.ts";
import type { SessionMemory } from "../tools/tool.ts";

type Todos = SessionMemory["todos"];

/** The heading of the list in a summary. */
const HEADING = "\n\nTodo list:\n";

/** Returns the list as a summary shows it: empty for none. */
export function todoText(todos: Todos): string {
  if (todos.length === 0) return "";
  // Where there is no room for all, what is done is left out first.
  const order = ["in_progress", "pending", "completed"];
  const sorted = todos.toSorted((one, other) => order.indexOf(one.status) - order.indexOf(other.status));
  return HEADING + sorted.map(({ content, status }) => `- [${status}] ${content}`).join("\n");
}

/** Returns the list that items end with: that of the last successful call, otherwise that of their summary. */
export function writtenTodos(items: readonly SessionItem[]): Todos {
  const calls = new Map(
    items.flatMap((item) => item.kind === "assistant" ? item.calls : []).map((call) => [call.id, call]),
  );
  for (const item of items.toReversed()) {
    if (item.kind === "tool_result" && item.name === todoWriteDeclaration.name && !item.isError) {
      const input = calls.get(item.callId)?.input ?? {};
      const checked = checkArguments(todoWriteDeclaration.parameters, input, { isClosed: true });
      if (!("problem" in checked)) return (checked.value as unknown as TodoWriteInput).todos;
    }
    if (item.kind === "user" && item.origin === "summary") return readTodoText(item.text);
  }
  return [];
}

function readTodoText(summary: string): Todos {
  const at = summary.lastIndexOf(HEADING);
  const lines = at < 0 ? [] : summary.slice(at + HEADING.length).split("\n");
  return lines.flatMap((line) => {
    const [, status, content = ""] = /^- \[(pending|in_progress|completed)\] (.*)$/.exec(line) ?? [];
    return status === undefined ? [] : [{ content, status: status as Todos[number]["status"] }];
  });
}
