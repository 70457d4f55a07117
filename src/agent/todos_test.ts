import assert from "node:assert/strict";
import type { SessionItem } from "../session/item.ts";
import { todoText, writtenTodos } from "./todos.ts";

const LIST = [
  { content: "find the port", status: "completed" as const },
  { content: "change it", status: "in_progress" as const },
];

function called(todos: unknown, { isError = false, id = "call00000" } = {}): SessionItem[] {
  const call = { id, name: "TodoWrite", input: { todos } };
  return [
    { kind: "assistant", id, text: "", reasoning: "", calls: [call], label: "open" },
    { kind: "tool_result", callId: id, name: "TodoWrite", content: "", isError, label: "open" },
  ];
}

function summary(text: string): SessionItem {
  return { kind: "user", origin: "summary", text, label: "open" };
}

Deno.test("the todo list of stored items is that of the last call that was taken", () => {
  assert.deepEqual(writtenTodos(called(LIST)), LIST);
  assert.deepEqual(writtenTodos([...called([]), ...called(LIST, { isError: true, id: "call00001" })]), []);
  assert.deepEqual(writtenTodos([...called(LIST), ...called([], { id: "call00001" })]), []);
  // Of a protected call only a placeholder is there.
  assert.deepEqual(writtenTodos(called(undefined)), []);
});

Deno.test("a summary shows the list where its call is gone", () => {
  const told = summary(`Summary of the session so far:\nmuch${todoText(LIST)}`);
  const other = [{ content: "other", status: "pending" as const }];
  assert.deepEqual(writtenTodos([told]), [...LIST].reverse());
  assert.deepEqual(writtenTodos([told, ...called(other)]), other);
  assert.deepEqual(writtenTodos([...called(other), told]), [...LIST].reverse());
  assert.deepEqual(writtenTodos([summary("Todo list: none")]), []);
});
