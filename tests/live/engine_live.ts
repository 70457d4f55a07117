import assert from "node:assert/strict";
import { runProgram, startProgram, temporaryHome } from "../helpers/program.ts";
import { freePort, runs } from "../helpers/stand_in_engine.ts";

function required(name: string): string {
  const value = Deno.env.get(name);
  if (value) return value;
  throw new Error(`${name} is not set: run these tests with \`deno task test-llama\``);
}

/** A PATH on which llama-server is found, whatever the built file is called, and a place for the model. */
async function realEngine(model = "tiny agent.gguf") {
  const home = await temporaryHome();
  await Deno.mkdir(`${home.root}/bin`);
  await Deno.symlink(required("AGENTCLI_LLAMA_SERVER"), `${home.root}/bin/llama-server`);
  await Deno.symlink(required("AGENTCLI_TINY_MODEL"), `${home.project}/tiny agent.gguf`);
  const env = { PATH: `${home.root}/bin:/usr/bin:/bin` };
  const port = String(freePort());
  const words = ["--engine", "runtime_d", "--model", model, "--port", port, "--context-window", "2048"];
  return { home, env, port, words };
}

Deno.test("a real llama-server is started with every option known, asked for a turn, and ended", async () => {
  const { home, env, words } = await realEngine();
  await using _home = home;
  await using program = startProgram(["local-model", "serve", ...words, "--register"], { home, env });
  await program.stdout.until(/model tiny agent, window 2,048 tokens\n {2}provider runtime_d in providers\.yaml\n/);
  assert.doesNotMatch(program.stderr.text, /left out/);
  const turn = await runProgram(["run", "hello", "--max-tokens", "8", "--model", "runtime_d:tiny agent", "--json"], {
    home,
  });
  assert.equal(JSON.parse(turn.stdout).type, "result", turn.stderr);
  program.kill("SIGINT");
  const done = await program.finished;
  assert.equal(done.code, 130);
  assert.match(done.stderr, /cleaning up before exit/);
});

Deno.test("a real llama-server keeps running alone, wants its key, is reused, and is ended by name", async () => {
  const { home, env, port, words } = await realEngine();
  await using _home = home;
  const command = (...args: string[]) =>
    runProgram(["local-model", ...args], { home, env: { ...env, LOCAL_KEY: "sk-canary-0123456789" } });
  const keyed = [...words, "--api-key", "$LOCAL_KEY"];
  const started = await command("serve", ...keyed, "--detach", "--json");
  const report = JSON.parse(started.stdout);
  try {
    assert.equal(report.state, "ready", started.stderr);
    const refused = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: "POST", body: "{}" });
    assert.equal(refused.status, 401);
    await refused.body?.cancel();
    const again = await command("serve", ...keyed);
    assert.match(again.stdout, /is already running/);
  } finally {
    assert.equal((await command("stop", `runtime_d-${port}`)).code, 0);
  }
  assert.equal(await runs(report.pid), false);
  assert.doesNotMatch(started.stdout + started.stderr, /canary/);
});

Deno.test("a file that is no model ends with the words of the server", async () => {
  const { home, env, words } = await realEngine("broken.gguf");
  await using _home = home;
  await home.write("broken.gguf", "no model");
  const done = await runProgram(["local-model", "serve", ...words, "--quiet"], { home, env });
  assert.equal(done.code, 1);
  assert.match(done.stderr, /\| .*failed to load model[^]*llama\.cpp \(runtime_d\) exited on its own/);
});
