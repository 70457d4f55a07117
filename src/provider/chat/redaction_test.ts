import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { withoutEcho } from "./shown_message.ts";

const PROMPT = 'The launch "code" is\n8412-ALPHA,\tkeep it: C:\\new\\table, schön & gut';

Deno.test("a text that is echoed in any writing is not shown", () => {
  const python = (text: string) =>
    JSON.stringify(text).replace(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  const forms = [
    PROMPT,
    JSON.stringify(PROMPT),
    JSON.stringify(JSON.stringify(PROMPT)),
    python(PROMPT),
    python(python(PROMPT)),
    PROMPT.replaceAll("\n", "\\n").replaceAll('"', "'"),
    PROMPT.replaceAll(" ", "  ").toUpperCase(),
    PROMPT.replaceAll("&", "&amp;").replaceAll('"', "&quot;"),
    PROMPT.slice(4, 34),
  ];
  for (const form of forms) {
    const shown = withoutEcho(`bad input: ${form}`, [PROMPT]);
    assert.doesNotMatch(shown, /8412|alpha|launch|table|sch/i, shown);
    assert.match(shown, /^bad input: .{0,6}…/);
  }
});

Deno.test("a message that holds the request reversed or encoded is not shown", () => {
  const bytes = new TextEncoder().encode(PROMPT);
  const base64 = btoa(String.fromCharCode(...bytes));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0"));
  const forms = {
    reversed: [...PROMPT].reverse().join(""),
    base64,
    "base64 in the middle": base64.slice(9, 60),
    "base64 for URLs": base64.replaceAll("+", "-").replaceAll("/", "_"),
    hex: hex.join(""),
    "hex with spaces": hex.join(" "),
    percent: hex.map((pair) => `%${pair}`).join(""),
  };
  for (const [name, form] of Object.entries(forms)) {
    assert.equal(withoutEcho(`bad input: ${form}, sorry`, [PROMPT]), "…", name);
  }
  const foreign = btoa("something else altogether, of the server itself");
  assert.equal(withoutEcho(`request id ${foreign}`, [PROMPT]), `request id ${foreign}`);
});

Deno.test("letters whose case changes with their place or length are found", () => {
  for (const text of ["ΟΔΥΣΣΕΥΣ ΠΡΟΣ ΙΘΑΚΗΣ", "İSTANBUL İZMİR İÇİN"]) {
    assert.equal(withoutEcho(`bad: ${text}.`, [text.toLowerCase()]), "bad: ….");
    assert.equal(withoutEcho(`bad: ${text.toLowerCase()}.`, [text]), "bad: ….");
  }
});

Deno.test("a request that comes back as JSON goes as a whole", () => {
  const request = { model: "m", messages: [{ role: "user", content: PROMPT }, { role: "user", content: "pin 77" }] };
  assert.equal(withoutEcho(`bad request: ${JSON.stringify(request, null, 1)}`, [PROMPT, "pin 77"]), "bad request: …");
  assert.equal(withoutEcho(`bad request: [{'role': 'user', 'content': '${PROMPT}'}]`, [PROMPT]), "bad request: …");
});

Deno.test("words of the server's own stay", () => {
  for (const message of ["the model is not loaded", 'unknown field {"top_k": 5}', "max_tokens must be at least 1"]) {
    assert.equal(withoutEcho(message, [PROMPT, "load the model"]), message);
  }
});

Deno.test("no piece of ten letters of the request is left, wherever it stood", () => {
  fc.assert(fc.property(
    fc.string({ minLength: 14, maxLength: 60 }),
    fc.string({ maxLength: 20 }),
    fc.string({ maxLength: 20 }),
    (text, before, after) => {
      const letters = (of: string) => of.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
      const wanted = letters(text);
      if (wanted.length < 10) return;
      assert.ok(!letters(withoutEcho(before + text + after, [text])).includes(wanted));
    },
  ));
});

Deno.test("a long conversation is searched in short time", { timeout: 60_000 }, () => {
  const texts = Array.from({ length: 50 }, (_, at) => `${at} ${"lorem ipsum \\ dolor & sit ".repeat(400)}`);
  withoutEcho("x".repeat(1000) + " lorem ipsum dolor".repeat(50), texts);
});

for (
  const dump of [
    "b'\\xa6\\x84\\x01a\\xff\\x00'",
    "[84, 79, 75, 69, 78, 61, 99, 97]",
    "\\124\\117\\113\\105\\116",
    "Uint8Array(8) [ 84, 79, 75, 69, 78, 61, 99, 97 ]",
  ]
) {
  Deno.test(`a dump of bytes is left out whatever it holds: ${dump}`, () => {
    const shown = withoutEcho(`cannot identify image file ${dump}`, []);
    assert.match(shown, /^cannot identify image file/);
    assert.doesNotMatch(shown, /xa6|84, 79|124/);
  });
}

Deno.test("a few numbers of a message are no dump", () => {
  const message = "context is 4096, 512, 128 and 64 tokens; error 500, try 1, 2, 3";
  assert.equal(withoutEcho(message, []), message);
});
