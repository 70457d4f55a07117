import assert from "node:assert/strict";
import {
  CALL_MARKS,
  FORMS,
  QUOTATIONS,
  REASONING_MARKS,
  SAMPLE_TOOLS,
  type SampleCall,
  TAGGED_FORMS,
  toldAs,
} from "../../../tests/helpers/text_calls.ts";
import * as fc from "../../../tests/property.ts";

import { createHoldback } from "./holdback.ts";
import { recoverCalls } from "./recover.ts";

/** Everything the recovery looks at, and what stands around it. */
const FRAGMENTS = [
  ...CALL_MARKS,
  ...REASONING_MARKS.flat(),
  ...[
    "`",
    "```",
    "```json\n",
    "~~~",
    "\n",
    "\n\n",
    " ",
    '"',
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    ";",
    "=",
  ],
  ...["<parameter=path>", '<parameter name="path">', "<arg_key>path</arg_key>", "<arg_value>", '<|"|>', ">", '">', "0"],
  ...[
    "list",
    "read_file",
    "functions.",
    ".call(",
    '"name"',
    '"arguments"',
    '{"name":"list","arguments":{}}',
    "{}",
    "list{}",
  ],
  ...["<｜tool▁sep｜>", "<|tool_call_argument_begin|>", "<|message|>", "[ARGS]", "é", "\ud800"],
];

const hostile = fc.oneof(
  fc.string({ unit: fc.codePoint, maxLength: 200, size: "max" }),
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 40, size: "max" }).map((parts) => parts.join("")),
);

/** Strings that a family can write: tags have no escapes, and a carriage return before the newline is cut with it. */
function contentFor(family: string): fc.Arbitrary<string> {
  const content = fc.oneof(fc.string({ unit: fc.codePoint }), hostile);
  if (toldAs(family) === "gemma") return content.filter((text) => !/<\|"\|>|<escape>/.test(text));
  if (family === "minicpm_cdata") return content.filter((text) => !text.includes("]]>"));
  if (!TAGGED_FORMS.includes(family)) return content;
  return content.filter((text) => !/param|arg_|<\/?(?:function|invoke|path|content)|\r$|^\]<|\]$/.test(text));
}

function callsFor(family: string): fc.Arbitrary<SampleCall[]> {
  return callsWith(contentFor(family));
}

/** Values without marks, which would end a quotation or a thought before its end. */
const HARMLESS = fc.string({ unit: fc.constantFrom(...`aé "'{}[](),:;=0.-_\\/#*`), maxLength: 30 });

function callsWith(content: fc.Arbitrary<string>): fc.Arbitrary<SampleCall[]> {
  return fc.array(
    fc.oneof(
      fc.record({ name: fc.constant("list"), input: fc.constant({}) }),
      fc.record({ name: fc.constant("read_file"), input: fc.record({ path: content, limit: fc.integer() }) }),
      fc.record({
        name: fc.constant("write_file"),
        input: fc.record({ path: content, content, overwrite: fc.boolean() }),
      }),
    ),
    { minLength: 1, maxLength: 3 },
  );
}

/** Pieces of `text` cut at places that `sizes` give in turn. */
function piecesOf(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 });

Deno.test("recovery never throws and never gives an undeclared tool", () => {
  const declared = SAMPLE_TOOLS.map((tool) => tool.function.name);
  fc.assert(
    fc.property(hostile, (text) => {
      const found = recoverCalls(text, SAMPLE_TOOLS);
      if (found === null) return;
      assert.ok(found.calls.length > 0);
      assert.ok(found.calls.every((call) => declared.includes(call.name)));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("a value that stands between tags as it is comes back as it is, with its last newline", () => {
  const value = fc.oneof(fc.string({ unit: fc.codePoint }), hostile, fc.string().map((text) => `${text}\n`))
    .filter((text) => !/parameter|arg_|<\/function|<\/invoke|^\r?\n/.test(text));
  fc.assert(
    fc.property(value, (text) => {
      const forms = [
        `<function=write_file><parameter=content>${text}</parameter></function>`,
        `<tool_call>write_file<arg_key>content</arg_key><arg_value>${text}</arg_value></tool_call>`,
        `<invoke name="write_file"><parameter name="content">${text}</parameter></invoke>`,
      ];
      for (const form of forms) assert.equal(recoverCalls(form, SAMPLE_TOOLS)?.calls[0]?.input.content, text);
    }),
    { numRuns: 300 },
  );
});

for (const [family, form] of Object.entries(FORMS)) {
  Deno.test(`${family}: what is written is recovered exactly, whatever the values are`, () => {
    fc.assert(
      fc.property(callsFor(family), (calls) => {
        assert.deepEqual(
          plain(recoverCalls(form(calls), SAMPLE_TOOLS)),
          plain({ calls, rest: "", family: toldAs(family) }),
        );
      }),
      { numRuns: 60 },
    );
  });

  Deno.test(`${family}: what was shown while streaming is the beginning of the rest`, () => {
    fc.assert(
      fc.property(callsFor(family), sizes, (calls, cuts) => {
        const text = `Now <this>:\n\n${form(calls)}\nThen.`;
        const holdback = createHoldback(true);
        const shown = piecesOf(text, cuts).map((piece) => holdback.push(piece)).join("");
        assert.equal(shown, "Now <this>:\n\n");
        assert.ok(recoverCalls(text, SAMPLE_TOOLS)?.rest.startsWith(shown.trimEnd()));
      }),
      { numRuns: 30 },
    );
  });

  Deno.test(`${family}: nothing that is only shown or thought runs, whatever the values are`, () => {
    const harmless = callsWith(HARMLESS);
    fc.assert(
      fc.property(harmless, fc.constantFrom(...Object.entries(QUOTATIONS)), (calls, [, quote]) => {
        assert.equal(recoverCalls(quote(form(calls)), SAMPLE_TOOLS), null);
      }),
      { numRuns: 60 },
    );
    fc.assert(
      fc.property(harmless, fc.constantFrom(...REASONING_MARKS), (calls, [open, close]) => {
        assert.equal(recoverCalls(`${open}\n${form(calls)}\n${close}\nNo.`, SAMPLE_TOOLS), null);
      }),
      { numRuns: 60 },
    );
  });

  Deno.test(`${family}: a cut never changes a call, whatever the values are`, () => {
    fc.assert(
      fc.property(callsFor(family), fc.double({ min: 0, max: 1, noNaN: true }), (calls, part) => {
        const text = form(calls);
        const found = recoverCalls(text.slice(0, Math.floor(text.length * part)), SAMPLE_TOOLS)?.calls ?? [];
        assert.deepEqual(plain(found), plain(calls.slice(0, found.length)));
      }),
      { numRuns: 60 },
    );
  });
}

Deno.test("what the holdback lets through and what it held are the text", () => {
  fc.assert(
    fc.property(hostile, sizes, fc.boolean(), (text, cuts, enabled) => {
      const holdback = createHoldback(enabled);
      const shown = piecesOf(text, cuts).map((piece) => holdback.push(piece)).join("");
      assert.equal(holdback.deferring, shown.length < text.length);
      assert.equal(shown + holdback.end(), text);
    }),
    { numRuns: 2000 },
  );
});

/** Generated records have no prototype; as JSON they compare with parsed ones. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
