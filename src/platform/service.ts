/** Processes that are to outlive us, and the proof later that a process id still means the same one. */
import { endGroup, findSetsid, spawnLeader } from "./process_group.ts";
import { stat } from "./files.ts";

/** What to start so that it goes on without us. */
export interface DetachedOptions {
  /** The program, absolute, and its arguments. */
  argv: readonly [string, ...string[]];
  cwd: string;
  /** All variables the process gets; nothing is inherited. */
  env: Record<string, string>;
  /** Absolute path of a file that is there: what the process writes is added to it. Not kept on Windows. */
  log: string;
}

/** A process that goes on without us. */
export interface DetachedProcess {
  pid: number;
  /** Resolves with the exit code if it ends while we are there. */
  ended: Promise<number>;
}

/**
 * The text is fixed and the command comes as arguments, so no shell reads a word of it. It is here for what the runtime
 * cannot do: give a child a file as its output, and let it stay when the terminal goes.
 */
const KEEP_GOING = `trap '' HUP; log=$1; shift; exec "$@" >>"$log" 2>&1`;

/** Starts a process that does not end with us. Throws when it cannot be started; on Unix that is exit code 127 instead. */
export async function startDetached({ argv, cwd, env, log }: DetachedOptions): Promise<DetachedProcess> {
  const command = Deno.build.os === "windows" ? argv : ["/bin/sh", "-c", KEEP_GOING, "sh", log, ...argv] as const;
  const child = spawnLeader(
    command,
    { cwd, env, clearEnv: true, stdin: "null", stdout: "null", stderr: "null" },
    { setsid: await findSetsid(), outlives: true },
  );
  return { pid: child.pid, ended: child.status.then(({ code }) => code) };
}

/** Where `setpriv` is, fixed: one found through PATH could be anybody's. */
const SETPRIV_PLACES: readonly string[] = ["/usr/bin/setpriv", "/bin/setpriv"];

/**
 * The command so that its process is asked to end when ours is gone without a word (`kill -9`). On Linux with `setpriv`;
 * elsewhere the command as it is.
 */
export async function endingWithUs(argv: readonly [string, ...string[]]): Promise<readonly [string, ...string[]]> {
  if (Deno.build.os !== "linux") return argv;
  for (const place of SETPRIV_PLACES) {
    const found = await stat(place).catch(() => null);
    if (found?.kind === "file") return [place, "--pdeathsig", "TERM", "--", ...argv];
  }
  return argv;
}

/**
 * A text that no other process has or will have, for as long as `pid` runs; null when it does not, or only waits to be
 * collected. Linux: boot and start time in ticks; macOS: start time to the second by `ps`; Windows: by PowerShell.
 */
export async function processIdentity(pid: number): Promise<string | null> {
  if (!Number.isInteger(pid) || pid <= 1) return null;
  if (Deno.build.os === "linux") return await linuxIdentity(pid);
  const text = Deno.build.os === "windows"
    ? await outputOf([
      `${Deno.env.get("SYSTEMROOT") ?? "C:\\Windows"}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`,
      "-NoProfile",
      "-NonInteractive",
      "-Command",
      `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().Ticks`,
    ])
    : await outputOf(["/bin/ps", "-o", "stat=,lstart=", "-p", String(pid)]);
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

async function outputOf(argv: readonly [string, ...string[]]): Promise<string> {
  const [program, ...args] = argv;
  const { stdout } = await new Deno.Command(program, { args, stdin: "null", stderr: "null" }).output()
    .catch(() => ({ stdout: new Uint8Array() }));
  return new TextDecoder().decode(stdout).trim();
}

/**
 * Ends a process that {@link startDetached} started, with all it started: asked first, made to after `graceMs`
 * milliseconds. Only when `identity` still holds; gives whether it did.
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
