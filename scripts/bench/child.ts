/** Runs a child and measures it: time, processor time of it and its children, largest memory. */

/** What one run came to. */
export interface Measured {
  /** Spawn to exit, milliseconds. */
  wallMs: number;
  /** User and system time, milliseconds; null where the system does not tell. */
  cpuMs: number | null;
  /** Largest resident memory of the child itself, MiB; null without `/proc`. */
  memoryMiB: number | null;
  /** Just before the spawn, milliseconds since 1970. */
  started: number;
  stdout: string;
}

/** How often the memory's high-water mark is looked at, in milliseconds. */
const SAMPLE_MS = 5;

/** `RUSAGE_CHILDREN` of getrusage(2). */
const CHILDREN = -1;

/**
 * Processor time of all children that have ended and been waited for, in milliseconds. Deno does not tell it, libc does.
 * Null on Windows.
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

/** Runs `argv` to its end. Throws with the child's errors when it fails. One run at a time: processor time is a sum. */
export async function measure(
  argv: readonly string[],
  options: { cwd: string; env: Record<string, string>; clock: (() => number) | null },
): Promise<Measured> {
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
  const sampling = setInterval(async () => {
    memoryMiB = await highWater(child.pid) ?? memoryMiB;
  }, SAMPLE_MS);
  const [status, stdout, stderr] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const wallMs = performance.timeOrigin + performance.now() - started;
  clearInterval(sampling);
  if (!status.success) throw new Error(`${argv.join(" ")} ended with ${status.code}:\n${stderr.slice(-2000)}`);
  return { wallMs, cpuMs: options.clock ? options.clock() - cpuBefore : null, memoryMiB, started, stdout };
}
