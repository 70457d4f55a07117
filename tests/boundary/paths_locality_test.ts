import assert from "node:assert/strict";
import { ask, say, startFakeServer, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { configure } from "../helpers/program.ts";
import { assertArrived, assertRefusedResult, assertSealed, LeakScan, MARKER, openStage } from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const READ = [ask(want("read", { path: ".env" })), say("Done.")];

/** Reads `.env` through a provider whose address is spelled in a certain way; gives what the server heard. */
async function readThrough(
  address: (port: number) => string,
  options: { host: "127.0.0.1" | "127.0.0.2" | "[::1]"; marker?: string },
): Promise<{ arrived: boolean; leaks: string[]; code: number; connections: number; stderr: string }> {
  await using stage = await openStage(options.marker === undefined ? {} : { marker: options.marker });
  await using server = startFakeServer({ host: options.host, script: READ });
  await configure(stage.home, {
    x: { baseUrl: address(server.port), models: [{ id: "fake", context_window: 32768 }] },
  });
  const done = await runInProcess(["run", "go", "--model", "x"], { home: stage.home });
  const text = server.received().map((bytes) => new TextDecoder().decode(bytes)).join("");
  return {
    arrived: text.includes(stage.canary("env")),
    leaks: new LeakScan(stage.canaries).text(text),
    code: done.code,
    connections: server.connectionCount(),
    stderr: done.stderr,
  };
}

Deno.test("loopback in every spelling that means it is local", linux, async (test) => {
  const spellings = [
    "localhost",
    "127.0.0.1",
    "LOCALHOST",
    "127.1",
    "2130706433",
    "0x7f.1",
    "\uff11\uff12\uff17.0.0.1",
  ];
  for (const spelling of spellings) {
    await test.step(spelling, async () => {
      const read = await readThrough((port) => `http://${spelling}:${port}/v1`, { host: "127.0.0.1" });
      assert.ok(read.arrived, read.stderr);
    });
  }
  for (const spelling of ["[::1]", "[0:0:0:0:0:0:0:1]", "localhost"]) {
    await test.step(`${spelling} by IPv6`, async () => {
      const read = await readThrough((port) => `http://${spelling}:${port}/v1`, { host: "[::1]" });
      assert.ok(read.arrived, read.stderr);
    });
  }
});

Deno.test("addresses that reach this machine by another name are not local", linux, async (test) => {
  const spellings: [string, "127.0.0.1" | "127.0.0.2"][] = [
    ["127.0.0.2", "127.0.0.2"],
    ["127.2", "127.0.0.2"],
    ["0.0.0.0", "127.0.0.1"],
    ["0", "127.0.0.1"],
    ["[::ffff:127.0.0.1]", "127.0.0.1"],
    ["localhost.", "127.0.0.1"],
    ["x.localhost", "127.0.0.1"],
    ["localhost@127.0.0.2", "127.0.0.2"],
    ["127.0.0.2#@127.0.0.1", "127.0.0.2"],
    ["127.0.0.2\\@127.0.0.1", "127.0.0.2"],
    ["127.0.0.2%2elocalhost", "127.0.0.2"],
    ["localhost.evil.test", "127.0.0.1"],
  ];
  for (const [spelling, host] of spellings) {
    await test.step(spelling, async () => {
      const read = await readThrough((port) => {
        const at = spelling.indexOf("#") >= 0 ? spelling.replace("#", `:${port}/v1#`) : `${spelling}:${port}/v1`;
        return `http://${at}`;
      }, { host });
      assert.equal(read.arrived, false);
      assert.deepEqual(read.leaks, []);
      assert.equal(read.stderr.includes("CNRY_"), false);
    });
  }
});

Deno.test("only what a local-endpoints line says exactly opts a host in", linux, async (test) => {
  const opted: [string, boolean][] = [
    ["127.0.0.2", true],
    ["127.0.0.2:PORT", true],
    ["127.0.0.2:1", false],
    ["127.0.0.2:0", false],
    ["127.0.0.2:99999", false],
    ["127.0.0.0/8", false],
    ["127.0.0.*", false],
    ["*", false],
    ["http://127.0.0.2", false],
    ["127.0.0.2.", false],
    ["127.2", false],
    ["127.0.0.3", false],
    ["", false],
  ];
  for (const [value, local] of opted) {
    await test.step(value, async () => {
      await using stage = await openStage();
      await using server = startFakeServer({ host: "127.0.0.2", script: READ });
      const line = `local-endpoints: ${value.replace("PORT", String(server.port))}\n`;
      await stage.write(".agentclisecret", MARKER + line);
      await configure(stage.home, { lan: { baseUrl: server.baseUrl } });
      const done = await runInProcess(["run", "go", "--model", "lan"], { home: stage.home });
      assert.equal(done.code, 0, done.stderr);
      const text = server.received().map((bytes) => new TextDecoder().decode(bytes)).join("");
      assert.equal(text.includes(stage.canary("env")), local, value);
      if (!local) assert.deepEqual(new LeakScan(stage.canaries).text(text), []);
    });
  }
});

Deno.test("a nested marker, one above and a worktree's main tree opt nothing in", linux, async () => {
  for (const place of ["sub", ".."]) {
    await using stage = await openStage();
    await stage.write(`${stage.project}/${place}/.agentclisecret`, "local-endpoints: 127.0.0.2\n");
    const played = await stage.play("rem", { script: READ });
    assertSealed(played);
    assertRefusedResult(played.results[0], "read");
  }
  await using stage = await openStage({ git: true, marker: `${MARKER}local-endpoints: 127.0.0.2\n` });
  const tree = `${stage.home.root}/wt`;
  await stage.git("worktree", "add", "--quiet", "--detach", tree);
  stage.exempt(tree);
  const there = await stage.play("rem", { script: READ, cwd: tree });
  assertSealed(there);
  assertRefusedResult(there.results[0], "read in the worktree");
  const here = await stage.play("lan", { script: READ });
  assertArrived(here, stage.canary("env"));
});

Deno.test("what changes during a session can only tighten", linux, async (test) => {
  const script = [ask(want("read", { path: "pub.txt" })), ask(want("read", { path: ".env" })), say("Done.")];
  await test.step("a host opted in meanwhile stays remote", async () => {
    await using stage = await openStage();
    const work = async () => void await stage.write(".agentclisecret", `${MARKER}local-endpoints: 127.0.0.2\n`);
    const played = await stage.play("rem", { script, during: { index: 0, work } });
    assertSealed(played);
    assertRefusedResult(played.results[1], "read");
  });
  await test.step("a host no longer opted in is remote at once", async () => {
    await using stage = await openStage({ marker: `${MARKER}local-endpoints: 127.0.0.2\n` });
    const work = async () => void await stage.write(".agentclisecret", MARKER);
    const played = await stage.play("lan", { script, during: { index: 0, work } });
    assertRefusedResult(played.results[1], "read");
    assert.deepEqual(played.leaks.wire, []);
  });
  await test.step("a tainted session ends when its host is no longer opted in", async () => {
    await using stage = await openStage({ marker: `${MARKER}local-endpoints: 127.0.0.2\n` });
    const tainted = [ask(want("read", { path: ".env" })), ask(want("read", { path: "pub.txt" })), say("Done.")];
    const work = async () => void await stage.write(".agentclisecret", MARKER);
    const played = await stage.play("lan", { script: tainted, during: { index: 1, work } });
    assert.equal(played.done.code, 6, played.done.stderr);
    assert.match(played.done.stderr, /has read .*not local/);
    assert.equal(played.requests.filter((request) => request.index >= 0).length, 2);
  });
  await test.step("a line taken out of the marker still holds", async () => {
    await using stage = await openStage();
    const work = async () => void await stage.write(".agentclisecret", "# nothing\n");
    const played = await stage.play("rem", { script, during: { index: 0, work } });
    assertSealed(played);
    assertRefusedResult(played.results[1], "read");
  });
  await test.step("a marker that is removed still holds", async () => {
    await using stage = await openStage();
    const work = () => Deno.remove(`${stage.project}/.agentclisecret`);
    const played = await stage.play("rem", { script, during: { index: 0, work } });
    assertSealed(played);
    assertRefusedResult(played.results[1], "read");
  });
  await test.step("a marker that breaks ends a remote session", async () => {
    await using stage = await openStage();
    const work = async () => void await stage.write(".agentclisecret", "no-cloud:\n");
    const played = await stage.play("rem", { script, during: { index: 0, work } });
    assertSealed(played);
    assert.equal(played.done.code, 6, played.done.stderr);
    assert.equal(played.requests.filter((request) => request.index >= 0).length, 1);
  });
  await test.step("an address edited meanwhile is not used", async () => {
    await using stage = await openStage();
    const work = async () => void await configure(stage.home, { loc: { baseUrl: `http://${stage.sink.address}/v1` } });
    const tainted = [ask(want("read", { path: ".env" })), ask(want("read", { path: "pub.txt" })), say("Done.")];
    const played = await stage.play("loc", { script: tainted, during: { index: 1, work } });
    assert.equal(played.done.code, 0, played.done.stderr);
    assertSealed(played);
    assert.equal(played.sinkConnections, 0);
    assertArrived(played, stage.canary("env"));
  });
});
