import assert from "node:assert/strict";
import * as property from "../../../tests/property.ts";
import { readClientLine } from "./command_line.ts";

const COMMANDS = ["run", "config", "version"];
const read = (...argv: string[]) => readClientLine(argv, COMMANDS);
const given = (line: ReturnType<typeof read>) =>
  line?.options.map(({ name, value }) => value === undefined ? name : `${name}=${value}`);

Deno.test("every spelling of a value is the same", () => {
  const wanted = ["inputFormat=stream-json", "maxTurns=3"];
  for (
    const argv of [
      ["--input-format", "stream-json", "--max-turns", "3"],
      ["--input-format=stream-json", "--max-turns=3"],
      ["--inputFormat", "stream-json", "--maxTurns=3"],
      ["--max-turns=9", "--input-format", "stream-json", "--max-turns", "3"],
    ]
  ) {
    assert.deepEqual(given(read(...argv))?.toSorted(), wanted, argv.join(" "));
  }
});

Deno.test("nothing given is nothing set, but no tools are no tools", () => {
  const line = read(
    "--input-format=stream-json",
    "--model",
    "",
    "--resume=",
    "--setting-sources",
    "",
    "--system-prompt",
    "",
    "--tools",
    "",
  );
  assert.deepEqual(given(line), ["inputFormat=stream-json", "tools=none"]);
  assert.deepEqual(given(read("-p", "--tools=default")), []);
});

Deno.test("directories add up, rules too, and what others call tools means nothing", () => {
  const line = read(
    "-p",
    "--add-dir",
    "a",
    "--add-dir=b",
    "--allowedTools",
    "Read,WebFetch(domain:x),mcp__s__t,Bash(git log:*)",
    "--disallowed-tools=AskUserQuestion",
    "--tools",
    "Read,Task",
  );
  assert.deepEqual(given(line), [
    "addDir=a",
    "addDir=b",
    "allowedTools=Read,mcp__s__t,Bash(git log:*)",
    "tools=Read",
  ]);
});

Deno.test("the prompt is the argument that is not empty, wherever it stands", () => {
  for (
    const argv of [
      ["-p", "say hi", "--output-format", "json"],
      ["-p", "--output-format", "json", "say hi"],
      ["--print", "", "say hi"],
      ["say hi", "-p"],
      ["--model", "run", "-p", "say hi"],
      ["-p", "--new-thing", "say hi"],
    ]
  ) {
    assert.deepEqual(read(...argv)?.words, ["say hi"], argv.join(" "));
  }
  assert.deepEqual(read("-p", "run")?.words, ["run"]);
  assert.deepEqual(read("-p", "--", "--model")?.words, ["--model"]);
});

Deno.test("with stream-json input no argument is a prompt", () => {
  assert.deepEqual(read("--input-format", "stream-json", "", "stray", "--new", "value")?.words, []);
});

Deno.test("a line with a command, or without any mark of the mode, is another's", () => {
  assert.equal(read("run", "x", "--output-format", "json"), null);
  assert.equal(read("--json", "run", "x", "--output-format", "json"), null);
  assert.equal(read("--model", "x"), null);
  assert.equal(read("-v"), null);
  assert.equal(read(), null);
});

Deno.test("options of clients are accepted, with what they mean", () => {
  const line = read(
    "-p",
    "--approval-mode",
    "auto-edit",
    "--max-session-turns=4",
    "--fallback-model",
    "x",
    "-c",
    "--debug",
  );
  assert.deepEqual(given(line), ["permissionMode=acceptEdits", "maxTurns=4", "continue"]);
  assert.deepEqual(given(read("-p", "--permission-mode", "dontAsk", "--max-turns", "many")), []);
});

Deno.test("no line of protocol mode is an error", () => {
  const word = property.oneof(
    property.constantFrom("--tools", "--max-turns=x", "--add-dir", "--nothing", "-p", "--", "-", "--=", "-xyz", ""),
    property.string(),
  );
  property.assert(property.property(property.array(word), (words) => {
    const line = read("-p", ...words);
    assert.ok(line !== null && line.words.length <= 1);
  }));
});
