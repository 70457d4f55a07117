/** Runs a child and measures it: time, processor time of it and its children, largest memory. */

/** What one run came to. */
export interface Measured {
  /** Spawn to exit, milliseconds. */
  wallMs: number;
  /** User and system time, milliseconds; null where the system does not tell. */
  cpuMs: number | null;
  /** Largest resident memory of the largest process of the child's tree, MiB; null without `/proc`. */
  memoryMiB: number | null;
  /** Just before the spawn, milliseconds since 1970. */
  started: number;
  stdout: string;
  stderr: string;
  /** Exit code; 137 when the time was up. */
  code: number;
}

/** How a child is run. */
export interface ChildOptions {
  cwd: string;
  env: Record<string, string>;
  clock: (() => number) | null;
  /** Look at the processes that the child starts as well, which takes longer. */
  tree?: boolean;
  /** It is killed after so many milliseconds. */
  deadlineMs?: number;
}

/** How often the memory's high-water mark is looked at, in milliseconds. */
const SAMPLE_MS = 5;

/** `RUSAGE_CHILDREN` of getrusage(2). */
const CHILDREN = -1;

/**
 * Processor time of all children that have ended and been waited for, in milliseconds. Deno does not tell it, libc
 * does. Null on Windows.
 */
export function openChildClock(): (() => number) | null {
  if (Deno.build.os === "windows") return null;
  const name = Deno.build.os === "darwin" ? "libSystem.B.dylib" : "libc.so.6";
  try {
    const { symbols } = Deno.dlopen(name, { getrusage: { parameters: ["i32", "buffer"], result: "i32" } });
    return () => {
      const usage = new BigInt64Array(32);
      symbols.getrusage(CHILDREN, usage);
      // Two `timeval`s; on macOS the microseconds are 32 bits wide, with padding that is zero.
      const [seconds = 0n, micro = 0n, systemSeconds = 0n, systemMicro = 0n] = usage;
      return Number(seconds + systemSeconds) * 1000 + Number(micro + systemMicro) / 1000;
    };
  } catch {
    return null;
  }
}

async function highWater(pid: number): Promise<number | null> {
  try {
    const kib = (await Deno.readTextFile(`/proc/${pid}/status`)).match(/^VmHWM:\s+(\d+)/m)?.[1];
    return kib === undefined ? null : Number(kib) / 1024;
  } catch {
    return null;
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const found: number[] = [];
  try {
    for await (const { name } of Deno.readDir(`/proc/${pid}/task`)) {
      const text = await Deno.readTextFile(`/proc/${pid}/task/${name}/children`);
      found.push(...text.split(" ").filter((word) => word !== "").map(Number));
    }
  } catch {
    // It has ended.
  }
  return found;
}

async function treeHighWater(pid: number): Promise<number | null> {
  const [own, ...below] = await Promise.all([
    highWater(pid),
    ...(await childrenOf(pid)).map((child) => treeHighWater(child)),
  ]);
  const known = [own, ...below].filter((value) => typeof value === "number");
  return known.length === 0 ? null : Math.max(...known);
}

/** Runs `argv` to its end. One run at a time: processor time is a sum. */
export async function measure(argv: readonly string[], options: ChildOptions): Promise<Measured> {
  const [command = "", ...args] = argv;
  const cpuBefore = options.clock?.() ?? 0;
  const started = performance.timeOrigin + performance.now();
  const child = new Deno.Command(command, {
    args,
    cwd: options.cwd,
    env: options.env,
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let memoryMiB: number | null = null;
  const look = options.tree === true ? treeHighWater : highWater;
  const sampling = setInterval(async () => {
    const now = await look(child.pid);
    if (now !== null) memoryMiB = Math.max(memoryMiB ?? 0, now);
  }, SAMPLE_MS);
  const deadline = options.deadlineMs === undefined
    ? undefined
    : setTimeout(() => child.kill("SIGKILL"), options.deadlineMs);
  const [status, stdout, stderr] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const wallMs = performance.timeOrigin + performance.now() - started;
  clearInterval(sampling);
  clearTimeout(deadline);
  const cpuMs = options.clock ? options.clock() - cpuBefore : null;
  return { wallMs, cpuMs, memoryMiB, started, stdout, stderr, code: status.code };
}
