import { TextProblem } from "../limits.ts";
import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { hasOwnText, ownMarks, readSection, removeSection, sectionsIn, writeSection } from "./section.ts";

Deno.test("a section is written after what is there, changed in place, and removed again", () => {
  const before = "# Mine\r\n\r\ntext\r\n";
  const once = writeSection(before, ownMarks("usage"), { content: "one\ntwo" });
  assert.equal(
    once,
    "# Mine\r\n\r\ntext\r\n\r\n<!-- agentcli:begin usage -->\r\none\r\ntwo\r\n<!-- agentcli:end usage -->\r\n",
  );
  assert.equal(readSection(once, ownMarks("usage")), "one\ntwo");
  assert.equal(readSection(writeSection(once, ownMarks("usage"), { content: "three" }), ownMarks("usage")), "three");
  assert.equal(removeSection(once, ownMarks("usage")), before);
  assert.deepEqual(sectionsIn(once), [ownMarks("usage")]);
  assert.deepEqual([hasOwnText(before), hasOwnText(once.slice(before.length))], [true, false]);
});

Deno.test("marks that are no pair are refused", () => {
  for (const text of ["<!-- agentcli:begin a -->", "<!-- agentcli:end a --><!-- agentcli:begin a -->"]) {
    assert.throws(() => writeSection(text, ownMarks("a"), { content: "x" }), TextProblem);
  }
});

Deno.test("a text that ends in line ends comes back whatever it holds", () => {
  fc.assert(fc.property(fc.string(), fc.integer({ min: 1, max: 4 }), (text, ends) => {
    const before = `${text}${"\n".repeat(ends)}`;
    assert.equal(removeSection(writeSection(before, ownMarks("s"), { content: "content" }), ownMarks("s")), before);
  }));
});
for (
  const [begin, end, name] of [
    ["<!-- BEGIN other-tool -->", "<!-- END other-tool -->", "other-tool"],
    ["<!-- other:start rules -->", "<!-- other:end rules -->", "other-rules"],
    ["<!-- rules-begin v2 sha=1 -->", "<!-- rules-end -->", "rules"],
  ] as const
) {
  Deno.test(`a section of another installer is known by its marks: ${begin}`, () => {
    const text = `# Mine\n\n${begin}\none\n<!-- a comment -->\n${end}\n\nmore\n`;
    const [found, ...others] = sectionsIn(text);
    assert.deepEqual([found, others], [{ name, begin, end }, []]);
    assert.ok(found);
    assert.equal(readSection(text, found), "one\n<!-- a comment -->");
    assert.ok(hasOwnText(text));
  });
}

Deno.test("comments that open nothing are no sections", () => {
  assert.deepEqual(sectionsIn("<!-- begin here -->\ntext\n<!-- the end of x -->\n<!-- not ended: begin -->\n"), []);
});
