import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { clean } from "./clean.ts";

Deno.test("plain text, accents, CJK and emoji pass unchanged", () => {
  for (const text of ["", "qwen3:8b", "naïve — ünïcode", "模型", "👩‍💻 ok"]) assert.equal(clean(text), text);
});

Deno.test("escape sequences lose their start and become visible", () => {
  assert.equal(clean("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  assert.equal(clean("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  assert.equal(clean("\u009b31m\u009d"), "\\x9b31m\\x9d");
});

Deno.test("signs that turn or hide text become visible", () => {
  assert.equal(clean("a\u202eb\u2066c\u200bd\ufeff"), "a\\u{202e}b\\u{2066}c\\u{200b}d\\u{feff}");
  assert.equal(clean("\u{e0041}"), "\\u{e0041}");
});

Deno.test("line feeds and tabs stay only where several lines are wanted", () => {
  assert.equal(clean("a\tb\nc\r\nd\re", { multiline: true }), "a\tb\nc\nd\\re");
  assert.equal(clean("a\tb\nc\r\n"), "a\\tb\\nc\\r\\n");
});

Deno.test("whatever comes in, no control character goes out", () => {
  fc.assert(fc.property(fc.string({ unit: fc.codePoint }), (text) => {
    // deno-lint-ignore no-control-regex -- this is what is looked for
    assert.doesNotMatch(clean(text), /[\x00-\x1f\x7f-\x9f\u202a-\u202e]/);
    // deno-lint-ignore no-control-regex -- this is what is looked for
    assert.doesNotMatch(clean(text, { multiline: true }), /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
    assert.equal(clean(clean(text)), clean(text));
  }));
});
