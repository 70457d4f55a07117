import assert from "node:assert/strict";
import { say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

const WORKFLOW = "---\ndescription: Ship\x1b[31m it\n---\n\nRun the release steps.\n";
const SKILL = "---\nname: survey\ndescription: Count things\n---\n\nCount all of them.\n";

type Server = ReturnType<typeof startFakeServer>;

function prompts(server: Server): string[] {
  return server.chats().map(({ json }) => json.messages.at(-1).content);
}

Deno.test("workflows and skills of each editor are commands; their text is sent with the arguments", async () => {
  await using home = await temporaryHome();
  await home.write(".ide/workflows/ship-it.md", WORKFLOW);
  await home.write(".windsurf/workflows/wave.md", "Wave.\n");
  await home.write(".devin/workflows/dig.md", "Dig.\n");
  await home.write(".agents/skills/survey/SKILL.md", SKILL);
  await home.write(".assistant-a/skills/look/SKILL.md", "Look.\n");
  await using server = startFakeServer({ script: () => say("Done.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat"], {
    home,
    stdin: "/help\n/ship-it to  the moon\n/survey\n/wave\n/dig\n/look\n",
  });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /^ {2}\/ship-it +Ship\\x1b\[31m it$/m);
  assert.match(done.stderr, /^ {2}\/survey +Count things$/m);
  assert.match(done.stderr, /^ {2}\/wave +a workflow of the project$/m);
  assert.deepEqual(prompts(server), [
    "Run the release steps.\n\nArguments: to  the moon",
    "Count all of them.\n\nFiles that this names lie beside .agents/skills/survey/SKILL.md.",
    "Wave.",
    "Dig.",
    "Look.\n\nFiles that this names lie beside .assistant-a/skills/look/SKILL.md.",
  ]);
});

Deno.test("commands of the chat win, hostile names and links to elsewhere are no commands, nothing is sent unasked", async () => {
  await using home = await temporaryHome();
  await home.write(".ide/workflows/tools.md", "Taken over.\n");
  await home.write(".ide/workflows/quit.md", "Taken over.\n");
  await home.write(".ide/workflows/a\x1b[2Jb.md", "Hostile.\n");
  await home.write(".ide/workflows/-rf.md", "Hostile.\n");
  await home.write(".ide/skills/Bad Name/SKILL.md", "Hostile.\n");
  await home.write(".ide/workflows/fine.md", "Fine.\n");
  await Deno.writeTextFile(`${home.root}/elsewhere.md`, "From elsewhere.\n");
  await Deno.symlink(`${home.root}/elsewhere.md`, `${home.project}/.ide/workflows/linked.md`);
  await using server = startFakeServer({ script: () => say("Done.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat"], { home, stdin: "/help\n/tools\n/linked\n/fin\n/quit\n/fine\n" });
  assert.equal(done.code, 2, done.stderr);
  assert.match(done.stderr, /\/fine +a workflow[^]*\n {2}Read /);
  assert.match(done.stderr, /no command \/linked[^]*no command \/fin\n[^\n]*fine/);
  assert.doesNotMatch(done.stderr, /-rf|Bad Name|2Jb|Taken/);
  assert.deepEqual(prompts(server), []);
});

Deno.test("a protected workflow goes to a local model only, and taints its session", async () => {
  await using home = await temporaryHome();
  await home.write(".ide/workflows/inner.md", "---\ndescription: canary-5d1e\n---\nSay canary-77aa01bc.\n");
  await home.write(".env", "KEY=canary-9e8d7c6b\n");
  await home.write(".agentclisecret", "no-cloud: .ide/workflows/inner.md\nno-cloud: .env\n");
  await Deno.symlink("../../.env", `${home.project}/.ide/workflows/led.md`);
  await Deno.link(`${home.project}/.env`, `${home.project}/.ide/workflows/twin.md`);
  await using far = startFakeServer({ host: "127.0.0.2", script: () => say("Hello.") });
  await using near = startFakeServer({ script: () => say("Hello.") });
  await configure(home, { near: { baseUrl: near.baseUrl }, far: { baseUrl: far.baseUrl } });
  const remote = await runInProcess(["chat", "--model", "far:fake"], { home, stdin: "/help\n/led\n/twin\n/inner\n" });
  assert.equal(remote.code, 6, remote.stderr);
  for (const name of ["inner", "led", "twin"]) assert.match(remote.stderr, new RegExp(`/${name} +\\[no-cloud\\]`));
  assert.doesNotMatch(remote.stderr, /canary/);
  assert.equal(far.chats().length, 0);
  const local = await runInProcess(["chat", "--model", "near:fake"], { home, stdin: "/inner\n/model far:fake\nhi\n" });
  assert.equal(prompts(near)[0], "Say canary-77aa01bc.", local.stderr);
  assert.equal(far.chats().length, 0);
  assert.doesNotMatch(new TextDecoder().decode(await new Blob(far.received() as BlobPart[]).arrayBuffer()), /canary/);
});

Deno.test("another model in the same chat knows what protected files held before it, and under which names they go", async () => {
  await using home = await temporaryHome();
  await home.write(".env", "KEY=canary-9e8d7c6b\n");
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await using far = startFakeServer({ host: "127.0.0.2", script: () => say("Hello.") });
  await using near = startFakeServer({
    script: async () => {
      await Deno.rename(`${home.project}/.env`, `${home.project}/moved.txt`);
      await home.write(".env", "KEY=another-value-now\n");
      return say("Hello.");
    },
  });
  await configure(home, { near: { baseUrl: near.baseUrl }, far: { baseUrl: far.baseUrl } });
  const stdin = "hi\n/model far:fake\nis canary-9e8d7c6b the key?\n";
  const done = await runInProcess(["chat", "--model", "near:fake"], { home, stdin });
  assert.deepEqual([near.chats().length, far.chats().length], [1, 0], done.stderr);
  assert.match(done.stderr, /holds line 1 of \.env/);
  assert.doesNotMatch(done.stderr, /canary/);
});

Deno.test("a deny rule of Read, an empty file and one that is no text keep a command from being sent", async () => {
  await using home = await temporaryHome();
  await home.write(".ide/workflows/denied.md", "Denied.\n");
  await home.write(".ide/workflows/empty.md", "---\ndescription: x\n---\n");
  await Deno.writeFile(`${home.project}/.ide/workflows/bytes.md`, new Uint8Array([0xff, 0xfe, 0x41]));
  await home.write(".ide/workflows/long.md", "x".repeat(70_000));
  await using server = startFakeServer({ script: () => say("Done.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat", "--disallowed-tools", "Read(.ide/workflows/denied.md)"], {
    home,
    stdin: "/empty\n/bytes\n/long\n/denied\n",
  });
  assert.equal(done.code, 6, done.stderr);
  assert.match(
    done.stderr,
    /\/empty cannot[^]*empty[^]*\/bytes cannot[^]*not UTF-8[^]*\/long cannot[^]*larger than 64 KiB/,
  );
  assert.deepEqual(prompts(server), []);
});

Deno.test({
  name: "a command of the project is completed on a terminal, with what it says of itself",
  ignore: !HAS_TMUX,
  fn: async () => {
    await using home = await temporaryHome();
    await home.write(".ide/workflows/ship-it.md", WORKFLOW);
    await using server = startFakeServer({ script: () => say("Done.") });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await using terminal = await openTerminal(["chat"], { home });
    await terminal.shows(/local · loc:fake/);
    await terminal.type("/sh");
    await terminal.shows(/\/ship-it +Ship\\x1b\[31m it/);
    await terminal.press("Tab");
    await terminal.type("now");
    await terminal.press("Enter");
    await terminal.shows(/> \/ship-it now\n +sent: \.ide\/workflows\/ship-it\.md[^]*Done\./);
    assert.deepEqual(prompts(server), ["Run the release steps.\n\nArguments: now"]);
  },
});

Deno.test({
  name: "rows that are too long for the terminal go on behind their indent",
  ignore: !HAS_TMUX,
  fn: async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: () => say("Fine.") });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const rule = "Bash(npm run something --with many --words:*)";
    await using terminal = await openTerminal(["chat", "--allowed-tools", rule], { home, columns: 40 });
    await terminal.shows(/^local/m);
    await terminal.type("/permissions");
    await terminal.press("Enter");
    await terminal.shows(
      /^mode default {2}\(\/permissions default \|\n {2}acceptEdits \| plan \|\n {2}bypassPermissions\)\n {2}1 allow Bash\(npm run something --with\n {4}many/m,
    );
    await terminal.type("/tools");
    await terminal.press("Enter");
    await terminal.shows(/^ {2}Read {7}read\n {2}Write {6}write$/m);
  },
});
