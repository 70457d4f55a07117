import assert from "node:assert/strict";
import { loadedLater, type Tool, type ToolDeclaration } from "./tool.ts";
import { everyTool } from "./registry.ts";

Deno.test("a tool is loaded at its first call, not before", async () => {
  let loads = 0;
  const declaration: ToolDeclaration<string> = {
    name: "Echo",
    description: "",
    parameters: {},
    kind: "note",
    subject: (input) => input,
  };
  const tool = loadedLater(declaration, () => {
    loads++;
    const run: Tool<string>["run"] = (input) => Promise.resolve({ content: input, isError: false, label: "open" });
    return Promise.resolve({ ...declaration, run });
  });
  assert.equal(tool.subject("x"), "x");
  assert.equal(loads, 0);
  // The context is for the tool alone, and this one uses none.
  const result = await tool.run("x", {} as Parameters<typeof tool.run>[1]);
  assert.deepEqual([result.content, loads], ["x", 1]);
});

Deno.test("what is declared of each built-in tool is what the tool itself says", async () => {
  const folders: Record<string, string> = { TodoWrite: "todo_write", BashOutput: "bash_output" };
  for (const { run: _, subject: __, precheck: ___, ...declared } of everyTool()) {
    const folder = folders[declared.name] ?? declared.name.toLowerCase();
    const exports: Record<string, unknown> = await import(`./${folder}/tool.ts`);
    const tool = Object.values(exports).find((value) => (value as Tool).name === declared.name) as Tool | undefined;
    assert.deepEqual({ ...tool, run: undefined, subject: undefined, precheck: undefined }, {
      ...declared,
      run: undefined,
      subject: undefined,
      precheck: undefined,
    });
  }
});
