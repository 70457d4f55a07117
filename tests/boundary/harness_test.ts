import assert from "node:assert/strict";
import { say } from "../helpers/fake_server.ts";
import { LeakScan, makeCanary, openStage } from "./harness.ts";

Deno.test("the scan finds a canary in every form", async () => {
  const canary = makeCanary("env");
  const scan = new LeakScan([canary, makeCanary("other")]);
  const { value } = canary;
  const hex = [...new TextEncoder().encode(value)].map((byte) => byte.toString(16).padStart(2, "0"));
  const forms: Record<string, string> = {
    raw: value,
    prefix: value.slice(0, 12),
    upper: value.toUpperCase(),
    lower: value.toLowerCase(),
    reversed: [...value].reverse().join(""),
    "in pieces": [...value].join(" "),
    "in quotes": [...value].join('" + "'),
    "in JSON lines": [...value].join("\\n"),
    base64: btoa(value),
    "base64 shifted": btoa(`x${value}`),
    "base64 shifted twice": btoa(`xy${value}!`),
    "base64url": btoa(`?>${value}`).replaceAll("+", "-").replaceAll("/", "_"),
    hex: hex.join("").toUpperCase(),
    percent: hex.map((pair) => `%${pair}`).join(""),
    "\\u": hex.map((pair) => `\\u00${pair}`).join(""),
    "UTF-16": [...value].join("\0"),
  };
  for (const [form, text] of Object.entries(forms)) {
    assert.notDeepEqual(scan.text(`before ${text} after`), [], form);
    assert.ok(scan.text(`before ${text} after`).every((find) => find.startsWith("env:")), form);
  }
  const gzip = new Response(new Blob([value]).stream().pipeThrough(new CompressionStream("gzip")));
  assert.notDeepEqual(await scan.bytes(new Uint8Array(await gzip.arrayBuffer())), []);
  assert.deepEqual(scan.text("nothing CNRY here"), []);
});

Deno.test("a run shows what left it: wire, disk, output, processes", async () => {
  await using stage = await openStage({ marker: null });
  const prompt = `say ${stage.canary("env")}`;
  const leak = await stage.write("leak.txt", stage.canary("key"));
  const args = ["--no-session-persistence"];
  const played = await stage.play("rem", { prompt, args, script: [say("Hello.")] });
  assert.equal(played.done.code, 0, played.done.stderr);
  assert.deepEqual(played.done.stdout, "Hello.\n");
  assert.deepEqual(played.leaks.wire, ["env: raw", "env: stripped"]);
  assert.deepEqual(played.leaks.disk.sort(), [`${leak}: key: raw`, `${leak}: key: stripped`]);
  assert.deepEqual(played.leaks.output, []);
  assert.ok(played.connections > 0);
});

Deno.test("the sink counts who connects and keeps what they say", async () => {
  await using stage = await openStage({ marker: null });
  const socket = await Deno.connect({ hostname: "127.0.0.2", port: stage.sink.port });
  await socket.write(new TextEncoder().encode("hello"));
  socket.close();
  while (stage.sink.received().length < 5) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(stage.sink.connectionCount(), 1);
});
