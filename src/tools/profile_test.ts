import assert from "node:assert/strict";
import { builtinTools, type ProfileOptions, profileTools, toolSchemas } from "./registry.ts";

const names = (options: ProfileOptions) => profileTools(builtinTools(), options).map((tool) => tool.name);
const bytes = (options: ProfileOptions) =>
  new TextEncoder().encode(JSON.stringify(toolSchemas(profileTools(builtinTools(), options)))).length;

Deno.test("the small profile has the tools one cannot do without", () => {
  const options = { profile: "small", edit: "replace", named: false } as const;
  assert.deepEqual(names(options), ["Read", "Write", "Edit", "Grep", "Bash"]);
  assert.ok(bytes(options) <= 1280, `${bytes(options)} bytes`);
});

Deno.test("the default profile has all tools within its share of 4,000 bytes", () => {
  const options = { profile: "default", edit: "replace", named: false } as const;
  assert.equal(names(options).length, 7);
  assert.ok(bytes(options) <= 3300, `${bytes(options)} bytes`);
});

Deno.test("a model that writes whole files is offered Write and not told of Edit", () => {
  for (const profile of ["default", "small"] as const) {
    const tools = profileTools(builtinTools(), { profile, edit: "whole", named: false });
    assert.ok(tools.some((tool) => tool.name === "Write"));
    assert.ok(!tools.some((tool) => tool.name === "Edit"));
    assert.doesNotMatch(tools.find((tool) => tool.name === "Write")?.description ?? "", /Edit/);
  }
});

Deno.test("tools that the user named stay, whatever the profile", () => {
  const options = { profile: "small", edit: "whole", named: true } as const;
  assert.equal(names(options).length, 7);
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
