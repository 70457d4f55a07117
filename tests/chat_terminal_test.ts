import assert from "node:assert/strict";
import { BACKENDS } from "../src/provider/backends/backends.ts";
import { ask, say, startFakeServer, want } from "./helpers/fake_server.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

terminalTest("an answer is rendered, the status tells where the model runs, and Ctrl-D exits with 0", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("# Title\n\nSome **bold** words.\n\n- item\n")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat"], { home });
  await terminal.shows(/local · loc:fake · /);
  await terminal.type("hello");
  await terminal.press("Enter");
  const shown = await terminal.shows(/- item/);
  assert.match(shown, /^> hello$/m);
  assert.match(shown, /^Title$/m);
  assert.match(shown, /^Some bold words\.$/m);
  await terminal.press("C-d");
  assert.match(await terminal.shows(/EXIT \d+/), /continue with: agentcli chat --resume [0-9a-f]{8}\nEXIT 0/);
});

terminalTest("Ctrl-C stops the turn, gives back what waited, and again it leaves", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [{ kind: "silence" }, say("Second answer.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "first"], { home });
  await server.arrived(0);
  await terminal.type("second");
  await terminal.press("Enter");
  await terminal.shows(/steering: second/);
  await terminal.press("C-c");
  await terminal.shows(/stopped[^]*^> second$/m);
  await terminal.press("Enter");
  await terminal.shows(/Second answer\./);
  await terminal.press("C-c", "C-c");
  await terminal.shows(/EXIT 0/);
});

terminalTest("what is typed while a turn runs is sent after it, in order", async () => {
  await using home = await temporaryHome();
  const gate = Promise.withResolvers<void>();
  await using server = startFakeServer({
    script: [{ kind: "gated", gate: gate.promise, then: say("Answer one.") }, say("Answer two."), say("Answer three.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "one"], { home });
  await server.arrived(0);
  await terminal.type("two");
  await terminal.press("Enter");
  await terminal.type("three");
  await terminal.press("Enter");
  await terminal.shows(/steering: two\nsteering: three/);
  gate.resolve();
  await terminal.shows(/Answer one\.[^]*> two[^]*Answer two\.[^]*> three[^]*Answer three\./);
});

terminalTest("a command that only tells something does not wait for the turn that runs", async () => {
  await using home = await temporaryHome();
  const gate = Promise.withResolvers<void>();
  await using server = startFakeServer({
    script: [{ kind: "gated", gate: gate.promise, then: say("Answer one.") }, say("Answer two.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "one"], { home });
  await server.arrived(0);
  await terminal.type("two");
  await terminal.press("Enter");
  await terminal.type("/context");
  await terminal.press("Enter");
  await terminal.shows(/> \/context[^]*system prompt[^]*processing prompt[^]*steering: two/);
  await terminal.type("/permissions never");
  await terminal.press("Enter");
  await terminal.shows(/there is no mode never[^]*steering: two/);
  gate.resolve();
  await terminal.shows(/Answer one\.[^]*> two[^]*Answer two\./);
});

terminalTest(
  "asking the servers for their models is stopped by Escape and by Ctrl-C, and the chat continues",
  async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: () => say("Still here.") });
    // Takes connections and says nothing.
    using mute = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    await configure(home, {
      loc: { baseUrl: server.baseUrl },
      mute: { baseUrl: `http://127.0.0.1:${mute.addr.port}/v1` },
    }, { default_provider: "loc" });
    await using terminal = await openTerminal(["chat"], { home });
    await terminal.shows(/local · loc:fake/);
    for (const key of ["Escape", "C-c"]) {
      await terminal.press("C-l");
      await terminal.type("/models");
      await terminal.press("Enter");
      await terminal.shows(/asking the servers/);
      await terminal.press(key);
      assert.doesNotMatch(await terminal.shows(/stopped/), /asking|mute/);
    }
    await terminal.type("hello");
    await terminal.press("Enter");
    await terminal.shows(/Still here\./);
  },
);

terminalTest(
  "looking for model servers at the start is stopped by Ctrl-C, and a model can be chosen by name",
  async () => {
    await using home = await temporaryHome();
    using mute = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const baseUrl = `http://127.0.0.1:${mute.addr.port}/v1`;
    await configure(home, { one: { baseUrl }, two: { baseUrl } });
    await using terminal = await openTerminal(["chat"], { home });
    await terminal.shows(/looking for model servers/);
    await terminal.press("C-c");
    assert.doesNotMatch(await terminal.shows(/stopped/), /looking|Which model/);
    await terminal.type("/model demo");
    await terminal.press("Enter");
    await terminal.shows(/local · demo:demo/);
  },
);

terminalTest("a paste of many lines is one message", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Read it.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat"], { home });
  await terminal.shows(/local · loc:fake/);
  const pasted = Array.from({ length: 3000 }, (_, index) => `line ${index}`).join("\n");
  await terminal.paste(pasted);
  await terminal.shows(/> \[pasted 3000 lines\]/);
  await terminal.press("Enter");
  await terminal.shows(/Read it\./);
  assert.equal(server.chats().length, 1);
  assert.equal(server.chats()[0]?.json.messages.at(-1).content, pasted);
});

terminalTest("a server that breaks off mid-answer is reported, and the chat continues", async () => {
  await using home = await temporaryHome();
  const broken = { kind: "cut", events: 3, message: { kind: "message", text: "I was about to say more" } } as const;
  await using server = startFakeServer({
    script: (request) => request.json.messages.at(-1).content === "again" ? say("Here I am.") : broken,
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "hi"], { home });
  await terminal.shows(/before it was complete/);
  await terminal.type("again");
  await terminal.press("Enter");
  await terminal.shows(/Here I am\./);
});

terminalTest("with nothing configured the demo is offered and works", async () => {
  await using home = await temporaryHome();
  await home.write("README.md", "# Sample\n");
  // Servers that run on this machine are not found.
  const usual = BACKENDS.flatMap(({ ports }) => ports.flatMap((port) => [`127.0.0.1:${port}`, `[::1]:${port}`]));
  const permissions = ["-A", `--deny-net=${usual.join(",")}`];
  await using terminal = await openTerminal(["chat"], { home, permissions });
  await terminal.shows(
    /^ {2}agentcli models suggest {2,}models that fit[^]*^ {2}agentcli providers add --help {2,}[^]*Which model\?[^]*the demo/m,
  );
  await terminal.type("demo");
  await terminal.press("Enter");
  await terminal.shows(/local · demo:demo/);
  await terminal.type("Read README.md");
  await terminal.press("Enter");
  await terminal.shows(/headings: Sample/);
  await terminal.press("C-d");
  const shown = await terminal.shows(/continue with: agentcli chat --resume \w{8} --model demo:demo\nEXIT 0/);
  const [, id = ""] = /--resume (\w{8})/.exec(shown) ?? [];
  await using later = await openTerminal(["chat", "--resume", id, "--model", "demo:demo"], { home });
  await later.shows(/demo:demo {2}local, window of/);
});

terminalTest(
  "a default that is not configured is named as the cause, with the ways on, and /model is one",
  async () => {
    await using home = await temporaryHome();
    await configure(home, { near: { baseUrl: "http://127.0.0.1:1/v1" } }, { default_provider: "gone" });
    await using terminal = await openTerminal(["chat"], { home });
    await terminal.shows(/default_provider is gone, which is not configured; configured: near/);
    await terminal.shows(/config set default_provider near[^]*\/model\s+chooses[^]*\/model\s+demo/);
    await terminal.type("/model demo");
    await terminal.press("Enter");
    await terminal.shows(/local · demo:demo/);
  },
);

terminalTest("a tainted session is not sent to a remote model; a fork from before is offered", async () => {
  await using home = await temporaryHome();
  await home.write(".env", "KEY=canary-71c2f0aa9b\n");
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await using near = startFakeServer({ script: [ask(want("read", { path: ".env" })), say("I read it.")] });
  await using far = startFakeServer({ host: "127.0.0.2", script: [say("Hello from afar.")] });
  await configure(home, { near: { baseUrl: near.baseUrl }, far: { baseUrl: far.baseUrl } }, {
    default_provider: "near",
  });
  await using terminal = await openTerminal(["chat", "read .env"], { home });
  await terminal.shows(/I read it\.[^]*local · near:fake · no-cloud/);
  await terminal.type("/model far:fake");
  await terminal.press("Enter");
  await terminal.shows(/is remote,\s+so\s+it\s+cannot\s+continue/);
  await terminal.press("Down", "Enter");
  await terminal.shows(/remote · far:fake · \d/);
  await terminal.type("hello");
  await terminal.press("Enter");
  await terminal.shows(/Hello from afar\./);
  assert.doesNotMatch(new TextDecoder().decode(await new Blob(far.received() as BlobPart[]).arrayBuffer()), /canary/);
  const history = await Deno.readTextFile(`${home.agentcliHome}/history`).catch(() => "");
  assert.doesNotMatch(history, /canary/);
});

terminalTest("what was sent right before the chat is left is in the history, and no temporary file stays", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => ({ kind: "silence" }) });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  for (const [index, keys] of [["C-d"], ["C-c", "C-c"]].entries()) {
    await using terminal = await openTerminal(["chat"], { home });
    await terminal.shows(/local · loc:fake/);
    await terminal.type(`question ${index}`);
    await terminal.press("Enter", ...keys);
    await terminal.shows(/EXIT \d+/);
  }
  assert.equal(await Deno.readTextFile(`${home.agentcliHome}/history`), '"question 0"\n"question 1"\n');
  const names = [...Deno.readDirSync(home.agentcliHome)].map(({ name }) => name);
  assert.deepEqual(names.filter((name) => name.endsWith(".tmp")), []);
});

terminalTest("a session that is not there leaves the chat with its model", async () => {
  await using home = await temporaryHome();
  await using terminal = await openTerminal(["chat", "--model", "demo"], { home });
  await terminal.shows(/local · demo:demo/);
  await terminal.type("/resume zzz");
  await terminal.press("Enter");
  assert.match(await terminal.shows(/no session "?zzz[^]*^>$/m), /^local · demo:demo/m);
});

terminalTest("history is searched in the next chat, and a path is completed", async () => {
  await using home = await temporaryHome();
  await home.write("sources/alpha.ts", "");
  await using server = startFakeServer({ script: (_request) => say("Yes.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  {
    await using terminal = await openTerminal(["chat"], { home });
    await terminal.shows(/local · loc:fake/);
    await terminal.type("a very special question");
    await terminal.press("Enter");
    await terminal.shows(/Yes\./);
    await terminal.press("C-d");
    await terminal.shows(/EXIT 0/);
  }
  await using terminal = await openTerminal(["chat"], { home });
  await terminal.shows(/local · loc:fake/);
  await terminal.press("C-r");
  await terminal.type("special");
  await terminal.shows(/search: special[^]*a very special question/);
  await terminal.press("Enter");
  await terminal.shows(/^> a very special question$/m);
  await terminal.press("C-u");
  await terminal.type("see @so");
  await terminal.shows(/@sources\//);
  await terminal.press("Tab");
  // The list of the directory, not that of the search before it, which may have the file too.
  await terminal.shows(/^> see @sources\/\n> @sources\/alpha\.ts$/m);
  await terminal.press("Tab");
  await terminal.shows(/^> see @sources\/alpha\.ts$/m);
});
