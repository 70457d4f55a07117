import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { type ChunkSink, readChunk } from "./chunk.ts";
import { EventDecoder } from "./events.ts";
import { RepeatedChunk } from "./repeated_chunk.ts";

/** A sink that writes down what it is handed. */
function noting(): ChunkSink & { noted: string[] } {
  const noted: string[] = [];
  const note = (kind: string) => (...parts: unknown[]) => void noted.push(`${kind} ${JSON.stringify(parts)}`);
  return {
    noted,
    content: note("content"),
    reasoning: note("reasoning"),
    toolCall: note("tool call"),
    finish: note("finish"),
    usage: note("usage"),
    model: note("model"),
    progress: note("progress"),
    error: note("error"),
  };
}

function reading(lines: readonly string[], repeated: RepeatedChunk | null): { noted: string[]; unparsed: number } {
  const sink = noting();
  let unparsed = 0;
  const events = new EventDecoder({
    value: (value, event) => readChunk(value, { event, sink }),
    done: () => void sink.noted.push("done"),
    junk: (text) => void sink.noted.push(`junk ${text}`),
  });
  for (const line of lines) {
    const { idle } = events;
    if (idle && repeated?.read(line, sink)) {
      unparsed++;
      continue;
    }
    events.line(line);
    if (idle) repeated?.learn(line);
  }
  return { noted: sink.noted, unparsed };
}

const delta = (fields: Record<string, unknown>) => ({ choices: [{ index: 0, delta: fields, finish_reason: null }] });

/** Chunks of servers by the text in them. */
const SHAPES: readonly ((text: string) => string)[] = [
  (text) => `data: ${JSON.stringify({ id: "c", model: "the", ...delta({ content: text }) })}`,
  (text) => `data: ${JSON.stringify({ id: "c", ...delta({ reasoning_content: text }) })}`,
  (text) => `data:${JSON.stringify({ ...delta({ content: text }), created: 1 }).replaceAll(":", ": ")}`,
  (text) => JSON.stringify({ choices: [{ index: 0, text }] }),
  (text) => `data: ${JSON.stringify({ ...delta({ content: "same" }), name: text })}`,
  (text) => `data: ${JSON.stringify({ ...delta({ content: text }), logprobs: [{ token: text }] })}`,
  (text) =>
    `data: ${JSON.stringify({ ...delta({ content: text }), usage: { prompt_tokens: 1, completion_tokens: 2 } })}`,
  (text) => `data: ${JSON.stringify(delta({ tool_calls: [{ index: 0, function: { arguments: text } }] }))}`,
  (text) => `data: {"choices":[{"delta":{"content":"${text.replaceAll(/["\\]/g, "")}","content":"last"}}]}`,
  (text) => `data: ${JSON.stringify({ error: { message: text } })}`,
  (text) => `data: ${text}`,
];

const piece = fc.oneof(
  fc.constantFrom(
    "the",
    "the ",
    "c",
    " a",
    "\n",
    '"',
    "\\",
    '"}',
    "same",
    "",
    "\u20ac",
    "\u2028",
    "longer than twelve",
  ),
  fc.string({ unit: "binary", maxLength: 6 }),
);

Deno.test("what is told without parsing is what parsing gives, for any order of chunks of any kind", () => {
  const shape = fc.integer({ min: 0, max: SHAPES.length - 1 });
  const run = fc.tuple(shape, fc.array(piece, { minLength: 1, maxLength: 24 }));
  fc.assert(
    fc.property(fc.array(run, { maxLength: 8 }), (runs) => {
      const lines = runs.flatMap(([at, texts]) => texts.map((text) => SHAPES[at]?.(text) ?? "")).filter((line) =>
        !/[\n\r]/.test(line)
      );
      assert.deepEqual(reading(lines, new RepeatedChunk()).noted, reading(lines, null).noted);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("of a usual stream next to nothing is parsed", () => {
  for (const shape of SHAPES.slice(0, 4)) {
    const lines = Array.from({ length: 1000 }, (_, at) => shape(at % 50 === 7 ? '"\n' : `word${at} `));
    assert(reading(lines, new RepeatedChunk()).unparsed > 950);
  }
});

Deno.test("a stream in which every line differs in two places is parsed as before", () => {
  const lines = Array.from({ length: 100 }, (_, at) => SHAPES[5]?.(`word${at}`) ?? "");
  assert.equal(reading(lines, new RepeatedChunk()).unparsed, 0);
});
