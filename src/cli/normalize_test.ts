import assert from "node:assert/strict";
import { AgentcliError } from "../errors.ts";
import { normalize } from "./command_line.ts";
import { command, flag, group, integer, list, text } from "./command.ts";

const load = () => Promise.reject(new Error("not called"));
const tree = group({
  brief: "test",
  commands: {
    run: command({
      brief: "run",
      arguments: [{ name: "prompt", brief: "p", optional: true }],
      options: {
        model: text("M", "m"),
        baseUrl: text("U", "u"),
        count: integer("N", "n"),
        file: list("F", "f"),
        fast: flag("f"),
      },
      examples: [],
      load,
    }),
    providers: group({
      brief: "providers",
      commands: { add: command({ brief: "add", arguments: [], options: {}, examples: [], load }) },
    }),
  },
});

const given = (argv: string[]) =>
  normalize(argv, tree).options.map(({ name, value }) => value === undefined ? name : `${name}=${value}`);

Deno.test("the spellings of an option with a value are the same", () => {
  for (const argv of [["--model", "a"], ["--model=a"]]) {
    assert.deepEqual(given(["run", ...argv]), ["model=a"]);
  }
  for (const argv of [["--base-url", ""], ["--base-url="], ["--baseUrl", ""], ["--baseUrl="]]) {
    assert.deepEqual(given(["run", ...argv]), ["baseUrl="]);
  }
});

Deno.test("global options are taken from any place, with their values", () => {
  const line = normalize(["--json", "-C", "providers", "run", "hi", "-q", "--cwd=/x"], tree);
  assert.deepEqual(line.path, ["run"]);
  assert.deepEqual(line.words, ["hi"]);
  assert.deepEqual(line.globals, { json: true, cwd: "/x", quiet: true });
});

Deno.test("short options may stand together, and -C takes the next word", () => {
  const line = normalize(["-qyC", "/tmp", "run"], tree);
  assert.deepEqual(line.globals, { quiet: true, yes: true, cwd: "/tmp" });
});

Deno.test("negative numbers and dashes are values and words", () => {
  assert.deepEqual(given(["run", "--count", "-1"]), ["count=-1"]);
  assert.deepEqual(given(["run", "--model", "-x"]), ["model=-x"]);
  assert.deepEqual(normalize(["run", "-", "-5"], tree).words, ["-", "-5"]);
});

Deno.test("what follows -- are words", () => {
  const line = normalize(["run", "--fast", "--", "--model", "-q"], tree);
  assert.deepEqual(line.options.map(({ name }) => name), ["fast"]);
  assert.deepEqual(line.words, ["--model", "-q"]);
});

Deno.test("commands of groups are found, and a prompt that is named like a command stays a word", () => {
  assert.deepEqual(normalize(["providers", "add"], tree).path, ["providers", "add"]);
  const line = normalize(["run", "providers"], tree);
  assert.deepEqual([line.path, line.words], [["run"], ["providers"]]);
});

Deno.test("an option without its value and an unknown letter are usage errors", () => {
  const refused = (argv: string[]) =>
    assert.throws(() => normalize(argv, tree), (error) => error instanceof AgentcliError && error.code === "usage");
  refused(["run", "--model"]);
  refused(["run", "--model", "--fast"]);
  refused(["run", "--model", "--json"]);
  refused(["run", "-z"]);
  assert.throws(() => normalize(["run", "-m"], tree), /unknown option -m/);
  assert.throws(
    () => normalize(["run", "-m", "x"], tree),
    (error) => error instanceof AgentcliError && error.hint === "did you mean --model? see: agentcli run --help",
  );
  assert.deepEqual(given(["run", "--model", "-z"]), ["model=-z"]);
});

Deno.test("unknown options stay for the dispatcher, and words of prototypes are none", () => {
  assert.deepEqual(given(["run", "--constructor", "x"]), ["constructor"]);
  assert.deepEqual(normalize(["constructor"], tree).path, []);
});
