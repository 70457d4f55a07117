import assert from "node:assert/strict";
import { run } from "./process.ts";
import { endDetached, endingWithUs, processIdentity, startDetached } from "./service.ts";

const unix = { ignore: Deno.build.os === "windows" };

async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "agentcli test " });
  try {
    await work(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Asks again and again, since the system tells of no change by itself. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const limit = performance.now() + 10_000;
  while (!await holds()) assert.ok(performance.now() < limit, "waited too long");
}

async function detached(directory: string, script: string, ...words: string[]) {
  const log = `${directory}/the log`;
  await Deno.writeTextFile(log, "");
  const argv = ["/bin/sh", "-c", script, "sh", ...words] as const;
  return { log, ...await startDetached({ argv, cwd: directory, env: { ONLY: "this" }, log }) };
}

Deno.test("what a detached process writes is in its log, and its words arrive as they are", unix, async () => {
  await withDirectory(async (directory) => {
    const word = "a b; $(touch x) `y` 'z' \"$HOME\"";
    const { log, ended } = await detached(directory, 'printf "%s|" "$@"; echo err >&2; exit 3', word, "");
    assert.equal(await ended, 3);
    assert.equal(await Deno.readTextFile(log), `${word}||err\n`);
    assert.deepEqual([...Deno.readDirSync(directory)].map((entry) => entry.name), ["the log"]);
  });
});

Deno.test("a process has one identity while it runs, and none afterwards", unix, async () => {
  await withDirectory(async (directory) => {
    const { pid, ended } = await detached(directory, "sleep 1000");
    const identity = await processIdentity(pid) ?? "";
    assert.match(identity, new RegExp(`^${pid} .`));
    assert.equal(await processIdentity(pid), identity);
    assert.equal(await endDetached({ pid, identity: "another" }, { graceMs: 2000 }), false);
    assert.equal(await processIdentity(pid), identity);
    assert.equal(await endDetached({ pid, identity }, { graceMs: 2000 }), true);
    assert.notEqual(await ended, 0);
    assert.equal(await processIdentity(pid), null);
    for (const none of [0, 1, -1, 1.5, NaN]) assert.equal(await processIdentity(none), null);
  });
});

Deno.test("ending a detached process ends what it started, also when it does not want to", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await withDirectory(async (directory) => {
    const { pid, log } = await detached(directory, `trap '' TERM; sleep 1000 & echo $! up; wait; sleep 1000`);
    await until(async () => (await Deno.readTextFile(log)).endsWith(" up\n"));
    const child = parseInt(await Deno.readTextFile(log));
    const identity = await processIdentity(pid) ?? "";
    assert.notEqual(await processIdentity(child), null);
    assert.equal(await endDetached({ pid, identity }, { graceMs: 100 }), true);
    // A killed process goes in its own time.
    for (const each of [pid, child]) await until(async () => await processIdentity(each) === null);
  });
});

Deno.test("a command that is to end with us still runs as it was given", unix, async () => {
  let text = "";
  const argv = await endingWithUs(["/bin/sh", "-c", 'printf "%s|" "$@"', "sh", "-x", "--", "a b"]);
  const onOutput = (bytes: Uint8Array) => text += new TextDecoder().decode(bytes);
  const { code } = await run({ argv, cwd: "/", env: {}, onOutput });
  assert.deepEqual([code, text], [0, "-x|--|a b|"]);
});
