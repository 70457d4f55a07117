/** TodoWrite: the model's list of steps, kept in the session and shown to the person. */
import { todoWriteDeclaration, type TodoWriteInput } from "../declarations.ts";
import { failure, success } from "../result.ts";
import type { Tool } from "../tool.ts";

/** More steps than this are no longer a plan, and would fill the window at every call. */
const TODO_LIMIT = 50;

export const todoWriteTool: Tool<TodoWriteInput> = {
  ...todoWriteDeclaration,
  run({ todos }, context) {
    const { memory } = context;
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
