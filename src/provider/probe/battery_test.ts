import assert from "node:assert/strict";
import {
  type FakeServer,
  type FakeServerOptions,
  startFakeServer,
  type Step,
} from "../../../tests/helpers/fake_server.ts";
import { manualClock } from "../../../tests/helpers/manual_clock.ts";
import { type Abilities, probedModel } from "../../../tests/helpers/probed_model.ts";
import { endpointAt } from "../../../tests/helpers/stand_in_client.ts";
import { AgentcliError } from "../../errors.ts";
import { denoIo } from "../../platform/deno_io.ts";
import { HttpClient } from "../http/client.ts";
import { type BatteryOptions, runBattery } from "./battery.ts";
import { type Findings, foundIn, learnt, probeError, type ProbeReport, verdictOf } from "./findings.ts";
import { checkStop } from "./reply_checks.ts";
import { Subject } from "./subject.ts";

const LIST = (window: number) => ({ object: "list", data: [{ id: "fake", owned_by: "vllm", max_model_len: window }] });

/** Runs the battery against a server; its clock is the real one, and nothing is asserted of times. */
async function probe(server: FakeServer, more: Partial<BatteryOptions> = {}): Promise<ProbeReport> {
  const clock = more.clock ?? denoIo().clock;
  const client = new HttpClient({ env: () => undefined, clock });
  try {
    return await runBattery({
      history: { keepsReasoning: false, fields: {} },
      client,
      endpoint: endpointAt(server.baseUrl, { timeout: { connect: 600, firstByte: 600, idle: 600 } }),
      model: "fake",
      clock,
      timeoutMs: 60_000,
      maxPrompt: 32_768,
      signal: new AbortController().signal,
      ...more,
    });
  } finally {
    client.close();
  }
}

/** Probes a scripted model. */
async function probed(
  abilities: Abilities,
  more: { claims?: number | null; change?: Parameters<typeof probedModel>[1]; battery?: Partial<BatteryOptions> } = {},
): Promise<ProbeReport & { bodies: FakeServer["requests"] }> {
  const claims = more.claims === undefined ? 8192 : more.claims;
  const options: FakeServerOptions = { script: probedModel(abilities, more.change) };
  await using server = startFakeServer(claims === null ? options : { ...options, models: LIST(claims) });
  const report = await probe(server, more.battery);
  return { ...report, bodies: server.chats() };
}

const found = <K extends keyof Findings>(report: ProbeReport, name: K) => {
  const value = foundIn(report.checks[name]);
  assert.ok(value, `${name}: ${JSON.stringify(report.checks[name])}`);
  return value;
};

Deno.test("a model that can do everything is found fit, with every check done", async () => {
  const report = await probed({ window: 8192 });
  for (const [name, outcome] of Object.entries(report.checks)) {
    // Whether the reads of a busy machine show a stream is not for this test.
    if (name !== "stop") assert.equal(outcome.kind, "done", name);
  }
  assert.equal(found(report, "reachable").server?.server, "vllm");
  assert.deepEqual(found(report, "windowClaimed"), { tokens: 8192, source: "/models" });
  assert.deepEqual(found(report, "windowProved").steps.map(({ outcome }) => outcome), Array(3).fill("repeated"));
  for (const name of ["toolCall", "parallelCalls", "nestedArguments", "edit"] as const) {
    assert.deepEqual(found(report, name), { how: "native", correct: true, detail: "" }, name);
  }
  assert.equal(found(report, "textToolCall").detail, "written as text, form hermes");
  assert.equal(found(report, "jsonSchema").support, "yes");
  assert.equal(found(report, "toolResult").used, true);
  assert.deepEqual(learnt(report), { contextWindow: 8192, toolCalls: "native" });
  assert.deepEqual(verdictOf(report), { fit: true, text: "yes, with native tool calls" });
});

Deno.test("a server that drops the start of long prompts has the window that was proved, not the claimed one", async () => {
  const report = await probed({ window: 5000, overflow: "drop the start" }, { claims: 16_384 });
  const proof = found(report, "windowProved");
  assert.ok(proof.proved !== null && proof.proved > 3500 && proof.proved <= 5000, `proved ${proof.proved}`);
  assert.ok(proof.tooLong !== null && proof.tooLong > 5000);
  assert.ok(proof.steps.length <= 6);
  assert.equal(learnt(report).contextWindow, proof.proved);
});

Deno.test("a window that a refusal names is taken over", async () => {
  const report = await probed({ window: 6000 }, { claims: 16_384 });
  assert.equal(found(report, "windowProved").named, 6000);
  assert.equal(learnt(report).contextWindow, 6000);
});

Deno.test("no prompt is longer than allowed, and a claim beyond it stays", async () => {
  const report = await probed({}, { claims: 131_072, battery: { maxPrompt: 2048 } });
  const sizes = report.bodies.map(({ json }) => json.messages[0].content.length / 4);
  assert.ok(Math.max(...sizes) <= 2100, `${Math.max(...sizes)}`);
  assert.equal(learnt(report).contextWindow, 131_072);
});

Deno.test("without a claim the window is what was proved", async () => {
  const report = await probed({ window: 3000 }, { claims: null, battery: { maxPrompt: 8192 } });
  assert.equal(found(report, "windowClaimed").tokens, null);
  assert.equal(learnt(report).contextWindow, 3000);
  assert.match(verdictOf(report).text, /^no: a window of 3,000 tokens is too small/);
});

Deno.test("a model that repeats nothing leaves the claim undisproved", async () => {
  const report = await probed({ repeats: false });
  assert.deepEqual(found(report, "windowProved").steps, []);
  assert.equal(found(report, "windowProved").repeatsShort, false);
  assert.equal(learnt(report).contextWindow, 8192);
});

Deno.test("a server that refuses tools is used with calls in text", async () => {
  const report = await probed({ tools: "refused" });
  assert.equal(found(report, "toolCall").how, "refused");
  assert.deepEqual(report.checks.parallelCalls, {
    kind: "skipped",
    reason: "the server does not support tool calling",
  });
  assert.equal(found(report, "toolResult").how, "text");
  assert.equal(found(report, "edit").correct, true);
  assert.equal(learnt(report).toolCalls, "text");
  assert.equal(verdictOf(report).text, "yes, with tool calls as text");
});

Deno.test("calls that come as text although tools were declared are recovered and reported", async () => {
  const report = await probed({ tools: "as text" });
  assert.deepEqual(found(report, "parallelCalls"), {
    how: "text",
    correct: true,
    detail: "written as text, form hermes",
  });
  assert.equal(learnt(report).toolCalls, "text");
});

Deno.test("a model that only talks calls no tools", async () => {
  const report = await probed({ tools: "in words", protocol: false });
  assert.equal(found(report, "toolCall").how, "none");
  assert.equal(report.checks.edit.kind, "skipped");
  assert.equal(learnt(report).toolCalls, "none");
  assert.equal(verdictOf(report).fit, false);
});

Deno.test("calls with other arguments than asked for, or none that end, are no proof that there are no tools", async () => {
  const wrong: Step = { kind: "message", calls: [{ name: "get_weather", input: { city: "Rome" } }] };
  const cut: Step = { kind: "message", calls: [{ name: "get_weather", input: '{"city": "Par' }], finish: "length" };
  for (const [step, how] of [[wrong, "native"], [cut, "cut"]] as const) {
    const report = await probed({ protocol: false }, { change: (body) => body.tools === undefined ? null : step });
    assert.equal(found(report, "toolCall").how, how);
    assert.equal(found(report, "toolCall").correct, false);
    assert.equal(learnt(report).toolCalls, undefined);
    assert.equal(verdictOf(report).fit, false);
  }
});

Deno.test("an ignored schema is distinguished from a refused one", async () => {
  assert.equal(found(await probed({ schema: "ignored" }), "jsonSchema").support, "ignored");
  assert.equal(found(await probed({ schema: "refused" }), "jsonSchema").support, "refused");
});

Deno.test("reasoning is kept where the server refuses a history without it, and dropped where it does not", async () => {
  const wanted = await probed({ reasoning: "wanted back" });
  assert.equal(learnt(wanted).reasoning, "keep");
  assert.equal(wanted.replies.withReasoning, wanted.replies.count);
  assert.equal(learnt(await probed({ reasoning: "seen" })).reasoning, "drop");
  assert.equal(learnt(await probed({})).reasoning, undefined);
});

Deno.test("a server that never answers fails the chat by the time limit, and sees the client leave", async () => {
  await using server = startFakeServer({ script: [{ kind: "silence" }] });
  const clock = manualClock();
  const running = probe(server, { clock, timeoutMs: 60_000 });
  const request = await server.arrived(0);
  await clock.advance(60_000);
  const report = await running;
  await request.gone;
  assert.equal(probeError(report)?.code, "timeout");
  assert.equal(found(report, "reachable").models, 1);
  assert.deepEqual(report.checks.edit, { kind: "skipped", reason: "no reply came" });
  assert.deepEqual(verdictOf(report), { fit: false, text: "no: no reply came" });
});

Deno.test("one check that never ends takes its share of the time and no more", async () => {
  const clock = manualClock();
  const hanging = Promise.withResolvers<void>();
  const script = probedModel({ window: 8192 }, (body) => {
    if (body.response_format === undefined) return null;
    hanging.resolve();
    return { kind: "silence" };
  });
  await using server = startFakeServer({ models: LIST(8192), script });
  const running = probe(server, { clock, timeoutMs: 60_000 });
  await hanging.promise;
  await clock.advance(15_000);
  const report = await running;
  const outcome = report.checks.jsonSchema;
  assert.equal(outcome.kind === "failed" && outcome.error.code, "timeout");
  assert.equal(found(report, "windowProved").steps.length, 3);
  assert.equal(verdictOf(report).fit, true);
});

Deno.test("a server that sends its replies in one write does not stream, and is not asked to stop", async () => {
  const events = ["1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ", "11, 12, 13, 14, 15, 16, 17, 18, 19, 20"].map((content) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`
  );
  const finish =
    `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":60}}\n\n`;
  const body = `${events.join("")}${finish}data: [DONE]\n\n`;
  const whole: Step = { kind: "status", status: 200, body, headers: { "content-type": "text/event-stream" } };
  const report = await probed({}, {
    change: (request) => /Count from 1 to 100,/.test(request.messages[0].content) ? whole : null,
  });
  assert.equal(found(report, "generation").streaming, "no");
  assert.equal(found(report, "generation").pieces, 1);
  assert.deepEqual(report.checks.stop, { kind: "skipped", reason: "replies come in one piece" });
});

Deno.test("a reply that dies midway fails its own check alone", async () => {
  const dying: Step = { kind: "cut", events: 2, message: { kind: "message", text: "It is a fine day" } };
  const report = await probed({}, { change: (body) => body.response_format === undefined ? null : dying });
  const outcome = report.checks.jsonSchema;
  assert.equal(outcome.kind === "failed" && outcome.error.code, "connection_lost");
  assert.equal(verdictOf(report).fit, true);
});

Deno.test("a first reply that dies midway ends the battery with its error", async () => {
  const dying: Step = { kind: "cut", events: 2, message: { kind: "message", text: "Hello there" } };
  const report = await probed({}, { change: () => dying });
  assert.equal(probeError(report)?.code, "connection_lost");
  assert.equal(report.bodies.length, 2);
});

Deno.test("long prompts that make the server fail keep what was proved before", async () => {
  const dying: Step = { kind: "cut", events: 1, message: { kind: "message", text: "I see" } };
  const report = await probed({ window: 8192 }, {
    change: (body) => body.messages[0].content.length > 12_000 ? dying : null,
  });
  const proof = found(report, "windowProved");
  assert.equal(proof.steps.length, 1);
  assert.match(proof.ended ?? "", /ended its reply before it was complete/);
});

Deno.test("an interrupt keeps what was found and leaves the rest unmeasured", async () => {
  const controller = new AbortController();
  const stopped = new AgentcliError("interrupted", "interrupted");
  const report = await probed({}, {
    battery: { signal: controller.signal },
    change: (body) => {
      if (body.tools === undefined) return null;
      controller.abort(stopped);
      return { kind: "silence" };
    },
  });
  assert.equal(report.interrupted, true);
  assert.equal(found(report, "promptCache").promptTokens > 0, true);
  assert.deepEqual(report.checks.toolCall, { kind: "skipped", reason: "interrupted" });
  assert.deepEqual(report.checks.windowProved, { kind: "skipped", reason: "interrupted" });
  assert.equal(verdictOf(report).fit, null);
  assert.equal(learnt(report).toolCalls, undefined);
});

Deno.test("the broken-off reply is left at its first piece, and the next is asked for", async () => {
  await using server = startFakeServer({ script: probedModel() });
  const clock = denoIo().clock;
  const client = new HttpClient({ env: () => undefined, clock });
  const endpoint = endpointAt(server.baseUrl, { timeout: { connect: 600, firstByte: 600, idle: 600 } });
  const subject = new Subject({ client, endpoint, model: "fake", clock });
  const { signal } = new AbortController();
  const finding = await checkStop(subject, { usualMs: 60_000, signal });
  assert.equal(finding.stopped, true);
  assert.equal(subject.replies, 1);
  assert.match(server.chats()[0]?.json.messages[0].content, /Count from 1 to 1000/);
  assert.equal(server.chats()[1]?.json.messages[0].content, "Say yes.");
  client.close();
});

Deno.test("a server without a list of models still counts as reachable", async () => {
  await using server = startFakeServer({ models: null, script: probedModel() });
  const report = await probe(server);
  assert.equal(found(report, "reachable").models, null);
  assert.equal(verdictOf(report).fit, true);
});

Deno.test("a server that does not listen and a refused key are reported as such", async () => {
  const gone = startFakeServer();
  await gone.close();
  assert.equal(probeError(await probe(gone))?.code, "provider_unreachable");
  const refusal: Step = { kind: "status", status: 401, body: '{"error":{"message":"no"}}' };
  await using server = startFakeServer({ routes: { "/v1/models": refusal } });
  assert.equal(probeError(await probe(server))?.code, "auth_failed");
});

Deno.test("the parameters of the model are sent, and every new prompt begins in its own way", async () => {
  const report = await probed({}, { battery: { params: { temperature: 0.7, top_k: 5 } } });
  for (const { json } of report.bodies) {
    assert.equal(json.temperature, 0.7);
    assert.equal(json.top_k, 5);
    assert.ok(json.max_tokens <= 2048);
    assert.ok(json.stream);
  }
  const begun = report.bodies.filter(({ json }) => json.messages.at(-1).role !== "tool");
  const long = begun.map(({ json }) => json.messages[0].content as string).filter((text) => text.length > 3000);
  const cold = long.filter((text) => !text.endsWith("Say no."));
  assert.equal(new Set(cold.map((text) => text.slice(0, 80))).size, cold.length);
});

Deno.test("a server that replies with another model is reported", async () => {
  const report = await probed({}, {
    change: (body) => /Say hello/.test(body.messages[0].content) ? { kind: "raw", bytes: otherModel() } : null,
  });
  assert.equal(found(report, "chat").answeredAs, "other");
});

function otherModel(): string {
  const body = JSON.stringify({ model: "other", choices: [{ message: { content: "Hello." }, finish_reason: "stop" }] });
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

Deno.test("whether the cache is kept across a tool round is read from the counts of the server", async () => {
  for (
    const [cached, kept, reread] of [[0.98, "yes", 0.02], [0, "no", 1], [null, "unclear", null]] as const
  ) {
    let prompt = 0;
    const report = await probed({}, {
      battery: { history: { keepsReasoning: true, fields: { chat_template_kwargs: { preserve_thinking: true } } } },
      change: (body) => {
        if (body.chat_template_kwargs === undefined) return null;
        const isSecond = body.messages.at(-1).role === "tool";
        const whole = Math.ceil(JSON.stringify(body.messages).length / 4);
        if (!isSecond) prompt = whole;
        else assert.equal(body.messages[1].reasoning_content, "A thought.");
        const usage = { prompt: whole, completion: 3 };
        const told = cached === null ? {} : { cached: isSecond ? Math.floor(prompt * cached) : 0 };
        const message = { kind: "message" as const, reasoning: "A thought.", usage: { ...usage, ...told } };
        return isSecond
          ? { ...message, text: "-37" }
          : { ...message, calls: [{ name: "get_weather", input: { city: "Paris" } }] };
      },
    });
    const round = found(report, "toolRoundCache");
    assert.equal(round.kept, kept);
    assert.equal(round.promptTokens, prompt);
    if (reread === null) assert.equal(round.rereadTokens, null);
    else assert.ok(Math.abs((round.rereadTokens ?? 0) - prompt * reread) <= 1);
  }
});
