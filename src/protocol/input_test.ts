import assert from "node:assert/strict";
import * as property from "../../tests/property.ts";
import { readInputLine } from "./input.ts";

const read = (value: unknown) => readInputLine(JSON.stringify(value));

Deno.test("user messages come as text, whole or in blocks", () => {
  assert.deepEqual(read({ type: "user", message: { role: "user", content: "hi" }, session_id: "" }), {
    kind: "user",
    text: "hi",
  });
  const blocks = [{ type: "text", text: "a" }, { type: "document", source: {} }, { type: "text", text: "b" }];
  assert.deepEqual(read({ type: "user", message: { content: blocks } }), {
    kind: "user",
    text: "a\n[document left out]\nb",
  });
});

Deno.test("images of a message are its data, or a source that is not taken", () => {
  const image = (source: unknown) => ({ type: "image", source });
  const content = [
    image({ type: "base64", media_type: "image/png", data: "AAAA" }),
    { type: "text", text: "a" },
    image({ type: "url", url: "http://127.0.0.1/a.png" }),
    image({ type: "base64", data: 5 }),
    image(null),
  ];
  const other = { source: "other" };
  assert.deepEqual(read({ type: "user", message: { content } }), {
    kind: "user",
    text: "a",
    images: [{ data: "AAAA" }, other, other, other],
  });
});

Deno.test("control requests keep all their fields", () => {
  const request = { subtype: "set_model", model: "x", extra: 1 };
  assert.deepEqual(read({ type: "control_request", request_id: "1", request }), {
    kind: "control_request",
    id: "1",
    subtype: "set_model",
    fields: request,
  });
});

Deno.test("answers are responses or errors", () => {
  assert.deepEqual(
    read({ type: "control_response", response: { subtype: "success", request_id: "1", response: { a: 1 } } }),
    { kind: "control_response", id: "1", outcome: { response: { a: 1 } } },
  );
  assert.deepEqual(read({ type: "control_response", response: { subtype: "error", request_id: "1", error: "no" } }), {
    kind: "control_response",
    id: "1",
    outcome: { error: "no" },
  });
});

Deno.test("no line throws, and a broken one is not quoted", () => {
  for (
    const line of ["{", "[]", "1", '"x"', '{"type":"secret-thing"}', '{"type":"user"}', '{"type":"user","message":5}']
  ) {
    const message = readInputLine(line);
    assert.equal(message.kind, "broken", line);
    assert.ok(message.kind === "broken" && !message.problem.includes("secret"));
  }
  property.assert(property.property(property.string(), (line) => void readInputLine(line)));
  property.assert(property.property(property.jsonValue(), (value) => void read(value)));
});
