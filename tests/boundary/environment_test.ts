/** Threats 97 and 109: variables that make a runtime copy text out, and what children get of the environment. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { configure, programCommand, runProgram } from "../helpers/program.ts";
import { assertArrived, assertSealed, openStage, type Play } from "./harness.ts";

const READS: Play["script"] = [ask(want("read", { path: ".env" })), say("Done.")];

/** Each with a value that turns it on; `V` stands for something that differs in each. */
const COPYING: Record<string, (value: string) => string> = {
  SSLKEYLOGFILE: (value) => `/nonexistent/${value}`,
  NODE_DEBUG: (value) => value,
  NODE_V8_COVERAGE: (value) => `/nonexistent/${value}`,
  DENO_LOG: (value) => `off,${value}=error`,
  DENO_V8_FLAGS: () => "--stack-size=900",
};

for (const [name, valueOf] of Object.entries(COPYING)) {
  Deno.test(`with ${name} set, a session in a project with protected paths runs in a process without it`, async () => {
    await using stage = await openStage();
    // The canary as its value: whichever process has the variable is found by it.
    const played = await stage.play("loc", { script: READS, env: { [name]: valueOf(stage.canary("env")) } });
    assert.equal(played.done.code, 0, played.done.stderr);
    assert.equal(played.done.stdout, "Done.\n");
    assert.equal(played.started.filter((line) => /main\.ts|agentcli/.test(line)).length, 1, played.started.join("\n"));
    assertSealed(played);
    assertArrived(played, stage.canary("env"));
  });
}

for (
  const command of [["providers", "validate"], ["providers", "probe", "loc:fake"], ["init-providers", "--dry-run"]]
) {
  Deno.test(`${command.join(" ")} connects to providers without such variables where paths are protected`, async () => {
    const again = (lines: readonly string[]) => lines.filter((line) => /main\.ts|agentcli/.test(line)).length;
    await using stage = await openStage();
    const play = {
      argv: command,
      script: () => say("Done."),
      env: { SSLKEYLOGFILE: `/nonexistent/${stage.canary("env")}` },
    };
    const played = await stage.play("loc", play);
    assert.equal(again(played.started), 1, played.done.stderr);
    assertSealed(played);
    await using plain = await openStage({ marker: null });
    assert.equal(again((await plain.play("loc", play)).started), 0, "control: nothing is protected");
  });
}

Deno.test("control: a variable that copies nothing reaches that process, and is seen there", async () => {
  await using stage = await openStage();
  const played = await stage.play("loc", {
    script: [say("Done.")],
    env: { SSLKEYLOGFILE: "/nonexistent/k", HARMLESS: stage.canary("env") },
  });
  assert.notDeepEqual(played.leaks.processes, []);
});

Deno.test("without a marker nothing is started again", async () => {
  await using stage = await openStage({ marker: null });
  const played = await stage.play("loc", { script: [say("Done.")], env: { SSLKEYLOGFILE: "/nonexistent/k" } });
  assert.equal(played.done.code, 0, played.done.stderr);
  assert.deepEqual(played.started, []);
});

Deno.test("a marker below the root, and one of --add-dir, count as well", async () => {
  await using nested = await openStage({ marker: null });
  await nested.write("sub/.agentclisecret", "no-cloud: x\n");
  const env = { SSLKEYLOGFILE: "/nonexistent/k" };
  const inside = await nested.play("loc", { script: [say("Done.")], env });
  assert.equal(inside.started.filter((line) => /main\.ts|agentcli/.test(line)).length, 1);
  await using plain = await openStage({ marker: null });
  await plain.write("../beside/.agentclisecret", "no-cloud: x\n");
  const beside = await plain.play("loc", { script: [say("Done.")], env, args: ["--add-dir", "../beside"] });
  assert.equal(beside.started.filter((line) => /main\.ts|agentcli/.test(line)).length, 1, beside.done.stderr);
});

Deno.test("telemetry of the runtime gets nothing of a session", async () => {
  await using stage = await openStage();
  const played = await stage.play("loc", {
    script: [ask(want("read", { path: ".env" })), say("Done.")],
    args: ["--verbose"],
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://${stage.sink.address}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: "500",
    },
  });
  assert.equal(played.done.code, 0, played.done.stderr);
  assertSealed(played);
  assertArrived(played, stage.canary("env"));
});

Deno.test("the program that was started again reads standard input and passes the exit code on", async () => {
  await using stage = await openStage();
  const env = { SSLKEYLOGFILE: "/nonexistent/k" };
  const piped = await stage.play("loc", { prompt: "-", stdin: "words from a pipe", script: [say("Done.")], env });
  assert.equal(piped.done.code, 0, piped.done.stderr);
  assert.match(piped.sent, /words from a pipe/);
  const wrong = await stage.play("loc", { script: [], env, argv: ["run", "hello", "--model", "nobody"] });
  assert.equal(wrong.done.code, 3);
});

// A binary has all permissions built in, so it can always start itself again.
const compiled = programCommand()[0] !== Deno.execPath();
const refusal = "where the program cannot start itself again, it refuses and says what to leave out";
Deno.test({ name: refusal, ignore: compiled }, async () => {
  await using stage = await openStage();
  await configure(stage.home, { loc: { baseUrl: "http://127.0.0.1:9/v1" } });
  const permissions = ["--allow-read", "--allow-write", "--allow-net", "--allow-env", "--allow-sys", "--no-prompt"];
  const done = await runProgram(["run", "hello", "--model", "loc"], {
    home: stage.home,
    permissions,
    env: { SSLKEYLOGFILE: "/nonexistent/k" },
  });
  assert.equal(done.code, 6, done.stderr);
  assert.match(done.stderr, /protected paths, and SSLKEYLOGFILE can copy/);
  assert.match(done.stderr, /env -u SSLKEYLOGFILE/);
});

Deno.test("commands get neither the resolved key, nor anything named like one, nor what copies text out", async () => {
  await using stage = await openStage({ marker: null });
  const key = stage.canary("key");
  const env = {
    MY_CREDIT: key,
    OPENAI_API_KEY: key,
    GITHUB_TOKEN: key,
    DB_PASSWORD: key,
    OTEL_EXPORTER_OTLP_HEADERS: key,
    AGENTCLI_ANYTHING: key,
    KEPT_WORD: "kept-word",
  };
  const played = await stage.play("loc", {
    script: [ask(want("shell", { command: "env; set" })), say("Done.")],
    args: ["--allowed-tools", "Bash"],
    block: { apiKey: "$MY_CREDIT" },
    env,
  });
  assert.equal(played.done.code, 0, played.done.stderr);
  assert.match(played.results.join("\n"), /KEPT_WORD=kept-word/);
  assert.ok(!played.results.join("\n").includes(key));
  assert.deepEqual(played.leaks.processes, []);
});

Deno.test("a command's text stands on no command line and in no environment", async () => {
  for (const marker of [undefined, null]) {
    await using stage = await openStage(marker === null ? { marker } : {});
    const canary = stage.canary("env");
    const played = await stage.play("loc", {
      script: [
        ask(want("read", { path: ".env" })),
        ask(want("shell", { command: `sleep 0.4; echo ${canary} | wc -c` })),
        say("Done."),
      ],
      args: ["--permission-mode", "bypassPermissions"],
      process: true,
    });
    assert.equal(played.results.at(-1)?.trim(), String(canary.length + 1), "control: the command ran");
    assert.deepEqual(played.leaks.processes, []);
  }
});
