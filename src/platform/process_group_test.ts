import assert from "node:assert/strict";
import { endGroup, findSetsid, type GroupLeader, leaderOf, spawnLeader } from "./process_group.ts";
import { processIdentity } from "./service.ts";

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
    const child = spawnLeader(["/bin/sleep", "1000"], options, { setsid: await findSetsid() });
    const identity = await processIdentity(child.pid);
    assert.equal(await endGroup(leaderOf(child), 2000), true);
    assert.equal(await ended(child), "SIGTERM");
    await child.stdout.cancel();
    assert.notEqual(await processIdentity(child.pid), identity);
  }
});

Deno.test("where there is no setsid, what a process started ends with it all the same", linux, async () => {
  const child = spawnLeader(["/bin/sh", "-c", "/bin/sleep 1000 & echo $!; wait"], options, { setsid: null });
  const pid = Number(await started(child));
  assert.notEqual(await processIdentity(pid), null);
  assert.equal(await endGroup(leaderOf(child), 2000), true);
  await ended(child);
  // Whose parent is gone waits for the first process to collect it.
  assert.equal(await processIdentity(pid), null);
});

Deno.test("of a process that has ended nothing is left to end, and its number is left alone", linux, async () => {
  const child = spawnLeader(["/bin/true"], options, { setsid: await findSetsid() });
  const leader = leaderOf(child);
  await ended(child);
  await child.stdout.cancel();
  assert.equal(await endGroup(leader, 2000), false);
});
