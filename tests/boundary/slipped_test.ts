/** What a command wrote while a protected file was replaced or came to be: its output is redacted, and so are its files. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer, want } from "../helpers/fake_server.ts";
import { configure, startProgram } from "../helpers/program.ts";
import { openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };
const args = ["--permission-mode", "bypassPermissions"];
/** A form that no scan finds, and one that it does. */
const CODED = "tr 'A-Za-z0-9' 'N-ZA-Mn-za-m5-90-4'";

function coded(text: string): string {
  return text.replace(/[A-Za-z0-9]/g, (sign) => {
    const at = sign.charCodeAt(0);
    if (at < 58) return String.fromCharCode((at - 48 + 5) % 10 + 48);
    const first = at < 97 ? 65 : 97;
    return String.fromCharCode((at - first + 13) % 26 + first);
  });
}

/** Waits for a file that a command makes. */
async function standing(path: string): Promise<void> {
  for (let round = 0; round < 500; round++) {
    if (await Deno.stat(path).catch(() => null) !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${path} was not made`);
}

/** A command that waits until the user has changed `.env`, takes it in a form of its own, and one that shows what it took. */
async function playTwo(stage: Stage, form: string, change: () => Promise<void>) {
  const wait = "for i in $(seq 500); do [ -e go.txt ] && break; sleep 0.02; done";
  const command = `echo ready > ready.txt; ${wait}; ${form} < .env > copy.txt; echo took`;
  const calls = [
    ask(want("shell", { command })),
    ask(want("shell", { command: "cat copy.txt; echo still here" })),
    say("Done."),
  ];
  const changing = standing(`${stage.project}/ready.txt`).then(change).then(() => stage.write("go.txt", "go"));
  const played = await stage.play("rem", { script: calls, args });
  await changing;
  return played;
}

Deno.test("what a command wrote while a protected file was replaced is protected in any form", bubblewrap, async () => {
  await using stage = await openStage();
  const value = "fresh-Value-4711-of-the-user";
  const played = await playTwo(stage, CODED, async () => {
    await stage.write("new", `API_TOKEN=${value}\n`);
    await Deno.rename(`${stage.project}/new`, `${stage.project}/.env`);
  });
  const took = await Deno.readTextFile(`${stage.project}/copy.txt`);
  assert.ok(took.includes(coded(value)), "control: the command could read the new file");
  assert.match(played.results[0] ?? "", /redacted/);
  assert.ok(!played.sent.includes(coded(value)), played.results.join("\n"));
  assert.match(played.results[1] ?? "", /still here/, "control: the next command ran");
  assert.match(played.done.stderr, /protected from now on, since .*\.env was replaced meanwhile: .*copy\.txt/);
});

Deno.test("what a command wrote while a protected file came to be is looked through", bubblewrap, async () => {
  await using stage = await openStage();
  await Deno.remove(`${stage.project}/.env`);
  const value = "another-Value-0815-of-the-user";
  const played = await playTwo(stage, "base64 -w0", () => stage.write(".env", `API_TOKEN=${value}\n`).then(() => {}));
  const took = await Deno.readTextFile(`${stage.project}/copy.txt`);
  assert.equal(took, btoa(`API_TOKEN=${value}\n`), "control: the command could read the new file");
  assert.ok(!played.sent.includes(took), played.results.join("\n"));
  assert.match(played.done.stderr, /protected from now on, since they hold protected content: .*copy\.txt/);
});

Deno.test(
  "what a command of a protected session wrote is looked through when it is broken off too",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    const canary = stage.canary("env");
    const command = `echo 'the key is ${canary}' > notes.txt; echo ready > ready.txt; sleep 60`;
    await using server = startFakeServer({
      host: "127.0.0.1",
      script: [ask(want("read", { path: ".env" })), ask(want("shell", { command })), say("Done.")],
    });
    await configure(stage.home, { loc: { baseUrl: server.baseUrl } });
    await using program = startProgram(["run", "go", "--model", "loc", ...args], { home: stage.home });
    await program.closeInput();
    await standing(`${stage.project}/ready.txt`);
    program.kill("SIGINT");
    assert.equal((await program.finished).code, 130);
    const coder = `${CODED} < notes.txt; cat ready.txt`;
    const played = await stage.play("rem", { script: [ask(want("shell", { command: coder })), say("Done.")], args });
    assert.match(played.results[0] ?? "", /ready/, "control: the command ran");
    assert.ok(!played.sent.includes(coded(canary)), played.results.join("\n"));
  },
);

Deno.test("what a broken-off command made that could run code later is told of", bubblewrap, async () => {
  await using stage = await openStage();
  const command = "mkdir .vscode; echo x > .vscode/tasks.json; echo ready > ready.txt; sleep 60";
  await using server = startFakeServer({ host: "127.0.0.2", script: [ask(want("shell", { command })), say("Done.")] });
  await configure(stage.home, { rem: { baseUrl: server.baseUrl } });
  await using program = startProgram(["run", "go", "--model", "rem", ...args], { home: stage.home });
  await program.closeInput();
  await standing(`${stage.project}/ready.txt`);
  program.kill("SIGINT");
  const { code, stderr } = await program.finished;
  assert.equal(code, 130);
  assert.match(stderr, /\.vscode, which could run code later: moved to quarantine; .*agentcli quarantine restore/);
});
