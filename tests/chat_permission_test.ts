import assert from "node:assert/strict";
import { ask, say, startFakeServer, want } from "./helpers/fake_server.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

terminalTest("a change is shown as a diff before it is allowed, and undo takes it back", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "one\ntwo\n");
  await using server = startFakeServer({
    script: [
      ask(want("read", { path: "a.txt" })),
      ask(want("edit", { path: "a.txt", old: "two", new: "three" })),
      say("Changed."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "change it"], { home });
  const asked = await terminal.shows(/Allow Edit\?/);
  assert.match(asked, /^2 -two$/m);
  assert.match(asked, /^2 \+three$/m);
  assert.equal(await home.read("a.txt"), "one\ntwo\n");
  // A letter that comes too soon is no answer; whoever moves in the list looks at it.
  await terminal.press("Down", "Enter");
  await terminal.shows(/Changed\./);
  assert.equal(await home.read("a.txt"), "one\nthree\n");
  await terminal.type("/diff");
  await terminal.press("Enter");
  await terminal.shows(/> \/diff[^]*\+three/);
  await terminal.type("/undo");
  await terminal.press("Enter");
  // The path may be so long that it is broken.
  await terminal.shows(/restored /);
  assert.equal(await home.read("a.txt"), "one\ntwo\n");
});

terminalTest("nobody is asked about changes that cannot be made or change nothing", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "one\n");
  await using server = startFakeServer({
    script: [
      ask(want("edit", { path: "a.txt", old: "three", new: "two" })),
      ask(want("read", { path: "a.txt" })),
      ask(want("write", { path: "a.txt", content: "one\n" })),
      say("It stays."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "change it"], { home });
  const shown = await terminal.shows(/It stays\./);
  assert.match(shown, /\* Edit .*a\.txt\n {2}failed: .*a\.txt/);
  assert.match(shown, /\* Write .*a\.txt\n.*nothing was written/);
});

terminalTest("a call that the person denies is reported as theirs to the model, with the words they gave", async () => {
  await using home = await temporaryHome();
  const joined = (command: string) => ask(want("shell", { command }));
  await using server = startFakeServer({ script: [joined("ls && id"), joined("ls && pwd"), say("Neither, then.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "run it"], { home });
  assert.equal((await terminal.shows(/Allow Bash\?/)).match(/ls && id/g)?.length, 1);
  await terminal.press("Up", "Enter");
  await terminal.shows(/denied: You said no\.\n[^]*Allow Bash\?/);
  await terminal.type("too risky");
  await terminal.shows(/Enter: no, this instead[^]*^> too risky$/m);
  await terminal.press("Enter");
  assert.match(await terminal.shows(/Neither, then\./), /denied: You said no: too risky/);
  assert.match(server.chats()[2]?.text ?? "", /They said: too risky/);
});

terminalTest("always is said twice, holds in this project alone, and is removed by /permissions", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: (request) =>
      request.json.messages.at(-1).role === "tool"
        ? say("Ran.")
        : ask(want("shell", { command: "echo one && echo two" })),
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const rules = () => Deno.readTextFile(`${home.agentcliHome}/permissions.json`).catch(() => "");
  {
    await using terminal = await openTerminal(["chat", "run it"], { home });
    await terminal.shows(/yes, always in this project {2}Bash\(echo one\), Bash\(echo two\)/);
    // Its place in the list, not its letter: nothing that is typed too soon is an answer.
    await terminal.press("Down", "Down", "Down", "Enter");
    await terminal.shows(/Allow always in this project: Bash\(echo one\), Bash\(echo two\)\?/);
    assert.equal(await rules(), "");
    await terminal.press("y");
    await terminal.shows(/Ran\./);
  }
  assert.deepEqual(Object.values(JSON.parse(await rules()).projects), [{
    allow: ["Bash(echo one)", "Bash(echo two)"],
  }]);
  assert.doesNotMatch(await Deno.readTextFile(`${home.agentcliHome}/providers.yaml`), /echo/);
  {
    await using terminal = await openTerminal(["chat", "again"], { home });
    assert.doesNotMatch(await terminal.shows(/Ran\./), /Allow Bash/);
    await terminal.type("/permissions remove 1");
    await terminal.press("Enter");
    await terminal.shows(/removed: Bash\(echo one\)[^]*1 allow Bash\(echo two\) {2}always in this project/);
    await terminal.type("again");
    await terminal.press("Enter");
    await terminal.shows(
      /echo one {2}no rule allows it\n {2}echo two {2}allowed by Bash\(echo two\)\n(?:waiting.*\n)?Allow Bash/,
    );
  }
  await Deno.mkdir(`${home.project}/other/.git`, { recursive: true });
  await using other = await openTerminal(["chat", "run it", "-C", "other"], { home });
  await other.shows(/Allow Bash\?/);
});

terminalTest("each part of a command is allowed for as long as the person says", async () => {
  await using home = await temporaryHome();
  const command = "echo one && echo two && echo three > out";
  await using server = startFakeServer({
    script: (request) => request.json.messages.at(-1).role === "tool" ? say("Ran.") : ask(want("shell", { command })),
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "run it"], { home, rows: 40 });
  const shown = await terminal.shows(/echo three > out {2}asked each time[^]*4? ?p {2}yes, and choose for each part/);
  assert.doesNotMatch(shown, /always|for this chat/);
  await terminal.press("Down", "Down", "Enter");
  await terminal.shows(/Part 1 of 2: Bash\(echo one\)/);
  await terminal.press("Down", "Down", "Enter");
  await terminal.shows(/Part 2 of 2: Bash\(echo two\)/);
  await terminal.press("Down", "Down", "Down", "Enter");
  await terminal.shows(/Allow always in this project: Bash\(echo two\)\?/);
  await terminal.press("y");
  await terminal.shows(/Ran\./);
  assert.equal((await home.read("out")).trim(), "three");
  const { projects } = JSON.parse(await Deno.readTextFile(`${home.agentcliHome}/permissions.json`));
  assert.deepEqual(Object.values(projects), [{ allow: ["Bash(echo two)"] }]);
  await terminal.type("again");
  await terminal.press("Enter");
  await terminal.shows(
    /> again[^]*echo one {2}allowed by Bash\(echo one\)\n {2}echo two {2}allowed by Bash\(echo two\)\n {2}echo three > out {2}asked/,
  );
});

terminalTest("parts of a command that no rule can cover are named, and nothing is offered for good", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [ask(want("shell", { command: "ls && rm -rf build" })), say("No.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "clean"], { home });
  const shown = await terminal.shows(/Allow Bash\?[^]*no \(or type/);
  assert.match(shown, /rm -rf build {2}asked each time: it deletes without asking/);
  assert.doesNotMatch(shown, /always|for this chat/);
  await terminal.press("Up", "Enter");
  await terminal.shows(/No\./);
});

terminalTest("a question leaves a draft its keys, and takes no paste for an answer", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "one\n");
  const gate = Promise.withResolvers<void>();
  await using server = startFakeServer({
    script: [
      { kind: "gated", gate: gate.promise, then: ask(want("write", { path: "b.txt", content: "new\n" })) },
      say("As you say."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "change it"], { home });
  await server.arrived(0);
  await terminal.type("also f");
  await terminal.shows(/^> also f$/m);
  gate.resolve();
  await terminal.shows(/Allow Write\? {2}answer, or finish typing/);
  await terminal.type("ix y");
  await terminal.shows(/^> also fix y$/m);
  await terminal.resize(40, 12);
  await terminal.shows(/Allow Write\?[^]*^> also fix y$/m);
  await terminal.resize(80, 24);
  await terminal.press("C-u");
  await terminal.paste("y\n");
  await terminal.shows(/^> y$/m);
  await terminal.press("Enter");
  await terminal.shows(/one letter on the empty line/);
  await terminal.press("Enter", "Enter");
  await assert.rejects(Deno.stat(`${home.project}/b.txt`));
  await terminal.type("look, it is too big");
  await terminal.press("Enter");
  await terminal.shows(/As you say\./);
  await assert.rejects(Deno.stat(`${home.project}/b.txt`));
  assert.match(server.chats()[1]?.text ?? "", /They said: look, it is too big/);
  assert.equal(await Deno.readTextFile(`${home.agentcliHome}/permissions.json`).catch(() => ""), "");
});

terminalTest("the whole of a long change can be read before it is allowed, on a small terminal too", async () => {
  await using home = await temporaryHome();
  const content = Array.from({ length: 400 }, (_, index) => `line${index + 1}`).join("\n") + "\n";
  await using server = startFakeServer({
    script: [ask(want("write", { path: "long.txt", content })), say("Written.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "write"], { home });
  await terminal.shows(/^ {2}1 \+line1$[^]*rows 1-\d+ of 40\d[^]*Allow Write\?/m);
  for (let page = 0; page < 40; page++) await terminal.press("NPage");
  await terminal.shows(/^400 \+line400$/m);
  await terminal.resize(20, 5);
  assert.match(await terminal.shows(/\+line[^]*y yes[^]*^>$[^]*^local/m), /^\d+ \+line/m);
  await terminal.press("Down");
  await terminal.type("y");
  await terminal.shows(/Written\./);
  assert.equal(await home.read("long.txt"), content);
});

terminalTest("on a terminal that draws nothing Enter alone is no answer, and words go to the model", async () => {
  await using home = await temporaryHome();
  const write = ask(want("write", { path: "b.txt", content: "new\n" }));
  await using server = startFakeServer({ script: [write, write, say("Neither, then.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat"], { home, env: { TERM: "dumb" } });
  await terminal.shows(/^>/m);
  await terminal.type("write it");
  await terminal.press("Enter");
  await terminal.shows(/1 \+new\nAllow Write\?[^]*A letter, or what to do instead:/);
  await terminal.press("Enter");
  await terminal.shows(/instead:\s+A letter, or what to do instead:/);
  await terminal.type("look, it is too big");
  await terminal.press("Enter");
  await terminal.shows(/too big[^]*Allow Write\?[^]*instead:/);
  await terminal.type("a");
  await terminal.press("Enter");
  await terminal.shows(/Allow always in this project: Write\? \[y\/N\]/);
  await terminal.press("Enter");
  await terminal.shows(/\[y\/N\]:\s+A letter/);
  await assert.rejects(Deno.stat(`${home.project}/b.txt`));
  await terminal.type("n");
  await terminal.press("Enter");
  await terminal.shows(/Neither, then\./);
  assert.match(server.chats()[1]?.text ?? "", /They said: look, it is too big/);
  assert.equal(await Deno.readTextFile(`${home.agentcliHome}/permissions.json`).catch(() => ""), "");
});
