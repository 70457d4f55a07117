import assert from "node:assert/strict";
import { AgentcliError } from "../errors.ts";
import { dispatch, normalize } from "./command_line.ts";
import {
  choice,
  command,
  type Context,
  decimal,
  flag,
  group,
  integer,
  type Invocation,
  list,
  text,
} from "./command.ts";

const context = {} as Context;

/** Returns what the command was called with. */
async function called(...argv: string[]): Promise<Invocation> {
  let got: Invocation | undefined;
  const tree = group({
    brief: "test",
    commands: {
      act: command({
        brief: "act",
        arguments: [{ name: "first", brief: "f" }, { name: "second", brief: "s", optional: true }],
        options: {
          name: text("N", "n"),
          count: integer("N", "n", { minimum: 1, maximum: 9 }),
          ratio: decimal("X", "x"),
          file: list("F", "f"),
          fast: flag("f"),
          mode: choice(["slow", "quick"], "m"),
        },
        examples: [],
        load: () => Promise.resolve((invocation: Invocation) => Promise.resolve(void (got = invocation))),
      }),
      many: command({
        brief: "many",
        arguments: [{ name: "path", brief: "p", repeated: true }],
        options: {},
        examples: [],
        load: () => Promise.resolve((invocation: Invocation) => Promise.resolve(void (got = invocation))),
      }),
    },
  });
  await dispatch(normalize(argv, tree), context);
  assert.ok(got);
  return got;
}

Deno.test("values get their types, and what is absent its default", async () => {
  const given = await called("act", "a", "--count", "3", "--ratio=0.5", "--file", "x", "--file=y", "--fast");
  assert.deepEqual(given.options, {
    name: undefined,
    count: 3,
    ratio: 0.5,
    file: ["x", "y"],
    fast: true,
    mode: undefined,
  });
  assert.deepEqual(given.arguments, ["a"]);
  assert.equal((await called("act", "a", "--name=")).options.name, "");
  assert.equal((await called("act", "a", "--name=x", "--name=y")).options.name, "y");
});

Deno.test("what does not fit is a usage error that says what was meant", async () => {
  const cases: [string[], RegExp][] = [
    [["atc"], /unknown command "atc"; did you mean act\?/],
    [["fix it"], /unknown command "fix it"$/],
    [["--model", "demo", "hi"], /a command must come before --model$/],
    [["act", "a", "--verison"], /unknown option --verison; did you mean --version\?/],
    [["--verison"], /unknown option --verison; did you mean --version\?/],
    [["--foo"], /unknown option --foo$/],
    [["act"], /agentcli act needs <first>/],
    [["act", "a", "b", "c"], /takes 2 arguments, and "c" is one more/],
    [["act", "a", "--nmae=x"], /unknown option --nmae; did you mean --name\?/],
    [["act", "a", "--count", "x"], /--count must be a whole number, not "x"/],
    [["act", "a", "--count", "1.5"], /whole number/],
    [["act", "a", "--count", "0"], /at least 1/],
    [["act", "a", "--count", "10"], /at most 9/],
    [["act", "a", "--ratio=1e3"], /a number/],
    [["act", "a", "--fast=yes"], /--fast takes no value/],
    [["act", "a", "--mode", "quik"], /--mode must be one of slow, quick, not "quik"; did you mean quick\?/],
    [["many"], /needs <path>/],
  ];
  for (const [argv, message] of cases) {
    await assert.rejects(called(...argv), (error) => {
      assert.ok(error instanceof AgentcliError && error.code === "usage");
      assert.match(error.message, message);
      assert.equal(/run "<prompt>"/.test(error.hint ?? ""), argv.includes("fix it") || argv.includes("hi"));
      return true;
    });
  }
});

Deno.test("a repeated argument takes all that follow", async () => {
  assert.deepEqual((await called("many", "a", "b", "c")).arguments, ["a", "b", "c"]);
});
