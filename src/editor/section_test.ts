import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { readSection, removeSection, sectionNames, SectionProblem, writeSection } from "./section.ts";

Deno.test("a section is written behind what is there, changed in place, and taken out again", () => {
  const before = "# Mine\r\n\r\ntext\r\n";
  const once = writeSection(before, "usage", { content: "one\ntwo" });
  assert.equal(
    once,
    "# Mine\r\n\r\ntext\r\n\r\n<!-- agentcli:begin usage -->\r\none\r\ntwo\r\n<!-- agentcli:end usage -->\r\n",
  );
  assert.equal(readSection(once, "usage"), "one\ntwo");
  assert.equal(readSection(writeSection(once, "usage", { content: "three" }), "usage"), "three");
  assert.equal(removeSection(once, "usage"), before);
  assert.deepEqual(sectionNames(once), ["usage"]);
});

Deno.test("marks that are no pair are refused", () => {
  for (const text of ["<!-- agentcli:begin a -->", "<!-- agentcli:end a --><!-- agentcli:begin a -->"]) {
    assert.throws(() => writeSection(text, "a", { content: "x" }), SectionProblem);
  }
});

Deno.test("a text that ends in one line end comes back whatever it holds", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    const before = `${text.trimEnd()}x\n`;
    assert.equal(removeSection(writeSection(before, "s", { content: "content" }), "s"), before);
  }));
});
