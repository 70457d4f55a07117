import assert from "node:assert/strict";
import { say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

Deno.test("/think tells each model in its own words how much to reason", async () => {
  await using server = startFakeServer({ script: () => say("Fine.") });
  const cases: [string, Record<string, unknown>, string, (body: Record<string, unknown>) => unknown, unknown][] = [
    ["qwen3-8b", {}, "off", (body) => body["chat_template_kwargs"], { enable_thinking: false }],
    ["qwen3-8b", {}, "on", (body) => body["chat_template_kwargs"], { enable_thinking: true }],
    ["gpt-oss-20b", {}, "high", (body) => body["reasoning_effort"], "high"],
    ["gpt-oss-20b", {}, "off", (body) => body["reasoning_effort"], "low"],
    ["deepseek-v3.2", {}, "low", (body) => body["chat_template_kwargs"], { thinking: true }],
  ];
  for (const [id, more, word, field, expected] of cases) {
    await using home = await temporaryHome();
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id, ...more }] } });
    const done = await runInProcess(["chat"], { home, stdin: `before\n/think ${word}\nhello\n` });
    assert.equal(done.code, 0, done.stderr);
    const [before, after] = server.chats().slice(-2).map(({ json }) => json);
    assert.deepEqual(field(after), expected, `${id} ${word}`);
    assert.notDeepEqual(field(before), expected, `${id} ${word}: control`);
    assert.deepEqual(after.messages.slice(0, before.messages.length), before.messages, "the beginning stays");
  }
  await using home = await temporaryHome();
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const wrong = await runInProcess(["chat"], { home, stdin: "/think hard\n" });
  assert.match(wrong.stderr, /\/think takes on, off, low, medium, high, not "hard"/);
});

Deno.test("/retry sends the last prompt again as if it had not been answered", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: (request) => say(`Answer ${request.index}.`) });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat"], { home, stdin: "/retry\none\ntwo\n/retry\n" });
  assert.match(done.stderr, /there is no prompt to send again/);
  const words = server.chats().at(-1)?.json.messages.slice(1).map(({ content }: { content: string }) => content);
  assert.deepEqual(words, ["one", "Answer 0.", "two"]);
  assert.equal(server.chats().length, 3);
});

Deno.test("/compact says what the summary keeps; /status and /skills print; a leading path is no command", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: ({ text }) => /Write the summary now/.test(text) ? say("Summary.") : say(`${"Long words. ".repeat(300)}`),
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 8000 }] } });
  const typed = ["one", "two", "three", "/compact the port number", "/status", "/skills", "/tmp is full, why?"];
  const done = await runInProcess(["chat"], { home, stdin: typed.join("\n") });
  assert.equal(done.code, 0, done.stderr);
  const summary = server.chats().find(({ text }) => text.includes("Write the summary now"));
  assert.match(summary?.json.messages.at(-1).content, /Write the summary now\. Above all keep: the port number$/);
  assert.match(done.stderr, /model +loc:fake, local\n +window +[\d.]+k? of [\d.]+k tokens/);
  assert.match(done.stderr, /no workflows and no skills/);
  assert.equal(server.chats().at(-1)?.json.messages.at(-1).content, "/tmp is full, why?");
});

terminalTest(
  "? on an empty line shows the keys, /copy hands the answer to the terminal, /init asks for AGENTS.md",
  async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: () => say("Is it? Yes.") });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await using terminal = await openTerminal(["chat"], { home, rows: 40 });
    await terminal.shows(/local · loc:fake/);
    await terminal.press("?");
    await terminal.shows(/> \/help keys[^]*Esc Esc/);
    await terminal.type("is it?");
    await terminal.press("Enter");
    await terminal.shows(/^> is it\?$[^]*Yes\./m);
    await terminal.type("/copy");
    await terminal.press("Enter");
    await terminal.shows(/in the clipboard/);
    await terminal.type("/init");
    await terminal.press("Enter");
    await terminal.shows(/write AGENTS\.md[^]*Yes\./);
    assert.match(server.chats().at(-1)?.json.messages.at(-1).content, /^Look at this project[^]*AGENTS\.md/);
  },
);

terminalTest("/help is two columns whose rows stay in them, below each other on a narrow terminal", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer();
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat"], { home, columns: 60, rows: 70 });
  await terminal.shows(/^local/m);
  await terminal.type("/help");
  await terminal.press("Enter");
  const wide = await terminal.shows(/^ {2}Ctrl-D {2,}exit$/m);
  assert.match(wide, /^ {2}\/think {9}set how much .*\n {17}\w/m);
  const list = (shown: string) => shown.slice(shown.indexOf("  /help "), shown.indexOf("  Ctrl-D")).split("\n");
  assert.deepEqual(list(wide).filter((line) => /^\S/.test(line)), []);
  await terminal.type("/clear");
  await terminal.press("Enter");
  await terminal.resize(40, 90);
  await terminal.type("/help keys");
  await terminal.press("Enter");
  await terminal.shows(/^ {2}Ctrl-D\n {4}exit$/m);
});
