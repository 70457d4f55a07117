/** The row of the chat that says what is being waited for, on a real screen. */
import assert from "node:assert/strict";
import { ask, refuse, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { event, EVENTS, JSON_TYPE } from "./helpers/chat_conversation.ts";
import { listenHttp } from "./helpers/fake_http.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

terminalTest("a turn says what it waits for at each step, and at its end what it cost", async () => {
  await using home = await temporaryHome();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const message = say("Some words of an answer and its end.", {
    usage: { prompt: 1400, cached: 1200, completion: 297 },
  });
  const command = "while [ ! -e go ]; do sleep 0.05; done";
  await using server = startFakeServer({
    script: [
      { kind: "gated", gate: first.promise, then: ask(want("shell", { command })) },
      { kind: "paused", events: 4, gate: second.promise, message },
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const args = ["chat", "--permission-mode", "bypassPermissions", "go"];
  await using terminal = await openTerminal(args, { home });
  await server.arrived(0);
  await terminal.shows(/^processing prompt \d.* · 1s · Esc stops\n>/m);
  first.resolve();
  await terminal.shows(/^running while \[ ! -e go \].* 1s · Esc stops\n>/m);
  await terminal.resize(20, 5);
  await terminal.shows(/^running while.*…\n>/m);
  await terminal.resize(80, 24);
  await home.write("go", "");
  await terminal.shows(/^writing \d+s · \d+ tokens.*\n>/m);
  await terminal.shows(/^no data for [3-9]s · Esc stops\n>/m);
  second.resolve();
  const shown = await terminal.shows(/^done in \d+s · .* in \(1\.2k cached\) · \d+ out · .* t\/s\n\n>/m);
  assert.doesNotMatch(shown, /no data|writing/);
});

terminalTest("what the server says it has read of the prompt is shown, and what it had from before", async () => {
  await using home = await temporaryHome();
  const gate = Promise.withResolvers<void>();
  const progress = { total: 12_000, cache: 11_200, processed: 11_600, time_ms: 100 };
  const choices = [{ index: 0, delta: { role: "assistant", content: null }, finish_reason: null }];
  const first = `data: ${JSON.stringify({ model: "fake", choices, prompt_progress: progress })}\n\n`;
  const server = listenHttp("127.0.0.1", async (request, reply) => {
    if (request.method !== "POST") return await reply.whole(200, JSON_TYPE, '{"data":[{"id":"fake"}]}');
    await reply.head(200, EVENTS);
    await reply.chunk(first);
    await gate.promise;
    await reply.chunk(event({ content: "Read it." }) + event({}, "stop") + "data: [DONE]\n\n");
    await reply.end();
  });
  await configure(home, { loc: { baseUrl: `http://127.0.0.1:${server.port}/v1` } });
  await using terminal = await openTerminal(["chat", "hi"], { home });
  await terminal.shows(
    /^processing prompt 11\.6k\/12k · 11\.2k of 12k cached · \d+ t\/s(?: · ~\d+s left)? · Esc stops$/m,
  );
  await terminal.resize(40, 12);
  await terminal.shows(/^processing prompt 11\.6k\/12k · Esc stops$/m);
  gate.resolve();
  await terminal.shows(/Read it\.\ndone in \d+s/);
  await server.close();
});

terminalTest("a retry counts down to its next attempt", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [refuse(429, "slow down", { "retry-after": "3" }), say("Here now.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "hi"], { home });
  await terminal.shows(/again in 3s \(1 of \d+\) · Esc stops\n>/);
  await terminal.shows(/again in 2s \(1 of \d+\) · Esc stops\n>/);
  await terminal.shows(/Here now\.\ndone in [3-9]s/);
});

terminalTest("another model's cost is shown before it is taken", async () => {
  await using home = await temporaryHome();
  await using one = startFakeServer({ script: [say("From one.")] });
  await using two = startFakeServer({ script: [say("From two.")] });
  await configure(home, { one: { baseUrl: one.baseUrl }, two: { baseUrl: two.baseUrl } }, { default_provider: "one" });
  await using terminal = await openTerminal(["chat", "hi"], { home });
  await terminal.shows(/From one\./);
  await terminal.type("/model two:fake");
  await terminal.press("Enter");
  await terminal.shows(/another model: the server has to process about [\d.]+k? tokens again\nmodel: two:fake/);
});

terminalTest("what shortened results and a summary cost is shown before the server has to process them", async () => {
  await using home = await temporaryHome();
  const lines = Array.from({ length: 300 }, (_, index) => `line ${index} of a long file`).join("\n");
  for (const name of ["0", "1", "2", "3", "4"]) await home.write(name, lines);
  await using server = startFakeServer({
    script: (request) => {
      const last = request.json.messages.at(-1);
      if (request.json.tools === undefined) return say("They read a file.", { usage: null });
      if (last.role === "tool" || !/read/.test(last.content)) return say("Noted.", { usage: null });
      return { ...ask(want("read", { path: last.content.at(-1) })), usage: null } as Step;
    },
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 9000 }] } });
  await using terminal = await openTerminal(["chat", "read 0"], { home, rows: 40 });
  const cost = "the server has to process about [\\d.]+k? tokens again";
  for (const name of ["1", "2", "3", "4"]) {
    await terminal.shows(/^done in .*\n\n>$/m);
    await terminal.press("C-l");
    // Otherwise the end of this turn is taken for that of the next.
    await terminal.shows(/^(?![^]*done in )/);
    await terminal.type(`read ${name}`);
    await terminal.press("Enter");
  }
  await terminal.shows(new RegExp(`old tool results were shortened\n {2}${cost}`), { all: true });
  await terminal.shows(/^done in .*\n\n>$/m);
  await terminal.type("/compact");
  await terminal.press("Enter");
  await terminal.shows(new RegExp(`summarizing: ${cost}[^]*summarized the older part`));
});
