/**
 * What holds for the standalone binary alone. `AGENTCLI_BIN` names it; without one these tests say that they are
 * skipped.
 */
import assert from "node:assert/strict";
import { say, startFakeServer } from "./helpers/fake_server.ts";
import { configure, programCommand, runProgram, startCommand, temporaryHome } from "./helpers/program.ts";

const [program = ""] = programCommand();
const ignore = program === Deno.execPath();

/** A collector of measurements; it answers, since Deno waits for one that is silent. */
function startCollector() {
  let requests = 0;
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const answer = () => {
    requests += 1;
    resolve();
    return new Response();
  };
  const server = Deno.serve({ hostname: "127.0.0.2", port: 0, onListen() {} }, answer);
  return {
    requestCount: () => requests,
    /** Resolves with the first request. */
    asked,
    /** What makes Deno measure itself and send the figures here, while it runs and at its end. */
    environment: {
      OTEL_DENO: "true",
      OTEL_DENO_CONSOLE: "capture",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.2:${server.addr.port}`,
      OTEL_METRIC_EXPORT_INTERVAL: "20",
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test({ name: "the binary sends nothing for what OTEL_ variables say", ignore }, async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => say("Done.") });
  await using collector = startCollector();
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  for (const args of [["--version"], ["doctor"], ["run", "hello", "--model", "loc", "--verbose"]]) {
    const { timedOut, stderr } = await runProgram(args, { home, env: collector.environment });
    assert.ok(!timedOut, stderr);
  }
  assert.ok(server.requests.length > 0);
  assert.equal(collector.requestCount(), 0);
});

Deno.test({ name: "control: with `deno run` those variables make Deno send", ignore }, async () => {
  await using home = await temporaryHome();
  await using collector = startCollector();
  const forever = await home.write("forever.js", "setInterval(() => {}, 1000);\n");
  const command = [Deno.execPath(), "run", "--no-config", forever];
  await using child = startCommand(command, { home, env: collector.environment });
  await Promise.race([collector.asked, child.finished]);
  assert.ok(collector.requestCount() > 0);
});

Deno.test(
  { name: "the binary keeps its code to itself: nothing is written beside the home of agentcli", ignore },
  async () => {
    await using home = await temporaryHome();
    const { code, stderr } = await runProgram(["run", "--model", "demo", "hello"], { home });
    assert.equal(code, 0, stderr);
    assert.deepEqual([...Deno.readDirSync(home.tmp)], []);
    assert.deepEqual([...Deno.readDirSync(home.home)].map(({ name }) => name), [".agentcli"]);
  },
);
