import assert from "node:assert/strict";
import { compiledAhead, functionsOf } from "./bundle_functions.ts";

const CODE = `// src/door.ts
class Door2 {
  #open = () => 1;
  send() {
    return [1, 2].map((one) => one + this.#open());
  }
}
function openDoor3() {
  return {
    async send(text) {
      return text;
    },
    *all() {
      yield 1;
    },
    get open() {
      return true;
    },
    other() {
      return super.toString();
    }
  };
}

// src/run.ts
var run = async (door) => await door.send("x");
`;

Deno.test("a function is called by its module and the names around it, without the bundler's numbers", () => {
  assert.deepEqual(functionsOf(CODE).map(({ key }) => key), [
    "src/door.ts Door.#open",
    "src/door.ts Door.send",
    "src/door.ts Door.send/#1",
    "src/door.ts openDoor",
    "src/door.ts openDoor/send",
    "src/door.ts openDoor/all",
    "src/door.ts openDoor/open",
    "src/door.ts openDoor/other",
    "src/run.ts run",
  ]);
});

Deno.test("the same name twice in one place is told apart", () => {
  const keys = functionsOf("// a.ts\nvar f = () => [(a) => a, (b) => b];\n{\n  let f = () => 2;\n}\n").map(({ key }) =>
    key
  );
  assert.deepEqual(keys, ["a.ts f", "a.ts f/#1", "a.ts f/#2", "a.ts f#2"]);
});

Deno.test("code compiled ahead does the same", async () => {
  const keys = functionsOf(CODE).map(({ key }) => key);
  const code = compiledAhead(CODE, new Set(keys));
  assert.notEqual(code, CODE);
  const use = `${code}const door = openDoor3();
    export default [new Door2().send(), await run(door), [...door.all()], door.open, door.other(), openDoor3.name,
      door.send.name, run.name];`;
  const { default: results } = await import(`data:text/javascript,${encodeURIComponent(use)}`);
  assert.deepEqual(results, [[2, 3], "x", [1], true, "[object Object]", "openDoor3", "send", "run"]);
});

Deno.test("what has no form with parentheses stays as it is: accessors, super", () => {
  const code = compiledAhead(CODE, new Set(functionsOf(CODE).map(({ key }) => key)));
  for (const kept of ["get open() {", "other() {"]) assert(code.includes(kept), kept);
  for (
    const changed of ["send: (async function(text) {", "all: (function*() {", "var openDoor3 = (function openDoor3("]
  ) {
    assert(code.includes(changed), changed);
  }
});
