import assert from "node:assert/strict";
import { startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { programCommand, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

Deno.test("init-providers ends well and leaves a usable file, whatever listens on this machine", async () => {
  await using home = await temporaryHome();
  const first = await runInProcess(["init-providers", "--timeout", "500"], { home });
  assert.equal(first.code, 0, first.stderr);
  for (const label of ["runtime_a", "runtime_b", "runtime_c", "runtime_d"]) {
    assert.match(first.stdout, new RegExp(label));
  }
  const path = `${home.agentcliHome}/providers.yaml`;
  const text = await Deno.readTextFile(path);
  // Nothing is expected where the studio would be; should it run, it is a provider.
  assert.match(text, /^ {2}(?:# )?studio_f:/m);
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600); // the test host has permission bits
  const again = await runInProcess(["init-providers", "--timeout", "500", "--json"], { home });
  assert.equal(again.code, 0, again.stderr);
  assert.equal(JSON.parse(again.stdout).servers.length, 4);
});

Deno.test("what init-providers finds answers a prompt at once", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    models: { object: "list", data: [{ id: "coder:7b", owned_by: "vllm", max_model_len: 16384 }] },
  });
  const found = await runInProcess(["init-providers", "--host", `localhost:${server.port}`], { home });
  assert.equal(found.code, 0, found.stderr);
  const selector = /agentcli run "hello" --model (\S+)/.exec(found.stdout)?.[1] ?? "";
  assert.equal(selector, `vllm-${server.port}:coder:7b`);
  const answered = await runInProcess(["run", "hello", "--model", selector], { home });
  assert.equal(answered.code, 0, answered.stderr);
  assert.match(answered.stdout, /Hello\./);
});

Deno.test("init-providers with wrong usage asks nobody and writes nothing", async () => {
  await using home = await temporaryHome();
  for (const args of [["--host", "http://localhost:1"], ["--timeout", "soon"], ["--timeout", "0"]]) {
    const { code } = await runInProcess(["init-providers", ...args], { home });
    assert.equal(code, 2, args.join(" "));
  }
  await assert.rejects(Deno.stat(home.agentcliHome), Deno.errors.NotFound);
});

Deno.test("what a hostile server lists steers no terminal and no file", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ models: ["x\u001b]0;owned\u0007", "y\u009b31m", "z\nproviders: {}"] });
  const { code, stdout, stderr } = await runInProcess(["init-providers", "--host", `127.0.0.1:${server.port}`], {
    home,
  });
  assert.equal(code, 0, stderr);
  // deno-lint-ignore no-control-regex -- control characters are what is searched for
  assert.doesNotMatch(stdout + stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  const sent = server.received().map((bytes) => new TextDecoder().decode(bytes)).join("");
  assert.doesNotMatch(sent, /authorization|POST/i);
  const again = await runInProcess(["init-providers", "--host", `127.0.0.1:${server.port}`], { home });
  assert.match(again.stdout, /nothing to change/);
});

// A binary has all permissions built in.
const compiled = programCommand()[0] !== Deno.execPath();
Deno.test({ name: "what Deno does not let it ask is no server that was wrong", ignore: compiled }, async () => {
  await using home = await temporaryHome();
  const permissions = ["--allow-read", "--allow-env", "--no-prompt"];
  const { code, stdout, stderr } = await runInProcess(["init-providers", "--dry-run"], { home, permissions });
  assert.equal(code, 0, stderr);
  // The address that is connected to: a permission for the name does not cover it.
  assert.match(stdout, /localhost:11434 +no response \(this process may not connect to 127\.0\.0\.1:11434\)/);
});

Deno.test({
  name: "a person at a terminal chooses the default, and everybody else is asked nothing",
  ignore: !HAS_TMUX,
  async fn() {
    await using home = await temporaryHome();
    await using server = startFakeServer({ models: ["one", "two"] });
    const words = ["init-providers", "--host", `localhost:${server.port}`];
    const defaults = async () =>
      (await Deno.readTextFile(`${home.agentcliHome}/providers.yaml`)).match(/^default_.*$/gm) ?? [];
    for (const more of [["--yes"], ["--json"], ["--dry-run"]]) {
      await using terminal = await openTerminal([...words, ...more], { home, columns: 120, rows: 60 });
      assert.doesNotMatch(await terminal.shows(/EXIT/), /Which model/);
    }
    assert.deepEqual(await defaults(), []);
    await using terminal = await openTerminal(words, { home, columns: 120, rows: 60 });
    await terminal.shows(/Which model should be the default\?[^]*Enter for none/);
    await terminal.type("2");
    await terminal.press("Enter");
    assert.match(await terminal.shows(/EXIT 0/), /default model: \S+:two\n[^]*agentcli run "hello"\s/);
    assert.deepEqual((await defaults())[1], "default_model: two");
    const answered = await runInProcess(["run", "hello"], { home });
    assert.equal(answered.code, 0, answered.stderr);
  },
});

Deno.test("the studio that is only a comment is reported as one that can be added", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer();
  await runInProcess(["init-providers", "--host", `localhost:${server.port}`], { home });
  const { code, stderr } = await runInProcess(["run", "hello", "--model", "studio_f:m"], { home });
  assert.equal(code, 3);
  assert.match(
    stderr,
    /unknown provider studio_f.*\n.*init-providers. adds it once it runs here or STUDIO_F_API_KEY/,
  );
});
