/** An engine that runs as long as we do: a child process, or a server elsewhere that is taken down again. */
import { AgentcliError } from "../errors.ts";
import type { Clock } from "../platform/io.ts";
import { run } from "../platform/process.ts";
import { endingWithUs } from "../platform/service.ts";
import { type Asking, isReady } from "./asking.ts";
import { LogTail } from "./log_tail.ts";
import type { Engine } from "./types.ts";

/** Milliseconds between looks at a server that is no child of ours, and how many may fail in a row. */
const LOOK_MS = 2000;
const LOOKS = 3;
/** Milliseconds for one call that sets up or takes down a service: loading a model is one of them. */
const CALL_MS = 30 * 60_000;

/** A program and its words, ready to run. */
export interface ReadyCommand {
  argv: readonly [string, ...string[]];
  mayFail: boolean;
}

/** Where and with what commands run. */
export interface Surroundings {
  cwd: string;
  env: Record<string, string>;
  /** Gets each line of output, not cleaned. */
  onLine(line: string): void;
}

/** An engine in our hands. */
export interface RunningEngine {
  /** Resolves when it has ended, whoever ended it: with an exit code, or null where there is none to have. */
  ended: Promise<number | null>;
  /** Ends it, with all it started. May be called more than once. */
  end(): Promise<void>;
  /** The last lines of its output. */
  lastLines(): string[];
}

/** Starts a child. It ends with us even when we are killed, where the system can do that (Linux). */
export async function startChild(command: ReadyCommand, surroundings: Surroundings): Promise<RunningEngine> {
  const stop = new AbortController();
  const tail = new LogTail(surroundings.onLine);
  const argv = await endingWithUs(command.argv);
  const outcome = run({
    argv,
    cwd: surroundings.cwd,
    env: surroundings.env,
    signal: stop.signal,
    onOutput: (bytes, stream) => tail.add(bytes, stream),
  });
  const ended = outcome.then(({ code }) => code, () => null);
  return {
    ended,
    async end() {
      stop.abort();
      await ended;
    },
    lastLines: () => tail.last(),
  };
}

/** Runs the calls one after the other. The first that fails is `provider_error`, unless it may. */
export async function runCalls(
  calls: readonly ReadyCommand[],
  surroundings: Surroundings & { signal?: AbortSignal },
): Promise<void> {
  for (const { argv, mayFail } of calls) {
    const tail = new LogTail(surroundings.onLine);
    const { signal } = surroundings;
    const { ended, code } = await run({
      argv,
      cwd: surroundings.cwd,
      env: surroundings.env,
      ...(signal === undefined ? {} : { signal }),
      timeoutMs: CALL_MS,
      leaveRunning: true,
      onOutput: (bytes, stream) => tail.add(bytes, stream),
    });
    tail.last();
    signal?.throwIfAborted();
    if ((ended === "exit" && code === 0) || mayFail) continue;
    throw new AgentcliError("provider_error", `${argv.slice(0, 3).join(" ")} failed (exit code ${code})`, {
      hint: "its own words are above; without --quiet they are shown",
    });
  }
}

/** A service that was set up: watched by asking it, taken down by its calls. */
export function watchService(
  engine: Engine,
  options: Surroundings & { stop: readonly ReadyCommand[]; asking: Omit<Asking, "signal">; clock: Clock },
): RunningEngine {
  const ending = new AbortController();
  const watch = async (): Promise<null> => {
    let missed = 0;
    while (missed < LOOKS) {
      await options.clock.sleep(LOOK_MS, ending.signal);
      missed = await isReady(engine, { ...options.asking, signal: ending.signal }) ? 0 : missed + 1;
    }
    return null;
  };
  const ended = watch().catch(() => null);
  let taken: Promise<void> | undefined;
  return {
    ended,
    end() {
      ending.abort();
      taken ??= runCalls(options.stop.map((call) => ({ ...call, mayFail: true })), options);
      return taken;
    },
    lastLines: () => [],
  };
}
