import assert from "node:assert/strict";
import { choice, command, flag, group, list, text } from "../command.ts";
import { keptByShell, splitLine, wantedAt } from "./complete.ts";

const load = () => Promise.reject(new Error("not called"));
const PROVIDER = { name: "provider", brief: "p", completion: "provider" } as const;
const tree = group({
  brief: "root",
  commands: {
    run: command({
      brief: "run",
      arguments: [{ name: "prompt", brief: "p", optional: true }],
      options: {
        model: text("M", "m", { completion: "model" }),
        outputFormat: choice(["text", "json"], "o"),
        addDir: list("D", "d", { completion: "directory" }),
        fast: flag("f"),
        secret: flag("s", { hidden: true }),
      },
      examples: [],
      load,
    }),
    providers: group({
      brief: "providers",
      commands: {
        remove: command({
          brief: "r",
          arguments: [PROVIDER, { name: "model", brief: "m", completion: "model" }],
          options: {},
          examples: [],
          load,
        }),
        validate: command({
          brief: "v",
          arguments: [{ ...PROVIDER, optional: true, repeated: true }],
          options: {},
          examples: [],
          load,
        }),
      },
    }),
    shells: command({
      brief: "s",
      arguments: [{ name: "s", brief: "s", values: ["a", "b"] }],
      options: {},
      examples: [],
      load,
    }),
    __hidden: command({ brief: "h", arguments: [], options: {}, examples: [], hidden: true, load }),
  },
});

function at(line: string) {
  const { words, current } = splitLine(line);
  return wantedAt(tree, words, { current });
}

function words(line: string): string[] {
  const wanted = at(line);
  assert.equal(wanted.kind, "words");
  return wanted.kind === "words" ? wanted.words.map(({ value }) => value) : [];
}

Deno.test("commands are offered where one can stand, without the hidden ones", () => {
  assert.deepEqual(words(""), ["run", "providers", "shells"]);
  assert.deepEqual(words("--json -C /x "), ["run", "providers", "shells"]);
  assert.deepEqual(words("providers re"), ["remove", "validate"]);
  assert.deepEqual(words("unknown "), []);
});

Deno.test("options are offered after a dash, the command's own before those of all", () => {
  const offered = words("run --");
  assert.deepEqual(offered.slice(0, 4), ["--model", "--output-format", "--add-dir", "--fast"]);
  assert.ok(offered.includes("--json") && !offered.includes("--secret"));
  assert.deepEqual(words("run -- --"), []);
});

Deno.test("an option that takes a value has its values offered, in both spellings", () => {
  assert.deepEqual(at("run --model "), { kind: "values", of: "model", before: "" });
  assert.deepEqual(at("run --model=runt"), { kind: "values", of: "model", before: "--model=" });
  assert.deepEqual(at("run --addDir x --add-dir "), { kind: "values", of: "directory", before: "" });
  assert.deepEqual(at("-C "), { kind: "values", of: "directory", before: "" });
  assert.deepEqual(words("run --output-format "), ["text", "json"]);
  assert.deepEqual(words("run --output-format=j"), ["--output-format=text", "--output-format=json"]);
  assert.deepEqual(words("run --fast=x"), []);
});

Deno.test("arguments know their place, and a model the provider before it", () => {
  assert.deepEqual(at("providers remove "), { kind: "values", of: "provider", before: "" });
  assert.deepEqual(at("providers remove --yes p "), { kind: "values", of: "model", before: "", after: "p" });
  assert.deepEqual(words("providers remove p m "), []);
  assert.deepEqual(at("providers validate a b "), { kind: "values", of: "provider", before: "" });
  assert.deepEqual(words("shells "), ["a", "b"]);
});

Deno.test("a line is read as bash reads it", () => {
  assert.deepEqual(splitLine(`agentcli run "a b" 'c d'e f\\ g h`), {
    words: ["agentcli", "run", "a b", "c de", "f g"],
    current: "h",
  });
  assert.deepEqual(splitLine("agentcli run "), { words: ["agentcli", "run"], current: "" });
  assert.deepEqual(splitLine(`a "b \\" \\x`), { words: ["a"], current: `b " \\x` });
  assert.deepEqual(splitLine(`a "" `), { words: ["a", ""], current: "" });
});

Deno.test("bash replaces what follows its last break alone", () => {
  assert.equal(keptByShell("--model=p:qwen3:8", "=:"), "--model=p:qwen3:".length);
  assert.equal(keptByShell("--model=p:q", "="), "--model=".length);
  assert.equal(keptByShell("p:q", " \t"), 0);
});
