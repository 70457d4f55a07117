/**
 * Ending a process with everything it started. `setsid` makes the group, because no option of the runtime does: with
 * `detached` the child keeps the group of its parent (measured with Deno 2.9.6).
 */
import { outputOf } from "./program_output.ts";
import { stat } from "./files.ts";

/** A started process. `grouped`: it leads a process group of its own. */
export interface ProcessGroup {
  pid: number;
  grouped: boolean;
}

/** Fixed places: a `setsid` found through PATH could be anybody's. */
const SETSID_PLACES: readonly string[] = ["/usr/bin/setsid", "/bin/setsid", "/run/current-system/sw/bin/setsid"];
/** Milliseconds between looks whether a group is gone. */
const LOOK_MS = 20;

/** The absolute path of `setsid`, or null where there is none (macOS, Windows). */
export async function findSetsid(): Promise<string | null> {
  if (Deno.build.os === "windows") return null;
  for (const place of SETSID_PLACES) {
    if ((await stat(place).catch(() => null))?.kind === "file") return place;
  }
  return null;
}

/**
 * Asks the group to end, and after `graceMs` milliseconds makes it. Resolves once it is gone or was killed. Gives whether
 * anything of it was still running.
 */
export async function endGroup(group: ProcessGroup, graceMs: number): Promise<boolean> {
  const targets = await targetsOf(group);
  // Mostly nothing is left, and one call tells: to look through all processes takes milliseconds.
  if (group.grouped && !signalAll(targets, "SIGCONT")) return false;
  if (await onlyZombies(group) || !signalAll(targets, "SIGTERM")) return false;
  const end = performance.now() + graceMs;
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    // A stopped process cannot end: waking it does no harm, and tells whether anything is left.
    if (!signalAll(targets, "SIGCONT") || await onlyZombies(group)) return true;
  }
  signalAll(targets, "SIGKILL");
  return true;
}

async function targetsOf(group: ProcessGroup): Promise<number[]> {
  if (group.grouped) return [-group.pid];
  return Deno.build.os === "windows" ? [group.pid] : await descendants(group.pid);
}

/** Sends `signal` to each; whether one was there to get it. */
function signalAll(targets: readonly number[], signal: Deno.Signal): boolean {
  let reached = false;
  for (const target of targets) {
    try {
      // Windows knows no signals; this one ends the process.
      Deno.kill(target, Deno.build.os === "windows" ? "SIGKILL" : signal);
      reached = true;
    } catch {
      // Gone already.
    }
  }
  return reached;
}

/** Whether all that is left of a group waits to be collected: in containers nobody may ever do that. Linux only. */
async function onlyZombies(group: ProcessGroup): Promise<boolean> {
  if (Deno.build.os !== "linux" || !group.grouped) return false;
  try {
    for await (const entry of Deno.readDir("/proc")) {
      if (!/^\d+$/.test(entry.name)) continue;
      const text = await Deno.readTextFile(`/proc/${entry.name}/stat`).catch(() => "");
      // After the name in parentheses: state, parent, group.
      const [state, , number] = text.slice(text.lastIndexOf(")") + 2).split(" ");
      if (Number(number) === group.pid && state !== "Z" && state !== "X") return false;
    }
    return true;
  } catch {
    return false;
  }
}

/**
 * The process and what descends from it, children first, by `ps`: the way without `setsid`. A child whose parent has
 * already exited is missed. Not measured on macOS yet.
 */
async function descendants(root: number): Promise<number[]> {
  const listing = await outputOf(
    new Deno.Command("/bin/ps", { args: ["-A", "-o", "pid=,ppid="], stdin: "null", stderr: "null" }),
  );
  const pairs = new TextDecoder().decode(listing?.stdout).split("\n").map((line) =>
    line.trim().split(/ +/).map(Number)
  );
  const found = [root];
  for (const parent of found) {
    for (const [pid, above] of pairs) {
      if (pid !== undefined && above === parent && !found.includes(pid)) found.push(pid);
    }
  }
  return found.reverse();
}
