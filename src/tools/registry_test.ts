import { promptBytes } from "../../tests/helpers/tool_project.ts";
import { AgentcliError } from "../errors.ts";
import { builtinTools, type ProfileOptions, profileTools, selectTools, toolSchemas } from "./registry.ts";
import assert from "node:assert/strict";

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

const profileNames = (options: ProfileOptions) => profileTools(builtinTools(), options).map((tool) => tool.name);
const bytes = (options: ProfileOptions) =>
  new TextEncoder().encode(JSON.stringify(toolSchemas(profileTools(builtinTools(), options)))).length;

Deno.test("the small profile has the tools one cannot do without", () => {
  const options = { profile: "small", edit: "replace", named: false } as const;
  assert.deepEqual(profileNames(options), ["Read", "Write", "Edit", "Grep", "Bash"]);
  assert.ok(bytes(options) <= 1280, `${bytes(options)} bytes`);
});

Deno.test("the default profile has all tools within its share of 4,000 bytes", () => {
  const options = { profile: "default", edit: "replace", named: false } as const;
  assert.equal(profileNames(options).length, 7);
  assert.ok(bytes(options) <= 3300, `${bytes(options)} bytes`);
});

Deno.test("a model that writes whole files is offered Write and hears nothing of Edit", () => {
  for (const profile of ["default", "small"] as const) {
    const tools = profileTools(builtinTools(), { profile, edit: "whole", named: false });
    assert.ok(tools.some((tool) => tool.name === "Write"));
    assert.ok(!tools.some((tool) => tool.name === "Edit"));
    assert.doesNotMatch(tools.find((tool) => tool.name === "Write")?.description ?? "", /Edit/);
  }
});

Deno.test("tools that the user named stay, whatever the profile", () => {
  const options = { profile: "small", edit: "whole", named: true } as const;
  assert.equal(profileNames(options).length, 7);
});

Deno.test("short forms keep the names of arguments and what is required", () => {
  const full = new Map(builtinTools().map((tool) => [tool.name, tool.parameters]));
  for (const { name, parameters } of profileTools(builtinTools(), { profile: "small", edit: "replace", named: true })) {
    const known = full.get(name);
    assert.deepEqual(parameters.required, known?.required);
    for (const [argument, schema] of Object.entries(parameters.properties ?? {})) {
      assert.equal(schema.type, known?.properties?.[argument]?.type, `${name}.${argument}`);
    }
    for (const argument of parameters.required ?? []) assert.ok(argument in (parameters.properties ?? {}));
  }
});
