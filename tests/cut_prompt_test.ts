/** A server that cuts the prompt in the middle of a session: its count falls, room is made, and it is asked again. */
import assert from "node:assert/strict";
import { type FakeServerOptions, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

const TASK = "Find the heron.";
const LOST = say("Hello! What would you like me to do?", { usage: { prompt: 700, completion: 9 } });

/** The steps of a model that reads files, on a server that cuts what has more than `window` tokens. */
function cutting({ window, files, again = false }: { window: number; files: number; again?: boolean }) {
  let read = 0;
  const seen = { cut: 0, requests: [] as string[] };
  const script: FakeServerOptions["script"] = ({ json, text }) => {
    const whole = Math.ceil(text.length / 4);
    const usage = { prompt: whole, completion: 20 };
    seen.requests.push(text);
    if (json.tools === undefined) return say("A file was read. The heron is wanted.", { usage });
    if (whole > window || (again && seen.cut > 0)) {
      seen.cut++;
      return { ...LOST, usage: { prompt: 700 - seen.cut, completion: 9 } };
    }
    if (read < files) return { kind: "message", calls: [want("read", { path: `${++read}.txt` })], usage };
    return say(text.includes(TASK) ? "the heron" : "what was I asked?", { usage });
  };
  return { seen, script };
}

async function ran(options: Parameters<typeof cutting>[0], server: Pick<FakeServerOptions, "routes" | "models"> = {}) {
  await using home = await temporaryHome();
  for (let at = 1; at <= options.files; at++) {
    await home.write(`${at}.txt`, `some words about birds, ${at}\n`.repeat(500));
  }
  const { seen, script } = cutting(options);
  await using fake = startFakeServer({ script, ...server });
  await configure(home, { loc: { baseUrl: fake.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  const done = await runInProcess(["run", TASK], { home });
  const cache = await Deno.readTextFile(`${home.agentcliHome}/cache/servers.json`).catch(() => "");
  return { done, seen, cache };
}

for (const files of [1, 2, 3]) {
  Deno.test(`the cut is seen where the count falls first, and the task is done: ${files} files`, async () => {
    const { done, seen, cache } = await ran({ window: 4200, files });
    assert.equal(done.code, 0, done.stderr);
    assert.equal(done.stdout.trim().split("\n").at(-1), "the heron", done.stderr);
    assert.equal(seen.cut, 1, done.stderr);
    assert.match(
      done.stderr,
      /dropped a part of the prompt: it read 699 of about \d+ tokens\n {2}give the model a larger/,
    );
    assert.match(done.stderr, /cuts prompts that are longer than about \d+ tokens/);
    assert.doesNotMatch(cache, /refusedWindow/, "what is guessed is not remembered");
  });
}

Deno.test("a window that the server reports but does not have changes nothing", async () => {
  const props: Step = {
    kind: "status",
    status: 200,
    body: JSON.stringify({ default_generation_settings: { n_ctx: 32768 } }),
    headers: { "content-type": "application/json" },
  };
  const models = { object: "list", data: [{ id: "fake", object: "model", owned_by: "llamacpp" }] };
  const { done, seen } = await ran({ window: 4200, files: 2 }, { models, routes: { "/props": props } });
  assert.equal(done.stdout.trim().split("\n").at(-1), "the heron", done.stderr);
  assert.equal(seen.cut, 1, done.stderr);
});

Deno.test("a prompt that is cut again is exit 7, with what to do", async () => {
  const { done, seen } = await ran({ window: 4200, files: 2, again: true });
  assert.equal(done.code, 7, done.stderr);
  assert.match(done.stderr, /dropped a part of the prompt[^]*\n {2}give the model a larger context window/);
  assert.ok(seen.requests.length <= 8, `${seen.requests.length}`);
});

Deno.test("counts that only leave out what was cached change nothing", async () => {
  await using home = await temporaryHome();
  for (const at of [1, 2, 3]) await home.write(`${at}.txt`, `some words about birds, ${at}\n`.repeat(400));
  let [before, read] = [0, 0];
  await using fake = startFakeServer({
    script: ({ text }) => {
      const whole = Math.ceil(text.length / 4);
      const usage = { prompt: Math.max(whole - before, 1), completion: 20 };
      before = whole;
      return read < 3
        ? { kind: "message", calls: [want("read", { path: `${++read}.txt` })], usage }
        : say("Done.", { usage });
    },
  });
  await configure(home, { loc: { baseUrl: fake.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  const done = await runInProcess(["run", TASK], { home });
  assert.equal(done.stdout, "Done.\n");
  assert.doesNotMatch(done.stderr, /dropped|summarized/);
});
