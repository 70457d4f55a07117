import assert from "node:assert/strict";
import { testSession, words } from "../../tests/helpers/agent_session.ts";
import { createTurnNumbers } from "./recorder.ts";

Deno.test("turns are told apart: as the transcript counts, after a turn that it may not hold, and without one", () => {
  const session = testSession(10_000);
  session.items.push(words("one"));
  assert.equal(createTurnNumbers(session, { transcript: { turns: 5 } }).current(), 5);
  session.items.push(words("two"));
  assert.equal(createTurnNumbers(session, { transcript: { turns: 1 } }).current(), 2);
  const numbers = createTurnNumbers(session, { transcript: null });
  const before = numbers.current();
  session.context.removed += session.items.splice(0).length;
  session.items.push(words("three"));
  assert.ok(numbers.current() > before);
});

Deno.test("a prompt keeps its number, whatever becomes of the items before it", () => {
  const session = testSession(10_000);
  const numbers = createTurnNumbers(session, { transcript: null });
  const [one, two] = [words("one"), words("two")];
  session.items.push(one, two);
  const number = numbers.current();
  session.items.splice(0, 1);
  assert.equal(numbers.current(), number);
  assert.equal(numbers.of(two), number);
  assert.equal(numbers.of(one), undefined);
});
