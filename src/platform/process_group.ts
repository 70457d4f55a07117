/** Groups of processes, processes that outlive us, and the proof later that a process id still means the same one. */
import { isFile } from "./real_path.ts";
import { after } from "./sleep.ts";

/** A process that {@link spawnLeader} started. */
export interface GroupLeader {
  pid: number;
  /** Whether the leader itself runs: when it does not, its id may belong to another process. */
  isRunning(): boolean | Promise<boolean>;
}

/** Fixed locations: a `setsid` found through PATH could be anybody's. */
const SETSID_PLACES: readonly string[] = ["/usr/bin/setsid", "/bin/setsid", "/run/current-system/sw/bin/setsid"];
/** Milliseconds between looks whether a group is gone. */
const LOOK_MS = 20;
/** Checks of a killed group: what is still there after five seconds waits for the system. */
const KILL_LOOKS = 250;

/** Returns the absolute path of `setsid`; null where there is none (macOS, Windows). */
export function findSetsid(): string | null {
  if (Deno.build.os === "windows") return null;
  return SETSID_PLACES.find(isFile) ?? null;
}

/**
 * Starts a process that leads a group of its own (not on Windows, which has none). By `setsid` where there is one: the
 * group is then created a moment after the start, and a missing program exits with 127. `detached` creates it before,
 * but copies this whole process for it (6 ms instead of 0.3, measured with Deno 2.9.6). `outlives`: it keeps running
 * without us.
 */
export function spawnLeader(
  argv: readonly [string, ...string[]],
  options: Omit<Deno.CommandOptions, "args" | "detached">,
  { setsid, outlives = false }: { setsid: string | null; outlives?: boolean },
): Deno.ChildProcess {
  const [program, ...args] = setsid === null ? argv : [setsid, ...argv] as const;
  // Never both: `setsid` would have to fork, and the process id would be the wrong one.
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
 * Asks the group to end, and after `graceMs` milliseconds kills it, again and again until it is gone. A leader that has
 * not created its group yet is ended by itself. Returns whether anything was still running. The only place that ends
 * groups.
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

/** Returns whether neither the group nor its leader is there. That wakes a stopped group, which has to end. */
async function isGone(leader: GroupLeader): Promise<boolean> {
  if (Deno.build.os === "windows") return !await leader.isRunning();
  const group = groupOf(leader);
  // Mostly nothing is left, and one call shows that: to look through all processes takes milliseconds.
  if (signalTo(group, "SIGCONT")) return !await leader.isRunning() && await onlyZombies(leader);
  if (await leader.isRunning()) return false;
  // It may have created its group just before it ended.
  return !signalTo(group, "SIGCONT");
}

/** Returns the target of a signal to the whole group; on Windows the process alone. */
function groupOf({ pid }: GroupLeader): number {
  return Deno.build.os === "windows" ? pid : -pid;
}

/** Sends a signal; returns whether a process was there to get it. */
function signalTo(target: number, signal: Deno.Signal): boolean {
  try {
    // Windows has no signals; this one ends the process.
    Deno.kill(target, Deno.build.os === "windows" ? "SIGKILL" : signal);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether a group consists only of zombies: in containers nobody may ever collect them. Linux only. */
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

/** A program to start so that it keeps running without us. */
interface DetachedOptions {
  /** The program, absolute, and its arguments. */
  argv: readonly [string, ...string[]];
  cwd: string;
  /** All variables the process gets; nothing is inherited. */
  env: Record<string, string>;
  /** Absolute path of an existing file: the output is appended to it. Not kept on Windows. */
  log: string;
}

/** A process that keeps running without us. */
interface DetachedProcess {
  pid: number;
  /** Resolves with the exit code if it ends while we are there. */
  ended: Promise<number>;
}

/**
 * The text is fixed and the command comes as arguments, so no shell reads a word of it. It is here for what the runtime
 * cannot do: give a child a file as its output, and let it stay when the terminal goes.
 */
const KEEP_GOING = `trap '' HUP; log=$1; shift; exec "$@" >>"$log" 2>&1`;

/**
 * Starts a process that does not end with us. Throws when it cannot be started; on Unix that is exit code 127 instead.
 */
export function startDetached({ argv, cwd, env, log }: DetachedOptions): DetachedProcess {
  const command = Deno.build.os === "windows" ? argv : ["/bin/sh", "-c", KEEP_GOING, "sh", log, ...argv] as const;
  const child = spawnLeader(
    command,
    { cwd, env, clearEnv: true, stdin: "null", stdout: "null", stderr: "null" },
    { setsid: findSetsid(), outlives: true },
  );
  return { pid: child.pid, ended: child.status.then(({ code }) => code) };
}

/** The fixed location of `setpriv`: one found through PATH could be anybody's. */
const SETPRIV_PLACES: readonly string[] = ["/usr/bin/setpriv", "/bin/setpriv"];

/**
 * Shell: runs a command on its own streams, and collects it; when the signal comes, asks the whole group to end, and
 * kills it a second later.
 */
const END_GROUP = `trap : TERM; trap 'kill 0; sleep 1; kill -9 0' USR1
exec 3<&0 4>&2 2>/dev/null; "$@" <&3 2>&4 3<&- 4>&- & exec 3<&- 4>&-
wait $!; code=$?; while kill -0 $!; do wait $!; code=$?; done; exit $code`;

/**
 * Returns the command, changed so that its process is asked to end when ours is killed (`kill -9`); with `group` also
 * everything in its group, which it has to lead. On Linux with `setpriv`; elsewhere the command as it is.
 */
export function endingWithUs(
  argv: readonly [string, ...string[]],
  { group = false }: { group?: boolean } = {},
): readonly [string, ...string[]] {
  if (Deno.build.os !== "linux") return argv;
  const setpriv = SETPRIV_PLACES.find(isFile);
  if (setpriv === undefined) return argv;
  const words = group ? ["USR1", "--", "/bin/sh", "-c", END_GROUP, "sh"] : ["TERM", "--"];
  return [setpriv, "--pdeathsig", ...words, ...argv];
}

/**
 * Returns a text that no other process has or will have, for as long as `pid` (else this process) runs; null when it
 * does not, or only waits to be collected. Linux: boot and start time in ticks; macOS: start time to the second by
 * `ps`; Windows: by PowerShell.
 */
export async function processIdentity(pid = Deno.pid): Promise<string | null> {
  if (!Number.isInteger(pid) || pid <= 1) return null;
  if (Deno.build.os === "linux") return await linuxIdentity(pid);
  const text = Deno.build.os === "windows"
    ? await printedBy(
      `${Deno.env.get("SYSTEMROOT") ?? "C:\\Windows"}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`,
      ["-NoProfile", "-NonInteractive", "-Command", `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().Ticks`],
    )
    : await printedBy("/bin/ps", ["-o", "stat=,lstart=", "-p", String(pid)]);
  const [, state, start] = /^\s*(?:([A-Z]\S*)\s+)?(\S.*\S)\s*$/.exec(text) ?? [];
  return start === undefined || state?.startsWith("Z") ? null : `${pid} ${start}`;
}

async function linuxIdentity(pid: number): Promise<string | null> {
  const text = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => null);
  if (text === null) return null;
  // After the name in parentheses, which may hold anything: the state, and 19 fields later the start in ticks.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, start] = [fields[0], fields[19]];
  if (start === undefined || state === "Z" || state === "X") return null;
  const boot = await Deno.readTextFile("/proc/sys/kernel/random/boot_id").catch(() => "");
  return `${pid} ${boot.trim()} ${start}`;
}

/** Runs `command` to its end; null when it cannot be started (Deno throws that at once, not through the promise). */
export async function outputOf(command: Deno.Command): Promise<Deno.CommandOutput | null> {
  try {
    return await command.output();
  } catch {
    return null;
  }
}

/** Returns what a program prints; nothing where it cannot be started. */
export async function printedBy(program: string, args: string[]): Promise<string> {
  const done = await outputOf(new Deno.Command(program, { args, stdin: "null", stderr: "null" }));
  return new TextDecoder().decode(done?.stdout).trim();
}

/**
 * Ends a process that {@link startDetached} started, with all it started: asked first, killed after `graceMs`
 * milliseconds. Only when `identity` still holds; returns whether it did.
 */
export async function endDetached(
  { pid, identity }: { pid: number; identity: string },
  options: { graceMs: number },
): Promise<boolean> {
  const isRunning = async () => await processIdentity(pid) === identity;
  if (!await isRunning()) return false;
  await endGroup({ pid, isRunning }, options.graceMs);
  return true;
}
