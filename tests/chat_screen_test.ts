import assert from "node:assert/strict";
import { ask, say, startFakeServer, want } from "./helpers/fake_server.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

terminalTest("a terminal of 20 by 5 shows the line, the status and the answer", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Some words that have to wrap.\n\nLast words.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat"], { home, columns: 20, rows: 5 });
  await terminal.shows(/^local · loc:fake/m);
  await terminal.type("hi");
  await terminal.press("Enter");
  const shown = await terminal.shows(/Last words\.[^]*^>$[^]*^local/m);
  assert.ok(shown.trimEnd().split("\n").length <= 5);
  assert.match(await terminal.screen({ all: true }), /Some words that\nhave to wrap\./);
});

terminalTest("the status keeps the place, no-cloud and a mode that asks nothing at any width", async () => {
  await using home = await temporaryHome();
  await home.write(".env", "KEY=canary-71c2f0aa9b\n");
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await using server = startFakeServer({ script: [ask(want("read", { path: ".env" })), say("I read it.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const args = ["chat", "--permission-mode", "bypassPermissions", "read .env"];
  await using terminal = await openTerminal(args, { home, columns: 100 });
  await terminal.shows(/I read it\.[^]*local · loc:fake · no-cloud · bypass · .* of /);
  assert.match(await terminal.screen({ styles: true }), /\[31m(?:.\[49m)?bypass/);
  await terminal.resize(38, 20);
  await terminal.shows(/^local · loc:fake · no-cloud · bypass$/m);
  await terminal.resize(34, 20);
  await terminal.shows(/^local · fake · no-cloud · bypass$/m);
  await terminal.resize(22, 5);
  await terminal.shows(/^local no-cloud bypass$/m);
});

terminalTest("the speed of a model is not shown for the session that begins after it", async () => {
  await using home = await temporaryHome();
  const gate = Promise.withResolvers<void>();
  const message = say("Some words and their end.");
  await using server = startFakeServer({ script: [{ kind: "paused", events: 3, gate: gate.promise, message }] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "hi"], { home });
  await terminal.shows(/\d t\/s/);
  gate.resolve();
  await terminal.shows(/their end\.[^]*\d t\/s/);
  await terminal.type("/clear");
  await terminal.press("Enter");
  assert.doesNotMatch(await terminal.shows(/a new session.*\n\n>$/m), /\d t\/s/);
  // Scrolled back to is what was said, without the rows that were live.
  const all = await terminal.screen({ all: true });
  assert.match(all, /their end\.[^]*> \/clear/);
  assert.equal(all.match(/^local · loc:fake/gm)?.length, 1, all);
  assert.doesNotMatch(all, /beginning a new session/);
});

terminalTest("a resize while an answer streams leaves the line and the status once at the end", async () => {
  await using home = await temporaryHome();
  const gate = Promise.withResolvers<void>();
  await using server = startFakeServer({
    script: [{ kind: "gated", gate: gate.promise, then: say("The end.") }],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "hi"], { home });
  await server.arrived(0);
  await terminal.shows(/processing prompt/);
  await terminal.resize(40, 12);
  await terminal.resize(100, 30);
  gate.resolve();
  const shown = await terminal.shows(/The end\.[^]*^>$/m);
  assert.equal(shown.match(/^local · loc:fake/gm)?.length, 1, shown);
});

terminalTest("a paragraph that streams while the terminal is resized stands there once", async () => {
  await using home = await temporaryHome();
  const gate = Promise.withResolvers<void>();
  const words = Array.from({ length: 50 }, (_, index) => `word${index}`).join(" ");
  const message = say(`A **bold** beginning, ${words}, and the end.`);
  const filling = say(Array.from({ length: 30 }, (_, index) => `- item ${index}`).join("\n"));
  const paused = { kind: "paused", events: 40, gate: gate.promise, message } as const;
  await using server = startFakeServer({ script: [filling, paused] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "fill"], { home });
  await terminal.shows(/item 29/);
  await terminal.type("hi");
  await terminal.press("Enter");
  await terminal.shows(/word20/);
  // The first row in each width: a terminal that breaks rows itself does so within words.
  for (const [columns, last] of [[50, 4], [100, 12], [40, 2], [90, 10]] as const) {
    await terminal.resize(columns, 24);
    await terminal.shows(new RegExp(`^A bold beginning, word0 .*word${last}$`, "m"));
  }
  gate.resolve();
  await terminal.shows(/and the end\./);
  const shown = await terminal.screen({ all: true });
  assert.equal(shown.match(/A (?:\*\*)?bold/g)?.length, 1, shown);
  assert.equal(shown.match(/word9\b/g)?.length, 1, shown);
  assert.equal(shown.match(/^local · loc:fake/gm)?.length, 1, shown);
  assert.match(shown, /^A bold beginning, .*word10$/m);
});

terminalTest(
  "sequences of a model and of a file name do not reach the terminal, and NO_COLOR shows no color",
  async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({
      script: [say("before \x1b[2J\x1b]0;owned\x07 after\n\n```\n\x1b[31mred\n```\n\n# Heading")],
    });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await using terminal = await openTerminal(["chat", "hi"], { home, env: { NO_COLOR: "1" } });
    const shown = await terminal.shows(/# Heading/);
    assert.match(shown, /before \\x1b\[2J\\x1b\]0;owned\\x07 after/);
    assert.match(shown, /\\x1b\[31mred/);
    assert.ok(!(await terminal.screen({ styles: true })).includes("\x1b[3"));
  },
);
