/** The real environment, which `main.ts` passes in. */
import { createSleep } from "./sleep.ts";
import { AgentcliError } from "../errors.ts";
import { type Clock, type Input, type Io, type Output, OutputClosed, type StopSignal } from "./io.ts";
import { quietly } from "./real_path.ts";

const encoder = new TextEncoder();

/** Bytes of standard input taken at a time. */
const INPUT_CHUNK = 64 * 1024;

/** Returns a stream to write to. Nothing depends on `notices`: what cannot be written there is dropped. */
function output(stream: typeof Deno.stdout | typeof Deno.stderr, { notices }: { notices: boolean }): Output {
  return {
    isTerminal: stream.isTerminal(),
    columns: () => quietly(() => Deno.consoleSize())?.columns || 80,
    rows: () => quietly(() => Deno.consoleSize())?.rows || undefined,
    async write(data) {
      const bytes = typeof data === "string" ? encoder.encode(data) : data;
      try {
        let written = 0;
        while (written < bytes.length) written += await stream.write(bytes.subarray(written));
      } catch (error) {
        if (notices) return;
        if (error instanceof Deno.errors.BrokenPipe) throw new OutputClosed("the reader of the output has gone");
        throw new AgentcliError("output_failed", `the output cannot be written: ${reasonOf(error)}`, {
          hint: "free space there, or write it elsewhere",
        });
      }
    },
  };
}

/** Returns the system's words for what went wrong with a stream; they name no data. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  return error.message.replace(/ \(os error \d+\)/, "").toLowerCase();
}

function input(): Input {
  return {
    isTerminal: Deno.stdin.isTerminal(),
    // Not `Deno.stdin.readable`: setting up the stream cost 7 ms of every start (measured with Deno 2.9.6).
    async read() {
      const buffer = new Uint8Array(INPUT_CHUNK);
      let count: number | null;
      try {
        count = await Deno.stdin.read(buffer);
      } catch (error) {
        throw new AgentcliError("usage", `standard input cannot be read: ${reasonOf(error)}`);
      }
      return count === null ? null : buffer.subarray(0, count);
    },
    setRaw: (raw) => Deno.stdin.setRaw(raw),
  };
}

const STOP_SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

function onSignal(listener: (signal: StopSignal) => void): () => void {
  // Of these, Windows has only SIGINT (and SIGBREAK, which ends the process as it should).
  const signals = Deno.build.os === "windows" ? STOP_SIGNALS.slice(0, 1) : STOP_SIGNALS;
  const handlers = signals.map((signal) => {
    const handler = () => listener(signal);
    Deno.addSignalListener(signal, handler);
    return () => Deno.removeSignalListener(signal, handler);
  });
  return () => handlers.forEach((remove) => remove());
}

function onResize(listener: () => void): () => void {
  // Windows has no such signal: the next drawing finds the new size there.
  if (Deno.build.os === "windows") return () => {};
  Deno.addSignalListener("SIGWINCH", listener);
  return () => Deno.removeSignalListener("SIGWINCH", listener);
}

/** Returns a variable, or undefined where it is not set or Deno was not permitted to read it (`--allow-env=A,B`). */
function env(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

function clock(): Clock {
  const monotonic = () => performance.now();
  const sleep = createSleep({ now: monotonic, timer: (milliseconds) => AbortSignal.timeout(milliseconds) });
  return { now: () => Date.now(), monotonic, sleep };
}

/** Arguments of the process, streams, environment, clock and signals. */
export function denoIo(): Io {
  return {
    stdin: input(),
    stdout: output(Deno.stdout, { notices: false }),
    stderr: output(Deno.stderr, { notices: true }),
    env,
    environment: () => Deno.env.toObject(),
    cwd: () => Deno.cwd(),
    clock: clock(),
    os: Deno.build.os === "windows" ? "windows" : Deno.build.os === "darwin" ? "darwin" : "linux",
    onSignal,
    onResize,
    ownProcess: true,
  };
}

/** Returns the command line after the program's name. */
export function processArguments(): string[] {
  return Deno.args;
}

/** Ends the process. Only `main.ts` calls it. */
export function exit(code: number): never {
  Deno.exit(code);
}
