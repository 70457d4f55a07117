import assert from "node:assert/strict";
import { manualClock } from "../../../tests/helpers/manual_clock.ts";
import { AgentcliError } from "../../errors.ts";
import type { ChatResponse } from "../types.ts";
import { checkCalls, checkEditCall, checkEvent, WEATHER, weatherOf } from "./call_checks.ts";
import { cacheKept, checkSchemaReply, figureOf, rateOf, repeated, schemaProblem, streamingOf } from "./reply_checks.ts";
import { fillerText, holdsMarker, newMarker } from "./window_checks.ts";
import type { TimedReply } from "./subject.ts";

function reply(more: Partial<ChatResponse> = {}): ChatResponse {
  return { text: "", reasoning: "", calls: [], finish: "stop", usage: null, model: null, ...more };
}

function timed(completionTokens: number, more: Partial<TimedReply>): TimedReply {
  const usage = { promptTokens: 10, completionTokens, cachedTokens: 0 };
  return { reply: reply({ usage }), firstMs: 0, lastMs: 0, endMs: 0, pieces: 1, retries: [], ...more };
}

const edit = (old_string: string, new_string: string, file_path = "shapes.py") =>
  checkEditCall([{ name: "Edit", input: { file_path, old_string, new_string } }]);

Deno.test("an edit counts by the file that it gives, however much of it the model quotes", () => {
  assert.equal(edit("(width + height)\n    return total", "(width + height)\n    return round(total)"), null);
  const whole = "def border(width, height):\n    total = 2 * (width + height)\n    return total\n";
  assert.equal(edit(whole, whole.replace("return total", "return round(total)")), null);
});

Deno.test("an edit that cannot be applied, or gives another file, gets the reason", () => {
  assert.equal(edit("return total", "return round(total)"), "old_string stands 2 times in the file");
  assert.equal(edit("return  total", "return round(total)"), "old_string is not in the file");
  assert.equal(edit("", "x"), "old_string is not in the file");
  assert.equal(edit("def area", "def space"), "the edited file is not what was asked for");
  assert.equal(edit("a", "b", "other.py"), "another file is named");
  assert.equal(checkEditCall([]), "not one call of the tool");
  assert.equal(checkEditCall([{ name: "Edit", input: { file_path: "shapes.py" } }]), "arguments are missing");
});

Deno.test("replacement patterns in new_string are text", () => {
  const old = "(width + height)\n    return total";
  assert.equal(edit(old, "$&"), "the edited file is not what was asked for");
});

Deno.test("calls are held against the cities that were asked for", () => {
  const call = (city: unknown, name = "get_weather") => ({ name, input: { city } });
  assert.equal(weatherOf("Paris", "Oslo")([call("oslo, Norway"), call("Paris")]), null);
  assert.equal(weatherOf("Paris", "Oslo")([call("Paris")]), "1 call instead of 2");
  assert.equal(weatherOf("Paris", "Oslo")([call("Paris"), call("Paris")]), "no call for Oslo");
  assert.equal(weatherOf("Paris")([call(7)]), "no call for Paris");
  assert.equal(weatherOf("Paris")([call("Paris", "search")]), "another tool was called");
});

Deno.test("nested arguments must be objects and lists, not their text", () => {
  const event = (more: Record<string, unknown>) =>
    checkEvent([{
      name: "create_event",
      input: {
        title: "Review",
        place: { city: "Oslo", room: 12 },
        guests: [{ name: "Ada" }, { name: "Grace" }],
        ...more,
      },
    }]);
  assert.equal(event({}), null);
  assert.equal(event({ place: '{"city":"Oslo","room":12}' }), "the place is no object");
  assert.equal(event({ place: { city: "Oslo", room: "12" } }), "the place is not the one that was asked for");
  assert.equal(event({ guests: ["Ada", "Grace"] }), "the guests are not those that were asked for");
  assert.equal(event({ guests: [null, null] }), "the guests are not those that were asked for");
  assert.equal(event({ guests: "Ada" }), "the guests are no list");
});

Deno.test("a reply at the token limit is unclear, not a refusal to call", () => {
  const request = { tools: [WEATHER], check: weatherOf("Paris") };
  assert.equal(checkCalls(reply({ finish: "length", reasoning: "Let me" }), request).how, "cut");
  const broken = reply({ calls: [{ id: "", name: "get_weather", input: null, raw: "{", problem: "x" }] });
  assert.deepEqual(checkCalls(broken, request), {
    how: "native",
    correct: false,
    detail: "the arguments are not valid JSON",
  });
});

Deno.test("a reply under a schema that was cut shows nothing, unless it began with words", () => {
  const support = (text: string, finish: "length" | "stop") => checkSchemaReply({ text, finish }).support;
  assert.equal(support('{"capital":"Oslo","letters":4}', "stop"), "yes");
  assert.equal(support('{"capital":"Oslo Oslo Oslo', "length"), "unclear");
  assert.equal(support("", "length"), "unclear");
  assert.equal(support("The capital of Norway", "length"), "ignored");
  assert.equal(support('{"capital":"Oslo', "stop"), "ignored");
});

Deno.test("a schema is kept only by an object with exactly its fields", () => {
  assert.equal(schemaProblem(' {"letters": 4, "capital": "Oslo"}\n'), null);
  assert.match(schemaProblem('{"capital":"Oslo","letters":4,"more":1}') ?? "", /other fields/);
  assert.match(schemaProblem('{"capital":"Oslo","letters":"4"}') ?? "", /other fields/);
  assert.match(schemaProblem('```json\n{"capital":"Oslo","letters":4}\n```') ?? "", /no JSON/);
  assert.match(schemaProblem("[]") ?? "", /no object/);
});

Deno.test("a reply streams when it comes in more reads than one write makes", () => {
  assert.equal(streamingOf(timed(128, { pieces: 60 })), "yes");
  assert.equal(streamingOf(timed(128, { pieces: 1 })), "no");
  assert.equal(streamingOf(timed(128, { pieces: 3 })), "no");
  assert.equal(streamingOf(timed(4, { pieces: 1 })), "unclear");
  assert.equal(streamingOf(timed(4, { pieces: 3 })), "yes");
});

Deno.test("the rate of a streamed reply counts from its first token, that of a whole one from the request", () => {
  assert.equal(rateOf(timed(101, { pieces: 100, firstMs: 500, lastMs: 2500, endMs: 2600 })), 50);
  assert.equal(rateOf(timed(100, { pieces: 1, firstMs: 2000, lastMs: 2000, endMs: 2000 })), 50);
  assert.equal(rateOf(timed(100, { pieces: 1, endMs: 1 })), null);
});

Deno.test("tokens are estimated from the text where the server does not count", () => {
  const run = timed(0, { reply: reply({ text: "x".repeat(400) }), pieces: 1, endMs: 1000 });
  assert.equal(rateOf(run), 100);
});

Deno.test("a cache shows in the server's own count or in the time that is saved", () => {
  assert.equal(cacheKept({ coldMs: 10, warmMs: 9, cachedShare: 0.9 }), "yes");
  assert.equal(cacheKept({ coldMs: 2000, warmMs: 100, cachedShare: 0 }), "yes");
  assert.equal(cacheKept({ coldMs: 2000, warmMs: 1900, cachedShare: 0 }), "no");
  assert.equal(cacheKept({ coldMs: 20, warmMs: 5, cachedShare: 0 }), "unclear");
});

Deno.test("the median of an even number of runs lies between the middle two", () => {
  assert.deepEqual(figureOf([4, 1, 3]), { median: 3, runs: 3 });
  assert.deepEqual(figureOf([4, 1, 3, 2]), { median: 2.5, runs: 4 });
  assert.equal(figureOf([]), null);
});

Deno.test("a slow measurement is run once, and a later failure keeps the runs before it", async () => {
  const clock = manualClock();
  assert.equal((await repeated(clock, async () => await clock.advance(20_000))).length, 1);
  let count = 0;
  const twice = () =>
    ++count < 3 ? Promise.resolve(count) : Promise.reject(new AgentcliError("connection_lost", "gone"));
  assert.deepEqual(await repeated(clock, twice), [1, 2]);
  await assert.rejects(repeated(clock, () => Promise.reject(new AgentcliError("connection_lost", "gone"))));
});

Deno.test("filler has the length asked for, and another seed another beginning", () => {
  assert.equal(fillerText(5000, 7).length, 5000);
  assert.equal(fillerText(5000, 7), fillerText(5000, 7));
  assert.notEqual(fillerText(100, 7), fillerText(100, 8));
  assert.equal(fillerText(-5, 7), "");
});

Deno.test("a marker is found however its parts are joined, and no other is", () => {
  const marker = newMarker();
  const [word = "", digits = ""] = marker.split("-");
  assert.ok(holdsMarker(`It is **${marker.toUpperCase()}**.`, marker));
  assert.ok(holdsMarker(`${word} ${digits}`, marker));
  assert.ok(!holdsMarker(`${word}-${Number(digits) === 100_000 ? 100_001 : 100_000}`, marker));
  assert.ok(!holdsMarker("I do not know.", marker));
});
