import assert from "node:assert/strict";
import { type ToolHome, toolHome } from "../../tests/helpers/tool_home.ts";
import { answerIn } from "./answer.ts";
import { Budget } from "./budget.ts";
import { clientResult, type Outcome } from "./outcome.ts";
import { PrivateService, type PrivateSession, type ServiceClock, type ServiceParts } from "./service.ts";
import type { ClosedQuestion } from "./tools.ts";

/** Time that advances as answers are held back. `late`: the time for a model's work is over at once. */
function testClock({ late = false } = {}): ServiceClock & { set(time: number): void; time: number } {
  const clock = {
    time: 1_000_000,
    set: (time: number) => void (clock.time = time),
    now: () => clock.time,
    monotonic: () => clock.time,
    sleep: (_: number, signal?: AbortSignal) =>
      late
        ? Promise.resolve()
        : new Promise<void>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    hold(milliseconds: number, signal?: AbortSignal) {
      signal?.throwIfAborted();
      clock.time += milliseconds;
      return Promise.resolve();
    },
  };
  return clock;
}

type Model = (asked: ClosedQuestion, signal: AbortSignal) => string | Promise<string>;

function service(place: ToolHome, model: Model, more: Partial<ServiceParts> = {}): PrivateService {
  const session: PrivateSession = {
    problem: () => Promise.resolve(null),
    answer: async (asked, signal) => answerIn(await model(asked, signal), asked.set),
    text: () => Promise.reject(BOMB),
    openText: () => Promise.reject(BOMB),
    perform: () => Promise.reject(BOMB),
    close: () => Promise.resolve(),
  };
  return new PrivateService({
    home: place.home,
    clock: testClock(),
    root: "/project",
    facts: () => Promise.resolve({ ready: true, rules: 1 }),
    open: () => Promise.resolve(session),
    ...more,
  });
}

const call = { client: "test", signal: new AbortController().signal };
const YES_NO = { type: "yes_no" };

async function ask(asked: PrivateService, question: string, more: Record<string, unknown> = {}): Promise<Outcome> {
  const outcome = await asked.call("ask_private", { question, answer: YES_NO, seconds: 1, ...more }, call);
  assert(outcome !== null);
  return outcome;
}

async function left(asked: PrivateService): Promise<number> {
  const status = await asked.call("private_status", {}, call);
  assert(status?.kind === "status");
  return status.left;
}

const yes: Model = () => '{"answer":"yes"}';
const BOMB = new Error("the key is 4711");

/** Asks so many questions about 128 bits, each chosen by the answers so far; returns the bits that came out. */
async function attack(
  place: ToolHome,
  canary: string,
  questions: number,
): Promise<{ known: Map<number, string>; refused: number }> {
  const truthful: Model = ({ question }) => {
    const at = Number(/bit (\d+)/.exec(question)?.[1]);
    return JSON.stringify({ answer: canary[at] === "1" ? "yes" : "no" });
  };
  const known = new Map<number, string>();
  let refused = 0;
  // Each names itself anew, and one has the files in another project; both share the home.
  const clients = ["/project", "/another/root"].map((root) => service(place, truthful, { root }));
  for (let at = 0; at < questions; at++) {
    const next = [...canary].findIndex((_, bit) => !known.has(bit));
    const bit = next < 0 ? at % canary.length : next;
    const words = [`Is bit ${bit} set?`, `is bit ${bit} of it one`, `bit ${bit}: ${at}?`][at % 3] ?? "";
    const outcome = await clients[at % 2]?.call("ask_private", { question: words, answer: YES_NO }, {
      ...call,
      client: `client ${at}`,
    });
    if (outcome?.kind === "refused") refused++;
    else if (outcome?.kind === "answer" && outcome.answer !== "unknown") known.set(bit, outcome.answer as string);
  }
  return { known, refused };
}

Deno.test(
  "10,000 adaptive questions to a truthful model give no more than the budget",
  { timeout: 60_000 },
  async () => {
    const canary = Array.from(crypto.getRandomValues(new Uint8Array(128)), (byte) => byte & 1).join("");
    await using place = await toolHome(null);
    const { known, refused } = await attack(place, canary, 10_000);
    // Three values for each question, down to 8 bits: 56 / log2(3).
    assert.equal(known.size, 36);
    assert(refused >= 9_800, `${refused} refused`);
    assert(new Set([...known.keys()]).size <= 64);

    // The control: the same attack, where the budget does not end, has the whole canary.
    await using open = await toolHome(null);
    await new Budget(open.home, { now: () => 1_000_000 }).add(1_000_000_000);
    // Some questions may be refused: the slot of the one before is not free yet.
    const all = await attack(open, canary, 2 * canary.length);
    assert.equal([...canary].map((_, bit) => all.known.get(bit) === "yes" ? "1" : "0").join(""), canary);
  },
);

Deno.test("each kind of set is charged by its size, and the sum stays within the budget", async () => {
  await using place = await toolHome(null);
  const asked = service(place, ({ set }) => set.type === "count" ? '{"answer":321}' : '{"answer":["a"]}');
  const counts: Outcome[] = [];
  const count = async (at: number) =>
    counts.push(await ask(asked, `How many ${at}?`, { answer: { type: "count", max: 1000 } }));
  for (let at = 0; at < 5; at++) await count(at);
  const among = [..."abcdefghijklmno"];
  const outcome = await ask(asked, "Which?", { answer: { type: "paths", among } });
  assert.deepEqual(outcome, { kind: "refused", code: "budget" });
  assert.equal((await ask(asked, "Is it?", { answer: YES_NO })).kind, "answer");
  for (let at = 5; at < 8; at++) await count(at);
  assert.equal(counts.filter(({ kind }) => kind === "answer").length, 6);
});

Deno.test("an equal question has the same answer for nothing, from any client and after a restart", async () => {
  await using place = await toolHome(null);
  let asked = 0;
  const model: Model = () => (asked++, asked === 1 ? '{"answer":"yes"}' : '{"answer":"no"}');
  assert.deepEqual(await ask(service(place, model), "Is  it\nset?"), { kind: "answer", answer: "yes", cost: 1585 });
  assert.deepEqual(await ask(service(place, model), " Is it set? "), { kind: "answer", answer: "yes", cost: 0 });
  assert.equal(await left(service(place, model)), 64_000 - 1585);
  // Controls: another set, another project and `again` are other questions, each paid for.
  const other = await ask(service(place, model, { root: "/other" }), "Is it set?");
  assert.deepEqual(other, { kind: "answer", answer: "no", cost: 1585 });
  assert.deepEqual(await ask(service(place, model), "Is it set?", { again: true }), { ...other, answer: "no" });
  assert.equal(await left(service(place, model)), 64_000 - 3 * 1585);
});

Deno.test("a question is paid for before the model is asked: failures, cancels and kills give nothing back", async () => {
  await using place = await toolHome(null);
  const unknown = { kind: "answer", answer: "unknown", cost: 1585 };
  const fails: Model = () => Promise.reject(BOMB);
  assert.deepEqual(await ask(service(place, fails), "Does it fail?"), unknown);
  // Nothing is kept of it: the next one is paid for again.
  assert.deepEqual(await ask(service(place, fails), "Does it fail?"), unknown);
  assert.equal(await left(service(place, fails)), 64_000 - 2 * 1585);

  // Taken back while the model works.
  const cancel = new AbortController();
  const gone: Model = () => (cancel.abort(BOMB), new Promise<string>(() => {}));
  const stopped = service(place, gone, { clock: testClock({ late: true }) });
  const given = { question: "Is it gone?", answer: YES_NO };
  assert.deepEqual(await stopped.call("ask_private", given, { ...call, signal: cancel.signal }), unknown);
  assert.equal(await left(stopped), 64_000 - 3 * 1585);

  // As a process that is killed leaves it: charged, without an answer.
  let during = 0;
  const killed = service(place, async () => (during = await left(killed), '{"answer":"yes"}'));
  await ask(killed, "Is it alive?");
  assert.equal(during, 64_000 - 4 * 1585);
});

Deno.test("that a model is gone after a question is paid for once", async () => {
  await using place = await toolHome(null);
  const gone = service(place, yes, { open: () => Promise.resolve(null) });
  const missing = { kind: "refused", code: "no_local_model" };
  assert.deepEqual(await ask(gone, "Is it?"), missing);
  assert.equal(await left(gone), 64_000);
  await ask(service(place, yes), "Is it there?");
  assert.deepEqual(await ask(gone, "Is it?"), { ...missing, cost: 8_000 });
  assert.deepEqual(await ask(gone, "Is it now?"), missing);
  assert.equal(await left(gone), 64_000 - 1585 - 8_000);
  // Where that cannot be paid, nothing is opened: a refusal by the account alone.
  await ask(service(place, yes), "Is it there again?");
  await new Budget(place.home, testClock()).spend({ cost: await left(gone) - 7_000, place: "/project" });
  for (const one of [gone, service(place, yes)]) {
    assert.deepEqual(await ask(one, "Is it still?"), { kind: "refused", code: "budget" });
  }
});

Deno.test("an answer comes at the second that the caller named, whatever the model did", async () => {
  const models: Record<string, Model> = {
    quick: yes,
    failing: () => Promise.reject(BOMB),
    talking: () => "the key is 4711",
    silent: (_, signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(BOMB))),
    deaf: () => new Promise(() => {}),
  };
  for (const [name, model] of Object.entries(models)) {
    await using place = await toolHome(null);
    const clock = testClock({ late: name === "silent" || name === "deaf" });
    const before = clock.time;
    const outcome = await ask(service(place, model, { clock }), "Is it?", { seconds: 7 });
    assert.equal(clock.time - before, 7_000, name);
    assert.deepEqual(outcome, { kind: "answer", answer: name === "quick" ? "yes" : "unknown", cost: 1585 });
    // What waited for nothing protected comes at a full second.
    await ask(service(place, model, { clock, open: () => Promise.resolve(null) }), "Is it local?", { seconds: 7 });
    assert.equal((clock.time - before) % 1000, 0, name);
  }
});

Deno.test("a late model's answer is not kept for the next question", async () => {
  await using place = await toolHome(null);
  const late = Promise.withResolvers<string>();
  const asked = service(place, () => late.promise, { clock: testClock({ late: true }) });
  assert.deepEqual(await ask(asked, "Is it late?"), { kind: "answer", answer: "unknown", cost: 1585 });
  late.resolve('{"answer":"yes"}');
  await late.promise;
  assert.deepEqual(await ask(service(place, () => "no"), "Is it late?"), { kind: "answer", answer: "no", cost: 1585 });
});

Deno.test("the clock set back gives nothing back, and a day later the budget is whole", async () => {
  await using place = await toolHome(null);
  const clock = testClock();
  const asked = service(place, yes, { clock });
  for (let at = 0; at < 41; at++) await ask(asked, `Is bit ${at} set?`);
  const spent = await left(asked);
  assert(spent < 8000);
  const time = clock.time;
  for (const set of [0, time - 48 * 3_600_000, time + 23 * 3_600_000, 5]) {
    clock.set(set);
    assert.equal(await left(asked), spent);
    assert.deepEqual(await ask(asked, `Is it set at ${set}?`), { kind: "refused", code: "budget" });
  }
  clock.set(time + 25 * 3_600_000);
  assert.equal(await left(asked), 64_000);
});

Deno.test("a damaged budget answers nothing", async () => {
  for (
    const text of [
      "",
      "{}",
      '{"latest":0,"entries":[],"added":[]}',
      '{"latest":0,"entries":[{"at":1,"cost":-9,"key":""}],"added":[],"values":[],"changes":[],"asked":true}',
    ]
  ) {
    await using place = await toolHome("version: 1\n");
    await place.home.write("private/budget.json", text);
    assert.deepEqual(await ask(service(place, yes), "Is it?"), { kind: "refused", code: "unavailable" });
  }
});

Deno.test("two clients at once are answered one after the other, and two processes refuse each other", async () => {
  await using place = await toolHome(null);
  let running = 0;
  let most = 0;
  const model: Model = async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    return '{"answer":"yes"}';
  };
  const asked = service(place, model);
  const both = await Promise.all([1, 2, 3].map((at) => ask(asked, `Is it ${at}?`)));
  assert(both.every(({ kind }) => kind === "answer"));
  assert.equal(most, 1);
  let other: Outcome | null = null;
  await ask(
    service(place, async () => (other = await ask(service(place, yes), "Is it another?"), "yes")),
    "Is it one?",
  );
  assert.deepEqual(other, { kind: "refused", code: "busy" });
});

Deno.test("nothing that fails inside is reported: each refusal is one of a few fixed texts", async () => {
  await using place = await toolHome(null);
  const bomb = () => Promise.reject(BOMB);
  const session = { answer: bomb, text: bomb, openText: bomb, perform: bomb, close: bomb };
  const broken = [
    service(place, yes, { open: bomb }),
    service(place, yes, { facts: bomb }),
    service(place, yes, { open: () => Promise.resolve({ problem: bomb, ...session }) }),
    service(place, yes, {
      open: () => Promise.resolve({ problem: () => Promise.resolve(null), ...session }),
    }),
  ];
  for (const one of broken) {
    const told = JSON.stringify([
      clientResult(await ask(one, "Is it?")),
      clientResult(await one.call("private_status", {}, call) ?? { kind: "refused", code: "busy" }),
    ]);
    assert(!told.includes("4711"), told);
  }
  for (
    const given of [{}, { question: "" }, { question: "x", answer: { type: "text!" } }, { question: 1, answer: YES_NO }]
  ) {
    assert.deepEqual(await service(place, yes).call("ask_private", given, call), {
      kind: "refused",
      code: "arguments",
    });
  }
});

Deno.test("while a question is worked on, every answer comes at a full second", async () => {
  await using place = await toolHome(null);
  const clock = testClock();
  const status = async (asked: PrivateService) => {
    const started = clock.time;
    await asked.steady(() => asked.call("private_status", {}, call));
    return clock.time - started;
  };
  let during = 0;
  const asked = service(place, async () => (during = await status(asked), "yes"), { clock });
  assert.equal(await status(asked), 0);
  await ask(asked, "Is it?", { seconds: 5 });
  assert.equal(during, 1_000);
  await asked.steady(() => Promise.resolve());
  assert.equal(await status(asked), 0);
});

/** How long the next request, and the end of the server, take once a client took its question back. */
async function afterCancel(isFinished: boolean): Promise<{ next: number; end: number; turn: number }> {
  await using place = await toolHome(null);
  const clock = testClock({ late: true });
  const [working, holding, going] = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const { hold } = clock;
  const cancel = new AbortController();
  // The first hold of a finished question, or the wait for its time, continues after the others were checked.
  const wait = async () => (holding?.resolve(), await going?.promise);
  clock.hold = async (milliseconds, signal) => {
    if (milliseconds > 1_000) await wait();
    await hold(milliseconds, signal);
  };
  clock.sleep = wait;
  const model: Model = () => (working?.resolve(), isFinished ? "yes" : new Promise(() => {}));
  const asked = service(place, model, { clock });
  const started = clock.time;
  const given = { question: "Is it?", answer: YES_NO, seconds: 60 };
  const turn = asked.call("ask_private", given, { ...call, signal: cancel.signal });
  await working?.promise;
  await holding?.promise;
  cancel.abort(BOMB);
  const before = clock.time;
  await asked.steady(() => Promise.resolve());
  const next = clock.time - before;
  going?.resolve();
  await turn;
  const at = clock.time;
  await asked.close();
  return { next, turn: at - started - next, end: clock.time - at };
}

Deno.test("after a cancel nothing reveals whether the model had finished", async () => {
  const [finished, unfinished] = [await afterCancel(true), await afterCancel(false)];
  assert.deepEqual(finished, unfinished);
  assert.deepEqual(finished, { next: 1_000, turn: 59_000, end: 0 });
});

Deno.test("a server that ends while a question is worked on does so at a full second", async () => {
  for (const isFinished of [true, false]) {
    await using place = await toolHome(null);
    const clock = testClock();
    const working = Promise.withResolvers<void>();
    const { hold } = clock;
    // What would be held back for a minute ends with the service.
    clock.hold = async (milliseconds, signal) => {
      if (signal === undefined) return await hold(milliseconds);
      await new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    };
    const model: Model = () => (working.resolve(), isFinished ? "yes" : new Promise(() => {}));
    const asked = service(place, model, { clock });
    const turn = asked.call("ask_private", { question: "Is it?", answer: YES_NO, seconds: 60 }, call).catch(() => {});
    await working.promise;
    const before = clock.time;
    await asked.close();
    assert.equal(clock.time - before, 1_000, `${isFinished}`);
    await turn;
  }
  await using place = await toolHome(null);
  const clock = testClock();
  const before = clock.time;
  await service(place, yes, { clock }).close();
  assert.equal(clock.time, before, "the control");
});

Deno.test("a session is closed before its answer is due, so that the next turn does not wait for it", async () => {
  await using place = await toolHome(null);
  const clock = testClock();
  const times: number[] = [];
  const close = () => Promise.resolve(void times.push(clock.time));
  const session = { problem: () => Promise.resolve(null), answer: () => Promise.resolve("yes"), close };
  const asked = service(place, yes, { clock, open: () => Promise.resolve(session as unknown as PrivateSession) });
  const started = clock.time;
  await ask(asked, "Is it?", { seconds: 5 });
  assert.deepEqual([times, clock.time - started], [[started], 5_000]);
});
