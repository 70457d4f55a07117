import assert from "node:assert/strict";
import { ask, say, startFakeServer, want } from "./helpers/fake_server.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

const PLAN = ["--permission-mode", "plan"];
const PROPOSED = say("I looked.\n\n## Plan\n\n1. Write a.txt\n");

Deno.test({
  name: "plan mode changes nothing, ends with a plan, and continues when it is accepted",
  ignore: !HAS_TMUX,
  fn: async () => {
    await using home = await temporaryHome();
    const write = ask(want("write", { path: "a.txt", content: "new\n" }));
    await using server = startFakeServer({ script: [write, PROPOSED, PROPOSED, write, say("Done.")] });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await using terminal = await openTerminal(["chat", ...PLAN, "add a file"], { home });
    await terminal.shows(/Plan$[^]*Go on with this plan\?[^]*1 y {2}yes, and ask[^]*3 n {2}no, drop it/m);
    await assert.rejects(home.read("a.txt"));
    assert.match(server.chats()[0]?.json.messages.at(-1).content, /^add a file\n\n\[Plan mode: change nothing/);
    // Words change the plan.
    await terminal.type("name it b.txt");
    await terminal.press("Enter");
    await terminal.shows(/> name it b\.txt[^]*Go on with this plan\?/);
    assert.match(server.chats()[2]?.json.messages.at(-1).content, /^name it b\.txt\n\n\[Plan mode/);
    await terminal.press("Down", "Down", "Enter");
    await terminal.shows(/> Carry out the plan\.[^]*Done\.[^]*acceptEdits/);
    assert.equal(await home.read("a.txt"), "new\n");
    const [first, last] = [server.chats()[0]?.json, server.chats()[3]?.json];
    assert.match(last.messages.at(-1).content, /^Carry out the plan\.\n\n\[Plan mode is over/);
    assert.deepEqual(last.tools, first.tools, "the tools stay as they were");
    assert.deepEqual(last.messages.slice(0, 2), first.messages, "and so does the beginning");
  },
});

Deno.test("an answer without a plan asks nothing, and a plan is dropped", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("It is a pump."), PROPOSED, say("Fine.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat", ...PLAN], {
    home,
    stdin: "what is it?\nplan it\nn\nhello\n",
    terminal: true,
  });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(done.stderr.split("Go on with this plan?").length, 2);
  assert.match(done.stderr, /the plan was dropped; the mode is default/);
  assert.match(server.chats()[2]?.json.messages.at(-1).content, /^hello\n\n\[Plan mode is over/);
});
