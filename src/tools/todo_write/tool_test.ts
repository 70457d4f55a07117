import assert from "node:assert/strict";
import { inToolProject, promptBytes } from "../../../tests/helpers/tool_project.ts";
import { todoWriteTool } from "./tool.ts";

Deno.test("the prompt of TodoWrite costs at most 380 bytes", () => assert.ok(promptBytes(todoWriteTool) <= 380));

Deno.test("the list is replaced, and the result counts it", () =>
  inToolProject(async ({ run, context }) => {
    const todos = [
      { content: "a", status: "completed" as const },
      { content: "b", status: "in_progress" as const },
      { content: "c", status: "pending" as const },
    ];
    const result = await run(todoWriteTool, { todos });
    assert.equal(result.content, "Todos: 1 completed, 1 in progress, 1 pending.");
    assert.deepEqual(result.details, { oldTodos: [], newTodos: todos });
    assert.deepEqual(context.memory.todos, todos);
    assert.equal((await run(todoWriteTool, { todos: [] })).content, "The todo list is empty now.");
    assert.deepEqual(context.memory.todos, []);
  }));

Deno.test("too many todos are refused and change nothing", () =>
  inToolProject(async ({ run, context }) => {
    const todos = Array.from({ length: 51 }, () => ({ content: "x", status: "pending" as const }));
    assert.ok((await run(todoWriteTool, { todos })).isError);
    assert.deepEqual(context.memory.todos, []);
  }));
