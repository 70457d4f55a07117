import assert from "node:assert/strict";
import { say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, runProgram, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

terminalTest("a line without a command opens the chat: bare, with a prompt, with short options", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: (request) => say(`Answer ${request.index + 1}.`) });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  {
    await using bare = await openTerminal([], { home });
    await bare.shows(/local · loc:fake · /);
    await bare.type("hello");
    await bare.press("Enter");
    await bare.shows(/Answer 1\./);
    await bare.press("C-d");
    await bare.shows(/EXIT 0/);
  }
  {
    await using prompted = await openTerminal(["-c", "-m", "loc", "and now"], { home });
    await prompted.shows(/Answer 2\./);
    assert.match(server.chats()[1]?.text ?? "", /hello[^]*Answer 1[^]*and now/);
  }
});

Deno.test("on a terminal, a misspelled command is not taken for a prompt, and help stays help", async () => {
  await using home = await temporaryHome();
  const misspelled = await runInProcess(["docter"], { home, terminal: true });
  assert.equal(misspelled.code, 2);
  assert.match(misspelled.stderr, /did you mean doctor/);
  for (const terminal of [true, false]) {
    const ofOthers = await runInProcess(["exec", "fix it"], { home, terminal });
    assert.equal(ofOthers.code, 2);
    assert.match(ofOthers.stderr, /unknown command "exec"\n {2}agentcli run "<prompt>" runs one turn$/m);
  }
  const help = await runInProcess(["--help"], { home, terminal: true });
  assert.equal(help.code, 0);
  assert.match(help.stdout, /^Usage: agentcli <command>[^\n]*\n +agentcli \[<prompt>\] \[options\]/m);
  const several = await runInProcess(["fix", "it"], { home, terminal: true });
  assert.match(several.stderr, /"it" is one more \(quote arguments that contain spaces\)/);
});

Deno.test("without a terminal, the bare program prints its help and exits with 2", async () => {
  await using home = await temporaryHome();
  const bare = await runInProcess([], { home });
  assert.equal(bare.code, 2);
  assert.match(bare.stdout, /^Usage: agentcli <command>/m);
  const prompt = await runInProcess(["fix it"], { home });
  assert.equal(prompt.code, 2);
  assert.match(prompt.stderr, /agentcli run "<prompt>"/);
});

Deno.test("the short options of a run are those of its long ones", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => say("Fine.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } }, {});
  const ran = await runProgram(["run", "-m", "loc:fake", "one"], { home });
  assert.equal(ran.code, 0, ran.stderr);
  const again = await runProgram(["-p", "two", "-c", "-m", "loc:fake"], { home });
  assert.equal(again.code, 0, again.stderr);
  assert.match(server.chats()[1]?.text ?? "", /one[^]*Fine[^]*two/);
  const alone = await runProgram(["run", "--resume"], { home });
  assert.equal(alone.code, 2);
  assert.match(alone.stderr, /--resume needs a session/);
});
