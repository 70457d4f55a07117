import assert from "node:assert/strict";
import { startClient, STREAM } from "../helpers/client.ts";
import { say, startFakeServer } from "../helpers/fake_server.ts";
import { configure, programCommand, runProgram, temporaryHome } from "../helpers/program.ts";

const user = (text: string) => JSON.stringify({ type: "user", message: { role: "user", content: text } }) + "\n";

Deno.test("a line of 20 MB is read like any other", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Long."), say("Short.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 100_000_000 }] } });
  const text = "0123456789abcde ".repeat(20 * 1024 * 64);
  const done = await runProgram([...STREAM, "--no-session-persistence"], { home, stdin: user(text) + user("short") });
  assert.equal(done.code, 0, done.stderr.slice(0, 2000));
  const results = done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line)).filter((line) =>
    line.type === "result"
  );
  assert.deepEqual(results.map((line) => line.result), ["Long.", "Short."]);
  assert.equal(server.chats()[0]?.json.messages[1].content.length, text.length);
});

/** Kilobytes of memory that the process holds now, with those it started. */
async function residentKilobytes(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}

Deno.test({
  name: "a client that does not read stops the turn, not the memory",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using home = await temporaryHome();
    const chunk = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "x".repeat(4096) } }] })}\n\n`;
    const bytes = new TextEncoder().encode(chunk);
    let sent = 0;
    const stopped = Promise.withResolvers<void>();
    let idle: ReturnType<typeof setTimeout> | undefined;
    // A server that never ends: what it could send is what the program would have to hold.
    const serving = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(bytes);
          sent += bytes.length;
          clearTimeout(idle);
          idle = setTimeout(stopped.resolve, 1500);
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    });
    await configure(home, {
      loc: {
        baseUrl: `http://127.0.0.1:${serving.addr.port}/v1`,
        models: [{ id: "fake", context_window: 32768, tool_calls: "none" }],
      },
    });
    const [command = "", ...rest] = programCommand();
    const child = new Deno.Command(command, {
      args: [...rest, ...STREAM, "--include-partial-messages"],
      cwd: home.project,
      env: { HOME: home.home, AGENTCLI_HOME: home.agentcliHome, DENO_NO_UPDATE_CHECK: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const input = child.stdin.getWriter();
    await input.write(new TextEncoder().encode(user("go")));
    await stopped.promise;
    const megabytes = await residentKilobytes(child.pid) / 1024;
    child.kill("SIGKILL");
    await child.stdout.cancel();
    await child.status;
    await input.close().catch(() => {});
    await serving.shutdown();
    assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes were taken from the server`);
    assert.ok(megabytes < 300, `${megabytes} MiB`);
  },
});

Deno.test("requests are answered while the client's messages wait", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [{ kind: "silence" }] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  await using client = startClient([], { home });
  await client.send({ type: "user", uuid: "first", message: { role: "user", content: "a" } });
  await server.arrived(0);
  await client.send(
    { type: "user", uuid: "second", message: { role: "user", content: "b" } },
    { type: "user", message: { role: "user", content: "c" } },
  );
  const answer = await client.request({ subtype: "interrupt" });
  assert.deepEqual(answer.response.still_queued, ["second"]);
});
