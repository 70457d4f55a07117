import { jpegFile, pngFile, webpFile } from "../../../tests/helpers/images.ts";
import { imageTokens, oneCallEach } from "./content.ts";
import { IMAGE_BYTES, LONGEST_SIDE, readEncodedImage, readImage } from "./image_file.ts";
import type { WireMessage, WireToolCall } from "../types.ts";
import assert from "node:assert/strict";

const size = { width: 640, height: 481 };
const name = "a.txt";

function problem(bytes: Uint8Array, whole?: number): string {
  const read = readImage(bytes, { name, ...(whole === undefined ? {} : { size: whole }) });
  assert.equal(read.kind, "unusable");
  return read.kind === "unusable" ? read.problem : "";
}

Deno.test("type and size of an image are what its bytes say, whatever it is called", () => {
  const files: [string, Uint8Array][] = [
    ["image/png", pngFile(size)],
    ["image/jpeg", jpegFile(size)],
    ["image/jpeg", jpegFile({ ...size, comment: "x".repeat(60_000) })],
    ["image/webp", webpFile("VP8 ", size)],
    ["image/webp", webpFile("VP8L", size)],
    ["image/webp", webpFile("VP8X", size)],
  ];
  for (const [mediaType, bytes] of files) {
    const read = readImage(bytes, { name });
    assert.equal(read.kind, "image", mediaType);
    if (read.kind !== "image") continue;
    assert.deepEqual(read.image, { mediaType, data: bytes.toBase64(), ...size, name });
    assert.deepEqual(readEncodedImage(bytes.toBase64(), { name }), read);
  }
});

Deno.test("what does not begin like an image is none", () => {
  for (const bytes of [new Uint8Array(), new TextEncoder().encode("PNG"), new Uint8Array(100)]) {
    assert.deepEqual(readImage(bytes, { name }), { kind: "other" });
  }
});

Deno.test("GIF, damaged headers, files too long and sides too long are said to be so", () => {
  assert.match(problem(new TextEncoder().encode("GIF89a.......")), /take no GIF/);
  for (const bytes of [pngFile(size), jpegFile(size), webpFile("VP8 ", size)]) {
    assert.match(problem(bytes.subarray(0, 16)), /header is damaged/);
    assert.match(problem(bytes, IMAGE_BYTES + 1), /larger than 5 MiB/);
    assert.equal(readImage(bytes, { name, size: IMAGE_BYTES }).kind, "image");
  }
  assert.match(problem(pngFile({ width: 0, height: 5 })), /damaged/);
  assert.match(problem(pngFile({ width: LONGEST_SIDE + 1, height: 5 })), /8001x5 pixels: make each side 8000 or less/);
  assert.match(problem(pngFile({ width: 60_000, height: 60_000 })), /60000x60000/);
  assert.match(JSON.stringify(readEncodedImage("no base64!", { name })), /no base64/);
});

Deno.test("a JPEG cut at any byte is an image with its size, or damaged, and reading it ends", () => {
  const whole = jpegFile(size);
  for (let end = 3; end < whole.length; end++) {
    const read = readImage(whole.subarray(0, end), { name });
    if (read.kind === "image") assert.deepEqual([read.image.width, read.image.height], [640, 481]);
    else assert.equal(read.kind, "unusable");
  }
});

Deno.test("tokens follow the pixels, between 256 and 4,096", () => {
  assert.equal(imageTokens({ width: 1, height: 1 }), 256);
  assert.equal(imageTokens({ width: 1120, height: 840 }), 40 * 30);
  assert.equal(imageTokens({ width: 8000, height: 8000 }), 4096);
});

function call(id: string): WireToolCall {
  return { id, type: "function", function: { name: "Read", arguments: "{}" } };
}

function result(id: string): WireMessage {
  return { role: "tool", tool_call_id: id, name: "Read", content: `content ${id}` };
}

const messages: WireMessage[] = [
  { role: "system", content: "s" },
  { role: "user", content: "hi" },
  { role: "assistant", content: "I look.", reasoning_content: "hm", tool_calls: [call("a"), call("b"), call("c")] },
  result("a"),
  result("b"),
  result("c"),
  { role: "assistant", content: "", tool_calls: [call("d")] },
  result("d"),
  { role: "assistant", content: "done" },
  { role: "user", content: "more" },
];

Deno.test("each call stands in a message of its own with its result after it, words and reasoning with the first", () => {
  assert.deepEqual(oneCallEach(messages), [
    ...messages.slice(0, 2),
    { role: "assistant", content: "I look.", reasoning_content: "hm", tool_calls: [call("a")] },
    result("a"),
    { role: "assistant", content: "", tool_calls: [call("b")] },
    result("b"),
    { role: "assistant", content: "", tool_calls: [call("c")] },
    result("c"),
    ...messages.slice(6),
  ]);
});

Deno.test("a longer history begins with the same messages, and a message is split once", () => {
  const whole = oneCallEach(messages);
  for (const end of [2, 6, 8, 9]) {
    const part = oneCallEach(messages.slice(0, end));
    part.forEach((message, at) => assert.equal(message, whole[at], `message ${at} of ${end}`));
  }
});
