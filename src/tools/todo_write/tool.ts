/** TodoWrite: the model's list of steps, kept in the session and shown to the person. */
import { count, failure, success } from "../result.ts";
import type { SessionMemory, Tool } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

/** Arguments of a call. */
export interface TodoWriteInput {
  todos: SessionMemory["todos"];
}

/** More steps than this are no plan any more, and would cost the window at every call. */
const TODO_LIMIT = 50;

/** Replaces the list. */
export const todoWriteTool: Tool<TodoWriteInput> = {
  name: "TodoWrite",
  description: prompt.trim(),
  parameters: {
    type: "object",
    properties: {
      todos: {
        type: "array",
        items: {
          type: "object",
          properties: {
            content: { type: "string" },
            status: { type: "string", enum: ["pending", "in_progress", "completed"] },
          },
          required: ["content", "status"],
        },
      },
    },
    required: ["todos"],
  },
  kind: "note",
  subject: (input) => count(input.todos.length, "todo"),
  run(input, context) {
    const { memory } = context;
    const { todos } = input;
    if (todos.length > TODO_LIMIT) {
      return Promise.resolve(
        failure(`The list has ${todos.length} todos; the limit is ${TODO_LIMIT}. Send it again with fewer.`, context),
      );
    }
    const oldTodos = memory.todos;
    memory.todos = todos.map(({ content, status }) => ({ content, status }));
    const amount = (status: string) => todos.filter((todo) => todo.status === status).length;
    const summary = todos.length === 0
      ? "The todo list is empty now."
      : `Todos: ${amount("completed")} completed, ${amount("in_progress")} in progress, ${amount("pending")} pending.`;
    return Promise.resolve(success(summary, context, { details: { oldTodos, newTodos: memory.todos } }));
  },
};
