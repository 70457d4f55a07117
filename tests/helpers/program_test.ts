import assert from "node:assert/strict";
import { configure, startCommand, temporaryHome } from "./program.ts";

Deno.test("a child gets a clean environment and the home of the test", async () => {
  await using home = await temporaryHome();
  const child = startCommand([Deno.execPath(), "eval", "console.log(JSON.stringify(Deno.env.toObject()))"], { home });
  await child.closeInput();
  const { code, stdout } = await child.finished;
  assert.equal(code, 0);
  const environment = JSON.parse(stdout);
  assert.equal(environment.HOME, home.home);
  assert.equal(environment.AGENTCLI_HOME, home.agentcliHome);
  assert.deepEqual(Object.keys(environment).filter((name) => /proxy|otel/i.test(name)), []);
});

Deno.test("a child can be written to, waited for and signalled", async () => {
  await using home = await temporaryHome();
  const script = "for await (const _ of Deno.stdin.readable) console.log('heard'); console.log('end')";
  await using child = startCommand([Deno.execPath(), "eval", script], { home });
  await child.write("hello\n");
  await child.stdout.until(/heard/);
  child.kill("SIGTERM");
  const { code, signal } = await child.finished;
  assert.deepEqual({ code, signal }, { code: 143, signal: "SIGTERM" });
});

Deno.test("a child that takes too long is killed and says so", async () => {
  await using home = await temporaryHome();
  const child = startCommand([Deno.execPath(), "eval", "setInterval(() => {}, 1000)"], { home, deadlineMs: 1 });
  const { timedOut, signal } = await child.finished;
  assert.deepEqual({ timedOut, signal }, { timedOut: true, signal: "SIGKILL" });
});

Deno.test("the configuration is a private file that holds the providers", async () => {
  await using home = await temporaryHome();
  await configure(home, { here: { baseUrl: "http://127.0.0.1:1/v1" } }, { default_provider: "here" });
  const path = `${home.agentcliHome}/providers.yaml`;
  const file = JSON.parse(await Deno.readTextFile(path));
  assert.equal(file.default_provider, "here");
  assert.equal(file.providers.here.models[0].id, "fake");
  if (Deno.build.os !== "windows") assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
});
