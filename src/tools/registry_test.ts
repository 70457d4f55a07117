import assert from "node:assert/strict";
import { promptBytes } from "../../tests/helpers/tool_project.ts";
import { AgentcliError } from "../errors.ts";
import { builtinTools, selectTools, toolSchemas } from "./registry.ts";

const names = (tools: { name: string }[]) => tools.map((tool) => tool.name);

Deno.test("the built-in tools come in one fixed order", () => {
  assert.deepEqual(names(builtinTools()), ["Read", "Write", "Edit", "Glob", "Grep", "Bash", "TodoWrite"]);
});

Deno.test("tools are selected by name, in the order of the registry", () => {
  const all = builtinTools();
  assert.deepEqual(names(selectTools(all, { only: ["bash", "Read"] })), ["Read", "Bash"]);
  assert.deepEqual(names(selectTools(all, { without: ["Bash", "Write"] })), [
    "Read",
    "Edit",
    "Glob",
    "Grep",
    "TodoWrite",
  ]);
  assert.deepEqual(names(selectTools(all, { only: ["Read", "Bash"], without: ["Bash"] })), ["Read"]);
  assert.deepEqual(names(selectTools(all, { only: [] })), []);
});

Deno.test("an unknown tool is a usage error with the nearest name", () => {
  assert.throws(
    () => selectTools(builtinTools(), { only: ["Gerp"] }),
    (error) => error instanceof AgentcliError && error.code === "usage" && /did you mean Grep/.test(error.hint ?? ""),
  );
});

Deno.test("schemas are the same bytes each time", () => {
  const once = JSON.stringify(toolSchemas(builtinTools()));
  assert.equal(JSON.stringify(toolSchemas(builtinTools())), once);
  assert.ok(once.startsWith('[{"type":"function","function":{"name":"Read","description":"'));
});

Deno.test("the prompts of Glob, Grep and Bash cost at most 300, 550 and 420 bytes", () => {
  const limits: Record<string, number> = { Glob: 300, Grep: 550, Bash: 420 };
  for (const tool of builtinTools()) {
    const limit = limits[tool.name];
    if (limit !== undefined) assert.ok(promptBytes(tool) <= limit, `${tool.name}: ${promptBytes(tool)}`);
  }
});
