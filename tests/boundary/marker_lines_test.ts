/** Lines of a marker that look like a rule of another tool: nothing starts before the user has said what is meant. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { assertRefusedRun, assertSealed, openStage } from "./harness.ts";

const script = [ask(want("read", { path: ".env" })), say("Done.")];

for (
  const line of [
    '".env"',
    ".env # the token",
    ".env, secrets",
    "{.env,x}",
    ".[e]nv",
    "pub.txt\u000bno-cloud: .env",
    "pub.txt\u2028no-cloud: .env",
    "pub.txt\u0085no-cloud: .env",
  ]
) {
  Deno.test(`a remote session does not start with the marker line ${JSON.stringify(line)}, and a local one protects all`, async () => {
    await using stage = await openStage({ marker: `# mine\nno-cloud: ${line}\n` });
    const remote = await stage.play("rem", { script });
    assertRefusedRun(remote, /\.agentclisecret.*line 2 /);
    assertSealed(remote);
    const local = await stage.play("loc", { script });
    assert.ok(local.sent.includes(stage.canary("env")), local.done.stderr);
    assertSealed(local);
  });
}

Deno.test("secrets add writes a line that works for a name of any signs", async () => {
  await using stage = await openStage({ marker: null, bare: true });
  const names = ['"quoted"', "a, b", "[id].txt", "{x}.txt", "with # sign", "tab\tname", "bell\u0007", "line\u2028name"];
  for (const [index, name] of names.entries()) await stage.plant(name, `n${index}`);
  const added = await stage.play("loc", { script: [], argv: ["secrets", "add", "--", ...names] });
  assert.equal(added.done.code, 0, added.done.stderr);
  const calls = names.map((name) => want("read", { path: name }));
  const remote = await stage.play("rem", { script: [ask(...calls), say("Done.")] });
  assert.equal(remote.done.code, 0, remote.done.stderr);
  assertSealed(remote);
  assert.equal(remote.results.filter((result) => /\.agentclisecret:\d+ no-cloud/.test(result)).length, names.length);
});

const LED = [
  ["no-cloud: k", "."],
  ["no-cloud: k/*", "/"],
  ["list-only: k", ".."],
  ["no-cloud: k", "/usr"],
  ["no-cloud: k/**/x", "/proc"],
] as const;

for (const [line, target] of LED) {
  Deno.test(`while a link to ${target} makes the line ${line} cover its marker or the system, only local sessions start`, async () => {
    await using stage = await openStage({ marker: `${line}\n` });
    const link = `${stage.project}/k`;
    const secret = ask(want("read", { path: "pub.txt" }));
    await stage.plant("pub.txt", "open");
    await Deno.symlink(target, link);
    const remote = await stage.play("rem", { script: [secret, say("Done.")] });
    assertRefusedRun(remote, /leads to the marker itself, above it, or to .* through the link .*\n *remove /);
    assertSealed(remote);
    const local = await stage.play("loc", { script: [secret, say("Done.")] });
    const isReadable = line.startsWith("no-cloud");
    assert.equal(local.sent.includes(stage.canary("open")), isReadable, local.results.join());
    assertSealed(local);
    // Nothing is remembered of it: it was never a line that works.
    await Deno.remove(link);
    stage.exempt("pub.txt");
    const after = await stage.play("rem", { script: [secret, say("Done.")] });
    assert.equal(after.done.code, 0, after.done.stderr);
    assert.ok(after.sent.includes(stage.canary("open")), "control: without the link it is open");
  });
}
