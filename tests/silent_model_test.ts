/**
 * Models that end their turn without a word: asked to go on, and given shorter results where long ones silence them.
 */
import assert from "node:assert/strict";
import { ask, type RecordedRequest, say, startFakeServer, type Step } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

const read = (file_path: string): Step => ask({ name: "Read", input: { file_path } });
const LONG = "A line of a file that is long.\n".repeat(200);

/** Runs a prompt with a model of this behavior; the requests, and what came of it. */
async function ran(script: (request: RecordedRequest) => Step, model: Record<string, unknown> = {}) {
  await using home = await temporaryHome();
  for (const name of ["a.txt", "b.txt"]) await home.write(name, LONG);
  await using server = startFakeServer({ script });
  await configure(home, {
    loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32_768, ...model }] },
  });
  const done = await runInProcess(["run", "Read both files", "--permission-mode", "bypassPermissions"], { home });
  const requests = server.chats().map(({ json }) => json.messages as { role: string; content: string }[]);
  return { ...done, requests };
}

const results = (messages: readonly { role: string; content: string }[]) =>
  messages.filter(({ role }) => role === "tool").map(({ content }) => content);

Deno.test("a model that long results silence gets them shorter, and those that follow too", async () => {
  const order = ["a.txt", "b.txt"];
  const { code, stdout, stderr, requests } = await ran(({ json }) => {
    const longest = Math.max(0, ...results(json.messages).map(({ length }) => length));
    if (longest > 2000) return say("");
    const next = order[results(json.messages).length];
    return next === undefined ? say("Both were read.") : read(next);
  });
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "Both were read.\n");
  assert.equal(requests.length, 5);
  assert.equal(stderr.match(/says nothing behind long results/g)?.length, 1, stderr);
  assert.match(results(requests.at(-1) ?? [])[0] ?? "", /bytes left out/);
  assert.match(results(requests.at(-1) ?? [])[1] ?? "", /go on with offset/);
});

Deno.test("a model that stays silent after short results ends the turn as a failure", async () => {
  const short = await ran(({ index }) => index === 0 ? read("none.txt") : say(""));
  assert.equal(short.code, 1);
  assert.match(short.stderr, /ended its turn without an answer, twice/);
  assert.equal(short.requests.length, 3);
  const long = await ran(({ index }) => index === 0 ? read("a.txt") : say(""));
  assert.equal(long.code, 1);
  assert.equal(long.requests.length, 4);
});

Deno.test("one silence does not count against a model that went on working", async () => {
  const script = [say(""), read("a.txt"), say(""), read("b.txt"), say(""), say("Done.")];
  const { code, stdout, stderr } = await ran(({ index }) => script[index] ?? say("never"));
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "Done.\n");
  // A model that works and falls silent in turn comes to an end too.
  const forever = await ran(({ index }) => index % 2 === 0 ? say("") : read(`file${index}.txt`));
  assert.equal(forever.code, 1, forever.stderr);
  assert.ok(forever.requests.length < 12, `${forever.requests.length}`);
});

Deno.test("max_result of a model limits every result", async () => {
  const { requests } = await ran(({ index }) => index === 0 ? read("a.txt") : say("Done."), { max_result: 300 });
  const [result = ""] = results(requests.at(-1) ?? []);
  assert.ok(result.length > 500 && result.length < 1500, `${result.length}`);
  assert.match(result, /go on with offset/);
});
