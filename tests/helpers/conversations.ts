/** Random conversations, with texts that are hard to store. */
import { IMAGE_TYPES } from "../../src/provider/chat/content.ts";
import type { SessionItem } from "../../src/session/item.ts";
import * as fc from "../property.ts";

const hostile = fc.oneof(
  fc.string({ unit: fc.codePoint }),
  fc.constantFrom("\u2028", "\u2029", "\0", "\ud800", "\udfff x", "\r\n", "\n{}\n", "\ufeffx", '"},\n', "__proto__"),
  // Any sequence of UTF-16 units, lone surrogates too.
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const input = fc.dictionary(hostile, fc.jsonValue(), { maxKeys: 3 }).map((value): Record<string, unknown> => {
  // As the engine has it: arguments come out of JSON.
  const parsed: unknown = JSON.parse(JSON.stringify(value));
  return isRecord(parsed) ? parsed : {};
});

const images = fc.array(
  fc.record({
    mediaType: fc.constantFrom(...IMAGE_TYPES),
    data: fc.base64String(),
    width: fc.integer({ min: 1, max: 8000 }),
    height: fc.integer({ min: 1, max: 8000 }),
    name: hostile,
  }),
  { maxLength: 2 },
).map((list) => list.length === 0 ? {} : { images: list.map((image) => ({ ...image })) });

/** Turns of a conversation as the engine makes them: every call has its result, whatever the texts hold. */
export const conversation: fc.Arbitrary<SessionItem[]> = fc.array(
  fc.oneof(
    fc.record({ text: hostile, images, origin: fc.constantFrom(undefined, "engine" as const, "summary" as const) })
      .map(({ text, images, origin }): SessionItem[] => [
        { kind: "user", text, label: "open", ...images, ...(origin === undefined ? { said: 1 } : { origin }) },
      ]),
    fc.record({
      text: hostile,
      reasoning: hostile,
      id: fc.uuid(),
      calls: fc.array(
        fc.record({
          id: fc.uuid(),
          name: hostile,
          input: fc.option(input),
          problem: fc.option(hostile),
          content: hostile,
          isError: fc.boolean(),
          images,
        }),
        { maxLength: 3 },
      ),
    }).map(({ text, reasoning, id, calls }): SessionItem[] => [
      {
        kind: "assistant",
        id,
        text,
        reasoning,
        label: "open",
        calls: calls.map((call) => ({
          id: call.id,
          name: call.name,
          input: call.input,
          ...(call.problem === null ? {} : { problem: call.problem }),
        })),
      },
      ...calls.map((call): SessionItem => ({
        kind: "tool_result",
        callId: call.id,
        name: call.name,
        content: call.content,
        isError: call.isError,
        label: "open",
        ...call.images,
      })),
    ]),
  ),
  { maxLength: 6 },
).map((parts) => parts.flat());
