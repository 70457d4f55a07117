/** Child processes: started from an argument list, never through a shell of ours, and ended with all they started. */
import { joined } from "./text.ts";
import { isAbsolute, isWithin, join } from "./path.ts";
import { endGroup, findSetsid, leaderOf, spawnLeader } from "./process_group.ts";
import { realPathSync, statSync } from "./files.ts";
import { quietly } from "./real_path.ts";
import { ownCommand } from "./runtime.ts";
import { after, within } from "./sleep.ts";

type OutputStream = "stdout" | "stderr";

export interface ProcessOptions {
  /** The program, absolute, and its arguments. */
  argv: readonly [string, ...string[]];
  cwd: string;
  /** All variables the child gets; nothing is inherited. */
  env: Record<string, string>;
  /** Ends the child when aborted. */
  signal?: AbortSignal;
  /** Milliseconds; no limit when absent. */
  timeoutMs?: number;
  /** Written to the child's input, which is then closed, or that of this process; without it the input is empty. */
  stdin?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | "inherit" | undefined;
  /** Processes that it started continue after it exits: it set up a service. */
  leaveRunning?: boolean;
  /** Called once it is running, before any output. */
  onStart?: (() => void) | undefined;
  /**
   * Gets each piece as it arrives; must not keep all of them. Where it gives a promise, the next of that stream is read
   * when that resolves.
   */
  onOutput(bytes: Uint8Array<ArrayBuffer>, stream: OutputStream): void;
}

/** How it ended. `leftovers`: something it had started was still running and was ended too. */
export interface ProcessOutcome {
  ended: "exit" | "timeout" | "abort";
  /** Exit code; 128 and the signal's number after a signal. */
  code: number;
  leftovers: boolean;
}

/** Milliseconds between asking a process group to end and killing it. */
const GRACE_MS = 1_000;
/** Milliseconds to wait for output after the process itself is gone: something may hold the pipe open. */
const PIPE_WAIT_MS = 1_000;

/**
 * Runs a process to its end. On timeout, on abort, and for whatever it leaves behind, the whole process group is asked
 * to end, and killed after a second. A missing program throws, or exits with 127.
 */
export async function run(options: ProcessOptions): Promise<ProcessOutcome> {
  options.signal?.throwIfAborted();
  const { cwd, env, stdin } = options;
  const child = spawnLeader(
    options.argv,
    {
      ...{ cwd, env, clearEnv: true, stdout: "piped", stderr: "piped" },
      stdin: stdin === undefined ? "null" : stdin === "inherit" ? stdin : "piped",
    },
    { setsid: findSetsid() },
  );
  const leader = leaderOf(child);
  const pipes = [pump(child.stdout, "stdout", options), pump(child.stderr, "stderr", options)];
  if (stdin !== undefined && stdin !== "inherit") void feed(child.stdin, stdin);
  options.onStart?.();
  const watch = watchEnd(child.status, options);
  try {
    const first = await watch.first;
    if (first !== "exit") await endGroup(leader, GRACE_MS);
    const { code } = await child.status;
    do await within(PIPE_WAIT_MS, Promise.all(pipes.map((pipe) => pipe.done))); while (
      pipes.some((pipe) => pipe.isWaiting())
    );
    const leftovers = first === "exit" && !options.leaveRunning && await endGroup(leader, GRACE_MS);
    return { ended: first, code, leftovers };
  } finally {
    watch.stop();
    for (const pipe of pipes) await pipe.close();
  }
}

/** Runs a process and returns its standard output: at most `limit` bytes, and whether that was all. */
export async function runForOutput(
  { limit, ...options }: Omit<ProcessOptions, "onOutput"> & { limit: number },
): Promise<ProcessOutcome & { bytes: Uint8Array<ArrayBuffer>; more: boolean }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const outcome = await run({
    ...options,
    onOutput: (bytes, stream) => {
      if (stream !== "stdout") return;
      length += bytes.length;
      if (length <= limit) pieces.push(bytes);
    },
  });
  return { ...outcome, bytes: joined(pieces), more: length > limit };
}

/** Collects the output of a process as text: about `limit` characters of each stream, without the rest. */
export function collectText(
  limit: number,
): { said: Record<OutputStream, string>; onOutput: ProcessOptions["onOutput"] } {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const said = { stdout: "", stderr: "" };
  return {
    said,
    onOutput(bytes, stream) {
      if (said[stream].length < limit) said[stream] += decoders[stream].decode(bytes, { stream: true });
    },
  };
}

/** Runs a process and returns its output as {@link collectText} does. */
export async function runForText(
  { limit, ...options }: Omit<ProcessOptions, "onOutput"> & { limit: number },
): Promise<ProcessOutcome & Record<OutputStream, string>> {
  const { said, onOutput } = collectText(limit);
  return { ...await run({ ...options, onOutput }), ...said };
}

/** Returns whether standard output and standard error of this process are the same file: then their order counts. */
export function isOutputJoined(): boolean {
  const [output, error] = [quietly(() => statSync("/dev/fd/1")), quietly(() => statSync("/dev/fd/2"))];
  return output !== null && output.device === error?.device && output.inode === error.inode;
}

/** Returns the first of exit, abort and time limit. */
function watchEnd(status: Promise<unknown>, options: ProcessOptions) {
  const { promise, resolve } = Promise.withResolvers<ProcessOutcome["ended"]>();
  const onAbort = () => resolve("abort");
  const noTimeout = options.timeoutMs === undefined ? () => {} : after(options.timeoutMs, () => resolve("timeout"));
  options.signal?.addEventListener("abort", onAbort);
  if (options.signal?.aborted) onAbort();
  void status.then(() => resolve("exit"));
  return {
    first: promise,
    stop() {
      noTimeout();
      options.signal?.removeEventListener("abort", onAbort);
    },
  };
}

function pump(source: ReadableStream<Uint8Array<ArrayBuffer>>, stream: OutputStream, options: ProcessOptions) {
  const reader = source.getReader();
  let isWaiting = false;
  const read = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const taken: unknown = options.onOutput(value, stream);
      if (!(taken instanceof Promise)) continue;
      isWaiting = true;
      await taken;
      isWaiting = false;
    }
  };
  const done = read();
  // A failing listener is a bug of the caller and shows at close; until then nobody may be awaiting.
  done.catch(() => {});
  return {
    done,
    /** Whether it waits for the listener: there may be more to read. */
    isWaiting: () => isWaiting,
    async close() {
      await reader.cancel().catch(() => {});
      await done;
    },
  };
}

async function feed(
  sink: WritableStream<Uint8Array<ArrayBuffer>>,
  bytes: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<void> {
  // Whoever writes learns from the stream that the child closed its input.
  if (bytes instanceof ReadableStream) return await bytes.pipeTo(sink).catch(() => {});
  const writer = sink.getWriter();
  try {
    await writer.write(bytes);
    await writer.close();
  } catch {
    // The child may close its input before it has read everything.
  }
}

/**
 * Returns the absolute path of a program, looked up in the absolute directories of `pathVariable` (the value of PATH);
 * null when it is not there. What is in `notBelow` (as named or as linked) is passed over: a repository must not bring
 * its own.
 */
export function findExecutable(
  name: string,
  pathVariable: string,
  options: { notBelow: readonly string[] },
): string | null {
  const windows = Deno.build.os === "windows";
  for (const directory of pathVariable.split(windows ? ";" : ":")) {
    if (!isAbsolute(directory)) continue;
    for (const file of windows ? [/\.\w+$/.test(name) ? name : `${name}.exe`] : [name]) {
      const path = join(directory, file);
      if (options.notBelow.some((root) => isWithin(root, path))) continue;
      const real = executable(path);
      if (real !== null && !options.notBelow.some((root) => isWithin(root, real))) return path;
    }
  }
  return null;
}

function executable(path: string): string | null {
  // A directory of PATH that cannot be read offers no program.
  const found = quietly(() => statSync(path));
  const isProgram = found?.kind === "file" && (found.mode === null || (found.mode & 0o111) !== 0);
  return isProgram ? quietly(() => realPathSync(path)) : null;
}

/** A process of this program, which speaks over its standard input and output. */
export interface OwnProcess {
  /** The next bytes; null at the end. */
  read(): Promise<Uint8Array | null>;
  write(text: string): Promise<void>;
  /** Resolves when it has ended. */
  kill(): Promise<void>;
}

/** Starts this program again beside this process, with exactly these variables; null where it cannot start itself. */
export function startOwnProcess(args: readonly string[], env: Record<string, string>): OwnProcess | null {
  const command = ownCommand();
  if (command === null) return null;
  const [program, ...own] = command;
  const child = new Deno.Command(program, {
    args: [...own, ...args],
    env,
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const [reader, writer] = [child.stdout.getReader(), child.stdin.getWriter()];
  const encoder = new TextEncoder();
  return {
    read: async () => (await reader.read()).value ?? null,
    write: (text) => writer.write(encoder.encode(text)),
    async kill() {
      try {
        child.kill("SIGKILL");
      } catch {
        // It has ended already.
      }
      await child.status;
      await Promise.allSettled([writer.abort(), reader.cancel()]);
    },
  };
}
