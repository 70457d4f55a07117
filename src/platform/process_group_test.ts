import {
  endDetached,
  endGroup,
  endingWithUs,
  findSetsid,
  type GroupLeader,
  leaderOf,
  processIdentity,
  spawnLeader,
  startDetached,
} from "./process_group.ts";
import { run } from "./process.ts";
import assert from "node:assert/strict";

const linux = { ignore: Deno.build.os !== "linux" };
const options = { cwd: "/", env: {}, clearEnv: true, stdin: "piped", stdout: "piped", stderr: "null" } as const;

/** A process that leads no group until it is told to: what every process is in the moment of its start. */
function notYetLeader(script: string): Deno.ChildProcess {
  const argv = ["-c", `${script}; echo up; read go; exec setsid "$@"`, "sh", "/bin/sleep", "1000"];
  return new Deno.Command("/bin/sh", { ...options, args: argv, env: { PATH: "/usr/bin:/bin" } }).spawn();
}

/** Waits for the first bytes of its output: it runs then. */
async function started(child: Deno.ChildProcess): Promise<string> {
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

async function ended(child: Deno.ChildProcess): Promise<string | null> {
  const { signal } = await child.status;
  await child.stdin.close().catch(() => {});
  return signal;
}

for (
  const [name, script] of [["is asked to end", ":"], ["and does not want to end is made to", "trap '' TERM"]] as const
) {
  Deno.test(`a process that has not made its group yet ${name}`, linux, async () => {
    const child = notYetLeader(script);
    await started(child);
    assert.equal(await endGroup(leaderOf(child), 100), true);
    assert.equal(await ended(child), script === ":" ? "SIGTERM" : "SIGKILL");
  });
}

Deno.test("a process that makes its group while it is ended is ended with the group", linux, async () => {
  const child = notYetLeader("trap '' TERM");
  await started(child);
  const known = leaderOf(child);
  let looks = 0;
  const leader: GroupLeader = {
    pid: known.pid,
    isRunning() {
      // It was asked, and did not listen: now it makes its group.
      if (++looks === 3) void child.stdin.getWriter().write(new TextEncoder().encode("go\n"));
      return known.isRunning();
    },
  };
  assert.equal(await endGroup(leader, 200), true);
  assert.equal((await child.status).signal, "SIGKILL");
});

Deno.test("a process that was ended before it ran one instruction of its own is ended", linux, async () => {
  for (let time = 0; time < 20; time++) {
    const child = spawnLeader(["/bin/sleep", "1000"], options, { setsid: findSetsid() });
    const identity = await processIdentity(child.pid);
    assert.equal(await endGroup(leaderOf(child), 2000), true);
    assert.equal(await ended(child), "SIGTERM");
    await child.stdout.cancel();
    assert.notEqual(await processIdentity(child.pid), identity);
  }
});

Deno.test("where there is no setsid, what a process started still ends with it", linux, async () => {
  const child = spawnLeader(["/bin/sh", "-c", "/bin/sleep 1000 & echo $!; wait"], options, { setsid: null });
  const pid = Number(await started(child));
  assert.notEqual(await processIdentity(pid), null);
  assert.equal(await endGroup(leaderOf(child), 2000), true);
  await ended(child);
  // Whose parent is gone waits for the first process to collect it.
  assert.equal(await processIdentity(pid), null);
});

Deno.test("of a process that has ended nothing is left to end, and its number is left alone", linux, async () => {
  const child = spawnLeader(["/bin/true"], options, { setsid: findSetsid() });
  const leader = leaderOf(child);
  await ended(child);
  await child.stdout.cancel();
  assert.equal(await endGroup(leader, 2000), false);
});

const unix = { ignore: Deno.build.os === "windows" };

async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "agentcli test " });
  try {
    await work(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Asks again and again, since the system reports no change by itself. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const limit = performance.now() + 10_000;
  while (!await holds()) assert.ok(performance.now() < limit, "waited too long");
}

async function detached(directory: string, script: string, ...words: string[]) {
  const log = `${directory}/the log`;
  await Deno.writeTextFile(log, "");
  const argv = ["/bin/sh", "-c", script, "sh", ...words] as const;
  return { log, ...startDetached({ argv, cwd: directory, env: { ONLY: "this" }, log }) };
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
  const argv = endingWithUs(["/bin/sh", "-c", 'printf "%s|" "$@"', "sh", "-x", "--", "a b"]);
  const onOutput = (bytes: Uint8Array) => text += new TextDecoder().decode(bytes);
  const { code } = await run({ argv, cwd: "/", env: {}, onOutput });
  assert.deepEqual([code, text], [0, "-x|--|a b|"]);
});
