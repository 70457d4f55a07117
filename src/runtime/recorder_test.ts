import assert from "node:assert/strict";
import { testSession, words } from "../../tests/helpers/agent_session.ts";
import { turnOf } from "./recorder.ts";

Deno.test("turns are told apart: as the transcript counts, after a turn that it may not hold, and without one", () => {
  const session = testSession(10_000);
  session.items.push(words("one"));
  assert.equal(turnOf(session, { transcript: { turns: 5 } }), 5);
  session.items.push(words("two"));
  assert.equal(turnOf(session, { transcript: { turns: 1 } }), 2);
  const before = turnOf(session, { transcript: null });
  session.context.removed += session.items.splice(0).length;
  session.items.push(words("three"));
  assert.ok(turnOf(session, { transcript: null }) > before);
});
