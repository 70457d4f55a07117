import assert from "node:assert/strict";
import { REASONING_MARKS } from "../../../tests/helpers/text_calls.ts";
import * as fc from "../../../tests/property.ts";
import { ThinkSplitter } from "./think.ts";

/** Returns the message of the pieces; `separate` when the server gives reasoning in a field of its own. */
function split(pieces: readonly string[], separate = false): { text: string; reasoning: string } {
  const result = { text: "", reasoning: "" };
  const splitter = new ThinkSplitter({
    text: (text) => result.text += text,
    reasoning: (text) => result.reasoning += text,
    reclassify: (rest) => {
      result.reasoning = (result.text + rest).trimEnd();
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
  Deno.test(`${what} is separated, however it is cut`, () => {
    assert.deepEqual(split([given]), { text, reasoning });
    assert.deepEqual(split([...given]), { text, reasoning });
    for (let place = 0; place <= given.length; place++) {
      assert.deepEqual(split([given.slice(0, place), given.slice(place)]), { text, reasoning });
    }
  });
}

for (const [open, close] of REASONING_MARKS) {
  Deno.test(`what stands between ${open} and ${close} is reasoning, however it is cut`, () => {
    const given = `${open}\nwhy\nnot\n${close}\n\nbecause`;
    const wanted = { text: "because", reasoning: "why\nnot" };
    for (let place = 0; place <= given.length; place++) {
      assert.deepEqual(split([given.slice(0, place), given.slice(place)]), wanted, given.slice(0, place));
    }
    assert.deepEqual(split([...given]), wanted);
    assert.deepEqual(split([...`${open}why`]), { text: "", reasoning: "why" });
    if (open.startsWith("Here")) return;
    const talk = `Write ${open} and ${close} there.`;
    assert.deepEqual(split([...talk]), { text: talk, reasoning: "" });
    const code = `Write:\n\n\`\`\`\n${close}\n\`\`\`\n`;
    assert.deepEqual(split([...code]), { text: code, reasoning: "" });
  });
}

const answers: { what: string; given: string; text: string; reasoning: string }[] = [
  {
    what: "Command A",
    given: "<|START_THINKING|>why<|END_THINKING|><|START_RESPONSE|>because<|END_RESPONSE|>",
    text: "because",
    reasoning: "why",
  },
  {
    what: "gpt-oss",
    given: "<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>final<|message|>because<|return|>",
    text: "because",
    reasoning: "why",
  },
  {
    what: "Apriel, whose template opens the block",
    given: "why\n[BEGIN FINAL RESPONSE]\nbecause\n[END FINAL RESPONSE]\n",
    text: "because\n\n",
    reasoning: "why",
  },
  {
    what: "a call of gpt-oss on the channel of its analysis",
    given: "<|channel|>analysis to=functions.list code<|message|>{}<|call|>",
    text: "<|channel|>analysis to=functions.list code<|message|>{}<|call|>",
    reasoning: "",
  },
  {
    what: "two blocks",
    given: "<think>a</think>\n<reflection>b</reflection>\nc",
    text: "c",
    reasoning: "a\n\nb",
  },
  {
    what: "an element of XML that happens to be named like reasoning",
    given: 'See: <report><analysis by="me">fine</analysis></report>.',
    text: 'See: <report><analysis by="me">fine</analysis></report>.',
    reasoning: "",
  },
];

for (const { what, given, text, reasoning } of answers) {
  Deno.test(`the marks around an answer are no part of it: ${what}`, () => {
    for (let place = 0; place <= given.length; place++) {
      assert.deepEqual(split([given.slice(0, place), given.slice(place)]), { text, reasoning }, given.slice(0, place));
    }
    assert.deepEqual(split([...given]), { text, reasoning });
  });
}

Deno.test("tags are text where the server separates reasoning itself", () => {
  assert.deepEqual(split(["<think>a</think>"], true), { text: "<think>a</think>", reasoning: "" });
});

Deno.test("text without tags comes through unchanged, however it is cut", () => {
  fc.assert(fc.property(fc.array(fc.string().filter((text) => !text.includes("<"))), (pieces) => {
    assert.deepEqual(split(pieces), { text: pieces.join(""), reasoning: "" });
  }));
});

Deno.test("the cuts never change what comes out", () => {
  const words = fc.array(
    fc.constantFrom(
      ...REASONING_MARKS.flat(),
      ..."<|START_RESPONSE|> <|END_RESPONSE|> <|channel|> final <|message|> <|return|> to= <analysis".split(" "),
      ...["<", ">", "think", " ", "\n", "a", "`", "```", "</", "|", '"', "Here"],
    ),
    { maxLength: 12, size: "max" },
  );
  fc.assert(
    fc.property(words, fc.nat(), fc.nat(), (parts, first, second) => {
      const whole = parts.join("");
      const [a = 0, b = 0] = [first % (whole.length + 1), second % (whole.length + 1)].sort((x, y) => x - y);
      assert.deepEqual(split([whole.slice(0, a), whole.slice(a, b), whole.slice(b)]), split([whole]));
      assert.deepEqual(split([...whole]), split([whole]));
    }),
    { numRuns: 1000 },
  );
});
