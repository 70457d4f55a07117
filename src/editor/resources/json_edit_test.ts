import { TextProblem } from "../limits.ts";
import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import {
  addItem,
  type EditableJson,
  editableJson,
  removeItem,
  removeMember,
  replaceItem,
  setMember,
} from "./json_edit.ts";
import { dataOf, parseJsonTree, printJson } from "./json_tree.ts";

/** The text after a change. */
function edited(text: string, change: (json: EditableJson) => unknown): string {
  const json = editableJson(text);
  change(json);
  return printJson(json);
}

const FOREIGN =
  '\ufeff// mine\r\n{\r\n\t"a": [1, 2], /* two */\r\n\t"mcpServers": {\r\n\t\t"x": {"command": "y"} // last\r\n\t}\r\n}\r\n';

Deno.test("a member is added and removed without another byte changing", () => {
  const added = edited(FOREIGN, (json) => setMember(json, ["mcpServers", "ours"], { command: "c", args: ["d"] }));
  assert.deepEqual(dataOf(parseJsonTree(added)), {
    a: [1, 2],
    mcpServers: { x: { command: "y" }, ours: { command: "c", args: ["d"] } },
  });
  assert.equal(added.replaceAll("\r\n", "").includes("\n"), false);
  assert.ok(added.includes('"x": {"command": "y"}, // last\r\n\t\t"ours"'));
  assert.equal(edited(added, (json) => removeMember(json, ["mcpServers", "ours"])), FOREIGN);
});

Deno.test("a list that is missing is made with its parents, and an empty file becomes an object", () => {
  assert.deepEqual(
    dataOf(parseJsonTree(edited("", (json) => addItem(json, ["hooks", "pre_read_code"], { command: "a" })))),
    {
      hooks: { pre_read_code: [{ command: "a" }] },
    },
  );
  assert.equal(
    edited("{}", (json) => addItem(json, ["hooks", "e"], { c: 1 })),
    '{\n  "hooks": {\n    "e": [\n      {\n        "c": 1\n      }\n    ]\n  }\n}',
  );
});

Deno.test("an item is replaced in its place", () => {
  assert.equal(
    edited('{"l": [1, {"a": 2}, 3]}', (json) => replaceItem(json, ["l"], { index: 1, value: 9 })),
    '{"l": [1, 9, 3]}',
  );
});

for (
  const [what, text] of Object.entries({
    "a list where an object is needed": "[]",
    "no end": '{"a": 1',
    "a name that stands twice": '{"mcpServers": {}, "mcpServers": {}}',
    "something after the value": "{} {}",
    "a number with a leading zero": '{"a": 01}',
    "a raw line end in a text": '{"a": "b\nc"}',
  })
) {
  Deno.test(`a text is refused that has ${what}`, () => {
    assert.throws(() => edited(text, (json) => setMember(json, ["mcpServers", "x"], {})), TextProblem);
  });
}

const space = fc.constantFrom("", " ", "\n", "\r\n  ", "\t", " // c\n", "/* c */", "\n// {[,\n");
const plain = fc.constantFrom("1", '"s"', "true", "null", "[]", "{}", '"a,b"', '"// no"');
const children = fc.array(fc.tuple(space, plain, space), { maxLength: 4 });

Deno.test("adding to any list and removing again gives back the same text, or the same data where it was empty", () => {
  fc.assert(fc.property(children, fc.boolean(), (items, comma) => {
    const inner = items.map(([before, value, after]) => before + value + after).join(",");
    const text = `{"l": [${inner}${comma && items.length > 0 ? "," : ""}] }`;
    const added = edited(text, (json) => addItem(json, ["l"], { new: [1] }));
    const data = dataOf(parseJsonTree(text)) as { l: unknown[] };
    assert.deepEqual(dataOf(parseJsonTree(added)), { l: [...data.l, { new: [1] }] });
    const removed = edited(added, (json) => removeItem(json, ["l"], { index: items.length }));
    if (items.length > 0) assert.equal(removed, text);
    assert.deepEqual(dataOf(parseJsonTree(removed)), data);
  }));
});

Deno.test("removing any member keeps the others and every comment", () => {
  fc.assert(fc.property(children, fc.nat(3), (members, index) => {
    const inner = members.map(([before, value, after], at) => `${before}"k${at}":${value}${after}`).join(",");
    const text = `{${inner}}`;
    const removed = edited(text, (json) => removeMember(json, [`k${index}`]));
    const data = dataOf(parseJsonTree(text)) as Record<string, unknown>;
    delete data[`k${index}`];
    assert.deepEqual(dataOf(parseJsonTree(removed)), data);
    assert.equal(removed.split("// c").length, text.split("// c").length);
  }));
});

Deno.test("a text that is read and printed again is the same to the byte", () => {
  fc.assert(fc.property(space, children, fc.boolean(), (around, items, comma) => {
    const inner = items.map(([before, value, after]) => before + value + after).join(",");
    const text = `\ufeff${around}{"l":${around}[${inner}${comma && items.length > 0 ? `,${around}` : ""}]}${around}`;
    assert.equal(edited(text, () => {}), text);
  }));
});
