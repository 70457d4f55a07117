import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import type { TextResource } from "./resource.ts";
import { LiveText } from "../plan/draft.ts";
import { putResource, takeResource } from "./resource.ts";

const item: TextResource = { kind: "item", path: "/x/hooks.json", at: ["hooks", "e"], value: { command: "ours" } };
const member: TextResource = { kind: "member", path: "/x/mcp.json", at: ["hooks", "ours"], value: { command: "ours" } };

function withResource(text: string, resource: TextResource): string {
  const file = new LiveText(text);
  putResource(file, resource, { index: -1 });
  return file.text;
}

/** Adds ours, lets somebody else change another place, takes ours out. */
function addedAndRemoved(text: string, resource: TextResource, foreign: (text: string) => string): string {
  const file = new LiveText(foreign(withResource(text, resource)));
  takeResource(file, resource, { index: 0, original: new LiveText(text) });
  return file.text;
}

const inner = fc.array(fc.constantFrom(" ", "\n", "\r\n", "\t", "/* none */", "// none\n"), { maxLength: 3 })
  .map((parts) => parts.join(""));

Deno.test("what was found empty is as it was found when ours goes, whatever others changed elsewhere meanwhile", () => {
  const container = fc.tuple(inner, inner).chain(([one, other]) =>
    fc.constantFrom(`{${one}}`, `{${one}"e":${other}[${one}]}`, `{"e": [${other}]${one}}`)
  );
  fc.assert(fc.property(container, inner, fc.boolean(), (hooks, before, isLast) => {
    const [start, end] = isLast ? ['"other": 1, ', ""] : ["", ', "other": 1'];
    const text = `\ufeff{${before}${start}"hooks": ${hooks}${end}}\n`;
    const foreign = (one: string) => one.replace('"other": 1', '"other": [1, 2]');
    assert.equal(addedAndRemoved(text, item, foreign), foreign(text));
    if (!text.includes('"e"')) assert.equal(addedAndRemoved(text, member, foreign), foreign(text));
  }));
});

Deno.test("an object that was found empty, and a file that was, are so again", () => {
  fc.assert(fc.property(inner, fc.constantFrom("", "\ufeff"), (blank, mark) => {
    const foreign = (one: string) => `${one}\n\n`;
    assert.equal(addedAndRemoved(`${mark}{${blank}}`, item, foreign), `${mark}{${blank}}\n\n`);
    const empty = mark + blank.replace(/\/.*/s, "");
    assert.equal(addedAndRemoved(empty, item, foreign), empty);
    assert.equal(addedAndRemoved(empty, member, foreign), empty);
  }));
});

Deno.test("what somebody wrote into our container meanwhile stays", () => {
  const foreign = (one: string) => one.replace('"e": [', '"e": [ // theirs');
  assert.match(addedAndRemoved('{"hooks": {"e": [ ]}}', item, foreign), /\/\/ theirs/);
});

Deno.test("a byte order mark alone stays in front of what is added", () => {
  assert.equal(withResource("\ufeff", item).slice(0, 2), "\ufeff{");
});
