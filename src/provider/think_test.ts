import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { ThinkSplitter } from "./think.ts";

/** What the pieces come to; `separate` when the server gives reasoning in a field of its own. */
function split(pieces: readonly string[], separate = false): { text: string; reasoning: string } {
  const result = { text: "", reasoning: "" };
  let space = "";
  const splitter = new ThinkSplitter({
    text: (text) => result.text += text,
    reasoning: (text) => {
      result.reasoning += space + text;
      space = "";
    },
    reclassify: () => {
      result.reasoning = result.text.trimEnd();
      space = result.text.slice(result.reasoning.length);
      result.text = "";
    },
  });
  if (separate) splitter.reasoningIsSeparate();
  for (const piece of pieces) splitter.push(piece);
  splitter.end();
  return result;
}

const cases: { what: string; given: string; text: string; reasoning: string }[] = [
  { what: "a block at the start", given: "<think>\nwhy\n</think>\n\nbecause", text: "because", reasoning: "why" },
  { what: "an empty block", given: "<think>\n\n</think>\n\nyes", text: "yes", reasoning: "" },
  { what: "white space before the block", given: "\n <think>why</think>yes", text: "yes", reasoning: "why" },
  { what: "a block whose opener the template swallowed", given: "why\n</think>\n\nyes", text: "yes", reasoning: "why" },
  { what: "a block that never ends", given: "<think>why, oh", text: "", reasoning: "why, oh" },
  { what: "a tag that is talked about", given: "use `</think>` here", text: "use `</think>` here", reasoning: "" },
  { what: "an opener after text", given: "see <think> there", text: "see <think> there", reasoning: "" },
  { what: "a second block", given: "<think>a</think>b <think>c</think>", text: "b <think>c</think>", reasoning: "a" },
  { what: "something that only begins like a tag", given: "<thin ice", text: "<thin ice", reasoning: "" },
  { what: "white space alone", given: " \n", text: " \n", reasoning: "" },
  { what: "a comparison", given: "a < b </ c", text: "a < b </ c", reasoning: "" },
];

for (const { what, given, text, reasoning } of cases) {
  Deno.test(`${what} is told apart, however it is cut`, () => {
    assert.deepEqual(split([given]), { text, reasoning });
    assert.deepEqual(split([...given]), { text, reasoning });
    for (let place = 0; place <= given.length; place++) {
      assert.deepEqual(split([given.slice(0, place), given.slice(place)]), { text, reasoning });
    }
  });
}

Deno.test("tags are text where the server tells reasoning apart itself", () => {
  assert.deepEqual(split(["<think>a</think>"], true), { text: "<think>a</think>", reasoning: "" });
});

Deno.test("text without tags comes through unchanged, however it is cut", () => {
  fc.assert(fc.property(fc.array(fc.string().filter((text) => !text.includes("<"))), (pieces) => {
    assert.deepEqual(split(pieces), { text: pieces.join(""), reasoning: "" });
  }));
});

Deno.test("the cuts never change what comes out", () => {
  const words = fc.array(fc.constantFrom("<think>", "</think>", "<", ">", "think", " ", "\n", "a", "`", "</"));
  fc.assert(fc.property(words, fc.nat(), fc.nat(), (parts, first, second) => {
    const whole = parts.join("");
    const [a = 0, b = 0] = [first % (whole.length + 1), second % (whole.length + 1)].sort((x, y) => x - y);
    assert.deepEqual(split([whole.slice(0, a), whole.slice(a, b), whole.slice(b)]), split([whole]));
    assert.deepEqual(split([...whole]), split([whole]));
  }));
});
