import assert from "node:assert/strict";
import { REASONING_MARKS } from "../../../tests/helpers/text_calls.ts";
import * as fc from "../../../tests/property.ts";
import { ProviderFailure } from "../failure.ts";
import { ResponseDecoder, type Verdict } from "./response_decoder.ts";
import type { ChatDelta } from "../types.ts";
import fixtures from "../../../tests/fixtures/wire/wire-stream.json" with { type: "json" };

interface Outcome {
  verdict: Verdict;
  partial: { text: string; reasoning: string };
  deltas: ChatDelta[];
}

/** Feeds the pieces as separate reads. */
async function read(pieces: readonly Uint8Array[], contentType = "text/event-stream"): Promise<Outcome> {
  const decoder = new ResponseDecoder({ whole: contentType.startsWith("application/json") });
  const deltas: ChatDelta[] = [];
  for (const piece of pieces) {
    decoder.feed(piece);
    deltas.push(...decoder.takeDeltas());
    if (decoder.done) break;
  }
  decoder.end();
  deltas.push(...decoder.takeDeltas());
  return { verdict: await decoder.verdict(), partial: decoder.partial(), deltas };
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function cutAt(body: Uint8Array, places: readonly number[]): Uint8Array[] {
  const edges = [0, ...[...places].sort((a, b) => a - b), body.length];
  return edges.slice(1).map((end, index) => body.subarray(edges[index] ?? 0, end));
}

type Fixture = (typeof fixtures)[number];

function check(fixture: Fixture, outcome: Outcome): void {
  const { want } = fixture;
  const { verdict, partial } = outcome;
  assert.equal(partial.text, want.text);
  assert.equal(partial.reasoning, want.reasoning);
  if (want.error !== null) {
    assert(verdict.kind === "error", verdict.kind);
    assert.equal(verdict.error.message, want.error.message);
    if ("code" in want.error) assert.equal(verdict.error.code, want.error.code);
    return;
  }
  if (fixture.name === "empty-200") return assert.equal(verdict.kind, "empty");
  if (!want.complete) return assert.equal(verdict.kind, "cut");
  assert(verdict.kind === "complete", verdict.kind);
  const { reply } = verdict;
  assert.equal(reply.finish, want.finish);
  assert.deepEqual(
    reply.calls.map(({ id, name, input }, index) => ({ id: id || `call_${index}`, name, input })),
    want.calls.map(({ id, name, args }) => ({ id, name, input: args })),
  );
  assert.equal(reply.usage?.promptTokens, want.usage?.prompt_tokens);
  assert.equal(reply.usage?.completionTokens, want.usage?.completion_tokens);
}

for (const fixture of fixtures) {
  Deno.test(`${fixture.name}: read whole, cut in two at every byte, and byte by byte, it gives the same reply`, async () => {
    const body = bytes(fixture.body);
    check(fixture, await read([body], fixture.contentType));
    for (let place = 1; place < body.length; place++) {
      check(fixture, await read(cutAt(body, [place]), fixture.contentType));
    }
    check(fixture, await read([...body].map((byte) => Uint8Array.of(byte)), fixture.contentType));
  });

  Deno.test(`${fixture.name}: with CRLF and with CR line ends, cut at every byte, it gives the same reply`, async () => {
    if (fixture.contentType !== "text/event-stream") return;
    for (const lineEnd of ["\r\n", "\r"]) {
      const body = bytes(fixture.body.replace(/\r?\n/g, lineEnd));
      for (let place = 0; place < body.length; place++) {
        check(fixture, await read(cutAt(body, [place]), fixture.contentType));
      }
    }
  });
}

const chunk = (delta: unknown, finish: string | null = null) =>
  JSON.stringify({ model: "m", choices: [{ index: 0, delta, finish_reason: finish }] });

async function textOf(body: string, contentType?: string): Promise<string> {
  const { verdict } = await read([bytes(body)], contentType);
  assert(verdict.kind === "complete", verdict.kind);
  return verdict.reply.text;
}

Deno.test("reasoning between marks in the text is no text, wherever the body of the stream is cut", async () => {
  for (const [open, close] of REASONING_MARKS) {
    const pieces = [open, "\nwhy", " not\n", close, "\n\nbecause", "."];
    const chunks = pieces.map((content) => ({ choices: [{ index: 0, delta: { content } }] }));
    const last = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    const body = bytes([...chunks, last].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
    for (let place = 0; place < body.length; place++) {
      const { partial } = await read(cutAt(body, [place]));
      assert.deepEqual(partial, { text: "because.", reasoning: "why not" }, `${open} cut at ${place}`);
    }
    const { partial } = await read([...body].map((byte) => Uint8Array.of(byte)));
    assert.deepEqual(partial, { text: "because.", reasoning: "why not" }, open);
  }
});

Deno.test("the one choice of a reply counts under any index, and of several the first", async () => {
  const at = (index: number, content: string, finish: string | null = null) =>
    JSON.stringify({ choices: [{ index, delta: { content }, finish_reason: finish }] });
  assert.equal(await textOf(`data: ${at(1, "a")}\n\ndata: ${at(1, "b", "stop")}\n\n`), "ab");
  const several = [at(0, "a"), at(1, "x"), at(0, "b"), at(1, "y", "stop"), at(0, "c", "stop")];
  assert.equal(await textOf(several.map((each) => `data: ${each}\n\n`).join("")), "abc");
  const whole = { choices: [{ index: 1, message: { content: "a" }, finish_reason: "stop" }] };
  assert.equal(await textOf(JSON.stringify(whole), "application/json"), "a");
});

Deno.test("an answer does not begin with blank lines, in no piece of it", async () => {
  const cases: [pieces: Record<string, string>[], text: string][] = [
    [[{ content: "\n\nHello\n\nyou" }], "Hello\n\nyou"],
    [[{ reasoning_content: "why" }, { content: "\n" }, { content: " \r\n\n" }, { content: "Hello" }], "Hello"],
    [[{ content: "\n" }, { content: "  " }, { content: "  - indented\n" }], "    - indented\n"],
    [[{ content: " one" }, { content: "\n\ntwo" }], " one\n\ntwo"],
    [[{ content: "<think>why</think>" }, { content: "\n\n" }, { content: "Hello" }], "Hello"],
    [[{ content: "\nwhy\n" }, { content: "</think>\n\nHello" }], "Hello"],
    [[{ content: "\n \n" }], ""],
  ];
  for (const [pieces, text] of cases) {
    const stream = [...pieces.map((piece) => chunk(piece)), chunk({}, "stop")].map((each) => `data: ${each}\n\n`);
    const { verdict, deltas } = await read(stream.map(bytes));
    assert(verdict.kind === "complete");
    assert.equal(verdict.reply.text, text);
    const shown = deltas.flatMap((delta) => delta.kind === "text" ? [delta.text] : []);
    if (!pieces.some((piece) => piece.content?.includes("</think>"))) assert.equal(shown.join(""), text);
    assert.doesNotMatch(shown.join(""), /^\s*\n/);
  }
});

Deno.test("events that end in a single line end are separated", async () => {
  assert.equal(await textOf(`data: ${chunk({ content: "a" })}\ndata: ${chunk({ content: "b" }, "stop")}\n`), "ab");
});

Deno.test("the last line counts without its line end", async () => {
  assert.equal(await textOf(`data: ${chunk({ content: "a" })}\n\ndata: [DONE]`), "a");
});

Deno.test("[DONE] without its line end ends the reply before the connection does", () => {
  const decoder = new ResponseDecoder({ whole: false });
  decoder.feed(bytes(`data: ${chunk({ content: "a" })}\n\ndata: [DONE]`));
  assert.equal(decoder.done, true);
});

Deno.test("JSON lines without data: are read", async () => {
  assert.equal(await textOf(`${chunk({ content: "a" })}\n${chunk({ content: "b" }, "stop")}\n`), "ab");
});

Deno.test("a stream that is called JSON is read as a stream", async () => {
  const body = `data: ${chunk({ content: "a" })}\n\ndata: ${chunk({ content: "b" }, "stop")}\n\n`;
  assert.equal(await textOf(body, "application/json"), "ab");
});

Deno.test("a document with blank lines before it and line breaks in it is read", async () => {
  const document = JSON.stringify({ choices: [{ message: { content: "a" }, finish_reason: "stop" }] }, null, 2);
  assert.equal(await textOf(`\n\n${document}\n`, "application/json"), "a");
  assert.equal(await textOf(`\n\n${document}\n`, "text/plain"), "a");
});

Deno.test("JSON over several data lines is one value", async () => {
  const document = JSON.stringify(JSON.parse(chunk({ content: "a" }, "stop")), null, 1);
  assert.equal(await textOf(document.split("\n").map((line) => `data: ${line}\n`).join("") + "\n"), "a");
});

Deno.test("a damaged event does not swallow the next one", async () => {
  assert.equal(await textOf(`data: {"choices":[{"del\ndata: ${chunk({ content: "b" }, "stop")}\n\n`), "b");
});

Deno.test("a page that is no reply is distinguished from a cut one", async () => {
  const page = await read([bytes("<html><body>hello</body></html>\n")], "text/html");
  assert.equal(page.verdict.kind, "foreign");
  const document = await read([bytes('{"choices":[{"message":{"cont')], "application/json");
  assert.equal(document.verdict.kind, "cut");
});

Deno.test("old servers' error field and errors inside strings are errors", async () => {
  for (
    const body of [
      'error: {"code":500,"message":"slot is gone"}\n\n',
      `data: ${JSON.stringify({ error: JSON.stringify({ error: { message: "slot is gone" } }) })}\n\n`,
      'data: {"detail":[{"loc":["body","x"],"msg":"slot is gone","input":"SECRET"}]}\n\n',
    ]
  ) {
    const { verdict } = await read([bytes(body)]);
    assert(verdict.kind === "error", body);
    assert.match(verdict.error.message, /slot is gone/);
    assert.doesNotMatch(verdict.error.message, /SECRET/);
  }
});

Deno.test("a reply that was aborted by the server is a failure, also when it gives that as its reason to end", async () => {
  const { verdict } = await read([bytes(`data: ${chunk({ content: "a" }, "abort")}\n\ndata: [DONE]\n\n`)]);
  assert.equal(verdict.kind, "error");
});

Deno.test("every call of a reply that ran into the token limit is kept from running, and says why", async () => {
  const call = (index: number, args: string) => ({ index, id: `c${index}`, function: { name: "f", arguments: args } });
  const body = `data: ${chunk({ tool_calls: [call(0, '{"a":1}'), call(1, '{"a"')] }, "length")}\n\n`;
  const { verdict } = await read([bytes(body)]);
  assert(verdict.kind === "complete");
  for (const each of verdict.reply.calls) {
    assert.equal(each.input, null);
    assert.match(each.problem ?? "", /cut at the token limit/);
  }
});

Deno.test("one read gives at most one delta of a kind, and the deltas add up to the reply", async () => {
  const events = ["a", "b", "c"].map((text) => `data: ${chunk({ content: text, reasoning: text })}\n\n`).join("");
  const { deltas, verdict } = await read([bytes(events), bytes(`data: ${chunk({}, "stop")}\n\n`)]);
  assert.deepEqual(deltas, [{ kind: "reasoning", text: "abc" }, { kind: "text", text: "abc" }]);
  assert(verdict.kind === "complete" && verdict.reply.text === "abc");
});

Deno.test("progress of reading the prompt is handed on", async () => {
  const fixture = fixtures.find((each) => each.name === "llamacpp-progress");
  const { deltas } = await read([bytes(fixture?.body ?? "")]);
  assert.deepEqual(deltas[0], { kind: "prefill", processed: 512, total: 900 });
  const cached = (fixture?.body ?? "").replace('"cache":0', '"cache":300');
  assert.deepEqual((await read([bytes(cached)])).deltas[0], {
    ...{ kind: "prefill", processed: 512, total: 900, cached: 300 },
  });
});

Deno.test("tokens that the server read from its cache are counted", async () => {
  for (
    const usage of [
      { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 4 } },
      { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4 },
    ]
  ) {
    const body = `data: ${chunk({ content: "a" }, "stop")}\n\ndata: ${JSON.stringify({ choices: [], usage })}\n\n`;
    const { verdict } = await read([bytes(body)]);
    assert(verdict.kind === "complete");
    assert.deepEqual(verdict.reply.usage, {
      promptTokens: 9,
      completionTokens: 1,
      cachedTokens: 4,
      cacheReported: true,
    });
  }
});

Deno.test("more than 64 Mi characters of answer are refused", () => {
  const decoder = new ResponseDecoder({ whole: false });
  const event = bytes(`data: ${chunk({ content: "x".repeat(8 * 1024 * 1024) })}\n\n`);
  const feed = () => {
    decoder.feed(event);
    decoder.takeDeltas();
  };
  for (let count = 0; count < 8; count++) feed();
  assert.throws(feed, (error: unknown) => error instanceof ProviderFailure && error.code === "invalid_reply");
});

Deno.test("a line over 16 MiB is refused", () => {
  const decoder = new ResponseDecoder({ whole: false });
  const block = new Uint8Array(1024 * 1024).fill(0x61);
  assert.throws(
    () => {
      for (let count = 0; count < 17; count++) decoder.feed(block);
    },
    (error: unknown) => error instanceof ProviderFailure && error.code === "invalid_reply",
  );
});

Deno.test("any cuts of any recorded body give what the whole gives", async () => {
  await fc.assert(fc.asyncProperty(
    fc.constantFrom(...fixtures),
    fc.array(fc.nat({ max: 4000 }), { maxLength: 20 }),
    async (fixture, places) => {
      const body = bytes(fixture.body);
      check(fixture, await read(cutAt(body, places.map((place) => place % (body.length + 1))), fixture.contentType));
    },
  ));
});

Deno.test("a damaged body ends in a verdict or in a failure of ours", async () => {
  await fc.assert(fc.asyncProperty(
    fc.constantFrom(...fixtures),
    fc.array(fc.record({ place: fc.nat(), byte: fc.nat({ max: 255 }) }), { minLength: 1, maxLength: 30 }),
    fc.nat(),
    async (fixture, damage, end) => {
      const body = bytes(fixture.body).slice(0, 1 + end % Math.max(1, fixture.body.length));
      for (const { place, byte } of damage) body[place % body.length] = byte;
      try {
        const { verdict } = await read(cutAt(body, [body.length >> 1]), fixture.contentType);
        assert(["complete", "error", "cut", "empty", "foreign"].includes(verdict.kind));
      } catch (error) {
        assert(error instanceof ProviderFailure, String(error));
      }
    },
  ));
});

Deno.test("any JSON in an event ends in a verdict", async () => {
  await fc.assert(fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (value, inner) => {
    const body = [value, { choices: [{ delta: inner, finish_reason: inner }] }, { choices: inner, usage: value }, {
      error: inner,
    }, {
      choices: [{ delta: { tool_calls: [value, { function: inner }, { index: 0, function: { arguments: value } }] } }],
    }]
      .map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
    const { verdict } = await read([bytes(body)]);
    assert(["complete", "error", "cut", "empty", "foreign"].includes(verdict.kind));
  }));
});
