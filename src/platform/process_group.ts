/** Starting a process as the leader of a group of its own, and ending it with everything it started. */
import { stat } from "./files.ts";
import { after } from "./sleep.ts";

/** A process that {@link spawnLeader} started. */
export interface GroupLeader {
  pid: number;
  /** Whether the leader itself runs: when it does not, its id may belong to another process. */
  isRunning(): boolean | Promise<boolean>;
}

/** Fixed places: a `setsid` found through PATH could be anybody's. */
const SETSID_PLACES: readonly string[] = ["/usr/bin/setsid", "/bin/setsid", "/run/current-system/sw/bin/setsid"];
/** Milliseconds between looks whether a group is gone. */
const LOOK_MS = 20;
/** Looks at a group that was killed: what is still there after five seconds waits for the system. */
const KILL_LOOKS = 250;

/** Returns the absolute path of `setsid`; null where there is none (macOS, Windows). */
export async function findSetsid(): Promise<string | null> {
  if (Deno.build.os === "windows") return null;
  for (const place of SETSID_PLACES) {
    if ((await stat(place).catch(() => null))?.kind === "file") return place;
  }
  return null;
}

/**
 * Starts a process that leads a group of its own (not on Windows, which has none). By `setsid` where there is one: the
 * group is then made a moment after the start, and a missing program exits with 127. `detached` makes it before, but
 * copies this whole process for it (6 ms instead of 0.3, measured with Deno 2.9.6). `outlives`: it goes on without us.
 */
export function spawnLeader(
  argv: readonly [string, ...string[]],
  options: Omit<Deno.CommandOptions, "args" | "detached">,
  { setsid, outlives = false }: { setsid: string | null; outlives?: boolean },
): Deno.ChildProcess {
  const [program, ...args] = setsid === null ? argv : [setsid, ...argv] as const;
  // Never both: `setsid` would have to fork, and the process id would be that of nobody.
  const detached = setsid === null && (outlives || Deno.build.os !== "windows");
  return new Deno.Command(program, { ...options, args, detached }).spawn();
}

/** Returns the leader of a child's group. */
export function leaderOf(child: Deno.ChildProcess): GroupLeader {
  let running = true;
  const ended = () => void (running = false);
  child.status.then(ended, ended);
  return { pid: child.pid, isRunning: () => running };
}

/**
 * Asks the group to end, and after `graceMs` milliseconds makes it, again and again until it is gone. A leader that has
 * not made its group yet is ended by itself. Returns whether anything was still running. The only place that ends groups.
 */
export async function endGroup(leader: GroupLeader, graceMs: number): Promise<boolean> {
  if (await isGone(leader)) return false;
  const askGroup = () => signalTo(groupOf(leader), "SIGTERM");
  // Once is enough: many programs take a second request as "at once".
  let asked = askGroup();
  if (!asked && await leader.isRunning()) signalTo(leader.pid, "SIGTERM");
  const end = performance.now() + graceMs;
  while (performance.now() < end) {
    await look();
    if (await isGone(leader)) return true;
    asked ||= askGroup();
  }
  for (let looks = 0; looks < KILL_LOOKS && !await isGone(leader); looks++) {
    signalTo(groupOf(leader), "SIGKILL");
    if (await leader.isRunning()) signalTo(leader.pid, "SIGKILL");
    await look();
  }
  return true;
}

function look(): Promise<void> {
  return new Promise((resolve) => void after(LOOK_MS, resolve));
}

/** Returns whether neither the group nor its leader is there. A group that is stopped is woken by that: it has to end. */
async function isGone(leader: GroupLeader): Promise<boolean> {
  if (Deno.build.os === "windows") return !await leader.isRunning();
  const group = groupOf(leader);
  // Mostly nothing is left, and one call tells: to look through all processes takes milliseconds.
  if (signalTo(group, "SIGCONT")) return !await leader.isRunning() && await onlyZombies(leader);
  if (await leader.isRunning()) return false;
  // It may have made its group just before it ended.
  return !signalTo(group, "SIGCONT");
}

/** What stands for the whole group in a signal; on Windows the process alone. */
function groupOf({ pid }: GroupLeader): number {
  return Deno.build.os === "windows" ? pid : -pid;
}

/** Sends a signal; returns whether somebody was there to get it. */
function signalTo(target: number, signal: Deno.Signal): boolean {
  try {
    // Windows knows no signals; this one ends the process.
    Deno.kill(target, Deno.build.os === "windows" ? "SIGKILL" : signal);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether all that is left of a group waits to be collected: in containers nobody may ever do that. Linux only. */
async function onlyZombies({ pid }: GroupLeader): Promise<boolean> {
  if (Deno.build.os !== "linux") return false;
  try {
    for await (const entry of Deno.readDir("/proc")) {
      if (!/^\d+$/.test(entry.name)) continue;
      const text = await Deno.readTextFile(`/proc/${entry.name}/stat`).catch(() => "");
      // After the name in parentheses: state, parent, group.
      const [state, , number] = text.slice(text.lastIndexOf(")") + 2).split(" ");
      if (Number(number) === pid && state !== "Z" && state !== "X") return false;
    }
    return true;
  } catch {
    return false;
  }
}
