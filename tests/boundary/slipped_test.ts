/** What a command wrote while a protected file was replaced or created: its output and its files are redacted. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer, want } from "../helpers/fake_server.ts";
import { configure, runProgram, startProgram } from "../helpers/program.ts";
import { openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";
import { CODED, coded, standing } from "./slipped.ts";

const bubblewrap = { ignore: !hasBubblewrap() };
const args = ["--permission-mode", "bypassPermissions"];
/**
 * A command that waits until the user has changed `.env`, takes it in a form of its own, and one that shows what it
 * took.
 */
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
  assert.match(
    played.done.stderr,
    /protected from now on, since .*\.env became protected, was moved or was replaced meanwhile: .*copy\.txt/,
  );
});

Deno.test("what a command wrote while a protected file was created is protected in any form", bubblewrap, async () => {
  await using stage = await openStage();
  await Deno.remove(`${stage.project}/.env`);
  const value = "another-Value-0815-of-the-user";
  const played = await playTwo(stage, CODED, () => stage.write(".env", `API_TOKEN=${value}\n`).then(() => {}));
  const took = await Deno.readTextFile(`${stage.project}/copy.txt`);
  assert.ok(took.includes(coded(value)), "control: the command could read the new file");
  assert.match(played.results[0] ?? "", /redacted/);
  assert.ok(!played.sent.includes(coded(value)), played.results.join("\n"));
  assert.match(
    played.done.stderr,
    /protected from now on, since .*\.env became protected, was moved or was replaced meanwhile: .*copy\.txt/,
  );
});

Deno.test(
  "what a command of a protected session wrote is looked through when it is broken off too",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    const canary = stage.canary("env");
    const command = `echo 'the key is ${canary}' > notes.txt; echo ready > r; mv r ready.txt; sleep 60`;
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

Deno.test("what an interrupted command made that could run code later is reported", bubblewrap, async () => {
  await using stage = await openStage();
  const command = "mkdir .vscode; echo x > .vscode/tasks.json; echo ready > r; mv r ready.txt; sleep 60";
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

/**
 * What a person does while a command of `agentcli sandbox` runs: a new value comes to stand at `.env` or `sub/.env`.
 */
const CHANGES: Readonly<Record<string, (stage: Stage, value: string) => Promise<unknown>>> = {
  "saved by a rename, as editors do": async (stage, value) => {
    await stage.write("new.txt~", value);
    await Deno.rename(`${stage.project}/new.txt~`, `${stage.project}/.env`);
  },
  "a new one below": (stage, value) => stage.write("sub/.env", value),
  "a new line of the marker": async (stage, value) => {
    await stage.write(".agentclisecret", "no-cloud: .env\nno-cloud: secrets\nno-cloud: sub\n");
    await stage.write("sub/.env", value);
  },
};

for (const [name, change] of Object.entries(CHANGES)) {
  Deno.test(`a command of agentcli sandbox ends before it shows a protected file: ${name}`, bubblewrap, async () => {
    await using stage = await openStage();
    const value = `fresh-${crypto.randomUUID()}`;
    const script = `echo begun; echo told >&2; for i in $(seq 600); do
      cat .env sub/.env 2>/dev/null; cat .env sub/.env 2>/dev/null | tee -a taken.txt | ${CODED} >> coded.txt; sleep 0.02; done`;
    await using program = startProgram(["sandbox", "--", "bash", "-c", script], { home: stage.home });
    await program.stdout.until(/begun/);
    await change(stage, `KEY=${value}\n`);
    const { code, stdout, stderr, durationMs } = await program.finished;
    assert.equal(code, 6, stderr);
    assert.ok(durationMs < 11_000, "it was ended");
    assert.ok(!stdout.includes(value) && !stderr.includes(value), "the value was shown");
    assert.match(stderr, /told[^]*(\.env|sub) became protected or was replaced while the command ran[^]*redacted/);
    const kept = await Deno.readTextFile(`${stage.project}/coded.txt`).catch(() => "");
    assert.ok(kept.includes(coded(value)), "control: it was seen");
    const after = await runProgram(["sandbox", "--", "cat coded.txt taken.txt 2>/dev/null; echo ran"], {
      home: stage.home,
    });
    assert.equal(after.stdout, "ran\n", "what it changed is protected");
  });
}

Deno.test("a file that is written in place stays hidden, and the command continues", bubblewrap, async () => {
  await using stage = await openStage();
  const value = `fresh-${crypto.randomUUID()}`;
  const script = "echo begun; until [ -e go ]; do sleep 0.02; done; cat .env; sleep 0.5; cat .env; echo ended";
  await using program = startProgram(["sandbox", "--", "bash", "-c", script], { home: stage.home });
  await program.stdout.until(/begun/);
  await stage.write(".env", `KEY=${value}\n`);
  await stage.write("go", "");
  const { code, stdout } = await program.finished;
  assert.equal(code, 0);
  assert.equal(stdout, "begun\nended\n");
});
