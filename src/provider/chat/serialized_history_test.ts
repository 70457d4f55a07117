import assert from "node:assert/strict";
import { joinBytes } from "../../../tests/helpers/fake_http.ts";
import * as fc from "../../../tests/property.ts";
import type { WireMessage } from "../types.ts";
import { SerializedHistory } from "./request.ts";

const HEAD = '{"messages":[';

function textOf(message: WireMessage): string {
  return JSON.stringify(message);
}

function whole(messages: readonly WireMessage[], head = HEAD): string {
  return head + messages.map(textOf).join(",");
}

function decoded(pieces: readonly Uint8Array[]): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(joinBytes(pieces));
}

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.tuple(fc.constantFrom("a", "ä", "€", "\u{1f600}"), fc.integer({ min: 0, max: 70_000 }))
    .map(([sign, count]) => sign.repeat(count)),
);
const message: fc.Arbitrary<WireMessage> = fc.oneof(
  fc.record({ role: fc.constantFrom("user" as const, "assistant" as const), content: text }),
  fc.record({ role: fc.constant("tool" as const), tool_call_id: fc.string(), content: text }),
);

/** A history becomes the next one: so many messages of it stay, these follow; copies are other objects of the same text. */
const step = fc.record({ kept: fc.nat({ max: 12 }), added: fc.array(message, { maxLength: 4 }), copied: fc.boolean() });

Deno.test("whatever becomes of a history, its bytes are those of all its messages, and earlier ones stay", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const history = new SerializedHistory();
      const earlier: { pieces: Uint8Array[]; expected: string }[] = [];
      let messages: WireMessage[] = [];
      for (const { kept, added, copied } of steps) {
        const start = messages.slice(0, kept);
        messages = [...copied ? start.map((each) => ({ ...each })) : start, ...added];
        earlier.push({ pieces: history.write({ head: HEAD, messages, textOf }), expected: whole(messages) });
        for (const { pieces, expected } of earlier) assert.equal(decoded(pieces), expected);
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("another head begins anew, and so does what follows it", () => {
  const history = new SerializedHistory();
  const messages: WireMessage[] = [{ role: "user", content: "a" }];
  history.write({ head: HEAD, messages, textOf });
  const head = '{"tools":[],"messages":[';
  assert.equal(decoded(history.write({ head, messages, textOf })), whole(messages, head));
  messages.push({ role: "user", content: "b" });
  assert.equal(decoded(history.write({ head, messages, textOf })), whole(messages, head));
});

Deno.test("a message that cannot be written leaves no half of it behind", () => {
  const history = new SerializedHistory();
  const [good, bad]: WireMessage[] = [{ role: "user", content: "a" }, { role: "user", content: "b" }];
  assert(good !== undefined && bad !== undefined);
  const refusing = (each: WireMessage) => each === bad ? assert.fail("no") : textOf(each);
  assert.throws(() => history.write({ head: HEAD, messages: [good, bad], textOf: refusing }));
  assert.equal(decoded(history.write({ head: HEAD, messages: [good, bad, good], textOf })), whole([good, bad, good]));
});

Deno.test("bytes of messages that were there before are not made again", () => {
  const history = new SerializedHistory();
  const messages: WireMessage[] = Array.from({ length: 300 }, () => ({ role: "user", content: "x".repeat(1000) }));
  const before = history.write({ head: HEAD, messages, textOf });
  messages.push({ role: "user", content: "more" });
  const after = history.write({ head: HEAD, messages, textOf: (each) => `${textOf(each)}` });
  assert(before.length > 3);
  assert.deepEqual(after.slice(0, 3).map(({ buffer }) => buffer), before.slice(0, 3).map(({ buffer }) => buffer));
});
