import assert from "node:assert/strict";
import { besideTable, type Figures } from "./beside.ts";
import { askedIn, callThatReads } from "./mock_request.ts";
import { nameIn, noSuchName } from "./names_asked.ts";

Deno.test("the table has a ratio to ours wherever both have a figure", () => {
  const table = besideTable(
    new Map<string, Figures>([
      ["agentcli", { "first request": 40, requests: 1 }],
      ["other", { "first request": 500, requests: 2, cpu: 7 }],
    ]),
  );
  const [, , ours = "", other = ""] = table.split("\n");
  assert.equal(ours, "| agentcli | - | 40 ms | - | - | - | - | 1 | - |");
  assert.equal(other, "| other | - | 500 ms (13 ×) | - | 7 ms | - | - | 2 (2.0 ×) | - |");
});

Deno.test("a call reads the file with the tool that is offered for it, in whatever form", () => {
  const path = { type: "string" };
  const read = {
    type: "function",
    function: { name: "read_file", parameters: { properties: { absolute_path: path } } },
  };
  const shell = {
    type: "function",
    name: "shell",
    parameters: { properties: { command: { type: "array" }, wait: { type: "number" } }, required: ["command", "wait"] },
  };
  const tools = (list: unknown[]) => askedIn(JSON.stringify({ model: "m", tools: list })).tools;
  assert.deepEqual(callThatReads("/a", tools([shell, read])), { name: "read_file", input: { absolute_path: "/a" } });
  assert.deepEqual(callThatReads("/a", tools([{ type: "namespace", tools: [shell] }])), {
    name: "shell",
    input: { command: ["sh", "-c", "cat '/a'"], wait: 1 },
  });
  assert.equal(callThatReads("/a", []), null);
});

Deno.test("results are counted in both interfaces", () => {
  assert.equal(askedIn('{"messages":[{"role":"user"},{"role":"tool"},{"role":"tool"}]}').results, 2);
  assert.equal(askedIn('{"input":[{"role":"user"},{"type":"function_call_output"}]}').results, 1);
});

Deno.test("a requested name is recorded, and none exists", () => {
  const header = [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1];
  const name = [3, ...new TextEncoder().encode("API"), 4, ...new TextEncoder().encode("test"), 0];
  const question = new Uint8Array([...header, ...name, 0, 1, 0, 1, 0, 0, 41, 4, 0, 0, 0, 0, 0, 0, 0]);
  assert.equal(nameIn(question), "api.test");
  const answer = noSuchName(question);
  assert.deepEqual([...answer.subarray(0, 12)], [0, 7, 0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0]);
  assert.equal(answer.length, 12 + name.length + 4);
});
