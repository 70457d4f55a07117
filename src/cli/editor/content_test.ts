import { SCAFFOLD_IDS } from "../../editor/hooks/events.ts";
import { kebabCase } from "../command_line.ts";
import type { Values } from "../command.ts";
import { refuseIdleOptions } from "./content.ts";
import { ADD_OPTIONS, CHANGE_OPTIONS } from "./command.ts";
import assert from "node:assert/strict";

type Given = Partial<Values<typeof ADD_OPTIONS>>;

const OPTIONS = Object.keys(ADD_OPTIONS) as (keyof typeof ADD_OPTIONS)[];

/** Artifacts, with what is given to make them so, and the options that count for them. */
const MADE: readonly [kind: string, name: string, given: Given, effective: readonly string[]][] = [
  ["rule", "r", {}, ["file", "trigger", "globs", "description"]],
  ["rule", "r", { scope: "user" }, ["file"]],
  ["workflow", "w", {}, ["file", "description"]],
  ["skill", "s", {}, ["file", "shared"]],
  ["skill", "s", { dir: "folder" }, ["dir", "shared"]],
  ["hook", "mine", {}, ["event", "command", "powershell", "showOutput", "workingDirectory"]],
  ...SCAFFOLD_IDS.map((id): [string, string, Given, string[]] => ["hook", id, {}, ["event", "set"]]),
  ["mcp", "m", { file: "m.json" }, ["file"]],
  ["mcp", "m", { command: "c" }, ["command", "arg", "env"]],
  ["mcp", "m", { serverUrl: "http://127.0.0.1:9" }, ["serverUrl", "header"]],
  ["instructions", "", {}, ["file"]],
];

function valueOf(option: keyof typeof ADD_OPTIONS): unknown {
  const { kind } = ADD_OPTIONS[option];
  return kind === "flag" ? true : kind === "list" ? ["x"] : "x";
}

function optionsWith(given: Given): Values<typeof ADD_OPTIONS> {
  const empty = OPTIONS.map((name) => {
    const { kind } = ADD_OPTIONS[name];
    return [name, kind === "flag" ? false : kind === "list" ? [] : undefined];
  });
  return { ...Object.fromEntries(empty), ...given };
}

for (const [kind, name, given, effective] of MADE) {
  Deno.test(`for ${kind} ${name} ${JSON.stringify(given)} every option counts or is refused by its name`, () => {
    for (const option of OPTIONS.filter((one) => !(one in CHANGE_OPTIONS) && one !== "scope")) {
      // These make another kind of server or skill of it: then what made it the first kind is what has no effect.
      if (!effective.includes(option) && ["file", "dir", "command", "serverUrl"].includes(option)) continue;
      const refused = () => refuseIdleOptions(kind, name, optionsWith({ ...given, [option]: valueOf(option) }));
      if (effective.includes(option)) refused();
      else assert.throws(refused, new RegExp(`--${kebabCase(option)} has no effect on `), option);
    }
    for (const common of [{ force: true }, { dryRun: true }, { dialect: "devin" }, { systemDir: "d" }] as const) {
      refuseIdleOptions(kind, name, optionsWith({ ...given, ...common }));
    }
  });
}

Deno.test("of two ways to give the same thing one is refused", () => {
  const refused = (kind: string, given: Given) => () => refuseIdleOptions(kind, "x", optionsWith(given));
  assert.throws(
    refused("mcp", { file: "f", command: "c" }),
    /--command has no effect on a server whose content is JSON/,
  );
  assert.throws(refused("mcp", { serverUrl: "u", command: "c", arg: ["a"] }), /--command and --arg have no effect/);
  assert.throws(refused("skill", { dir: "d", file: "f" }), /--file has no effect on a skill whose content is a folder/);
  assert.throws(refused("rule", { dir: "d" }), /--dir has no effect on a rule/);
  assert.throws(refused("hook", { serverUrl: "u" }), /--server-url has no effect on a custom hook/);
});
