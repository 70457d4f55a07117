/** Runs engines: the child process, its log, and the record of those that go on without us. */
import { AgentcliError } from "../errors.ts";
import { run } from "../platform/process.ts";
import { endingWithUs, processIdentity } from "../platform/process_group.ts";
import { type Asking, isReady } from "./asking.ts";
import type { Engine } from "./engine.ts";
import { listSync } from "../platform/files.ts";
import type { Home } from "../platform/home.ts";
import { fieldsOf, parseJson } from "../platform/record.ts";

/** Milliseconds between looks at a server that is no child of ours, and how many may fail in a row. */
const LOOK_MS = 2000;
const LOOKS = 3;
/** Milliseconds for one call that sets up or takes down a service: loading a model is one of them. */
const CALL_MS = 30 * 60_000;

export interface ReadyCommand {
  argv: readonly [string, ...string[]];
  mayFail: boolean;
}

interface RunOptions {
  cwd: string;
  env: Record<string, string>;
  /** Gets each line of output, not cleaned. */
  onLine(line: string): void;
}

export interface RunningEngine {
  /** Resolves when it has ended, whoever ended it: with an exit code, or null where there is none to have. */
  ended: Promise<number | null>;
  /** Ends it, with all it started. May be called more than once. */
  end(): Promise<void>;
  lastLines(): string[];
}

/** Starts a child. It ends with us even when we are killed, where the system can do that (Linux). */
export function startChild(command: ReadyCommand, options: RunOptions): RunningEngine {
  const stop = new AbortController();
  const tail = new LogTail(options.onLine);
  const argv = endingWithUs(command.argv);
  const outcome = run({
    argv,
    cwd: options.cwd,
    env: options.env,
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
  options: RunOptions & { signal?: AbortSignal },
): Promise<void> {
  for (const { argv, mayFail } of calls) {
    const tail = new LogTail(options.onLine);
    const { signal } = options;
    const { ended, code } = await run({
      argv,
      cwd: options.cwd,
      env: options.env,
      signal,
      timeoutMs: CALL_MS,
      leaveRunning: true,
      onOutput: (bytes, stream) => tail.add(bytes, stream),
    });
    tail.last();
    signal?.throwIfAborted();
    if ((ended === "exit" && code === 0) || mayFail) continue;
    throw new AgentcliError("provider_error", `${argv.slice(0, 3).join(" ")} failed (exit code ${code})`, {
      hint: "see its output above; without --quiet they are shown",
    });
  }
}

/** Returns a service that was set up: watched by asking it, taken down by its calls. */
export function watchService(
  engine: Engine,
  options: RunOptions & { stop: readonly ReadyCommand[]; asking: Omit<Asking, "signal"> },
): RunningEngine {
  const ending = new AbortController();
  const watch = async (): Promise<null> => {
    let missed = 0;
    while (missed < LOOKS) {
      await options.asking.clock.sleep(LOOK_MS, ending.signal);
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

const KEPT = 20;
/** Characters of a line; longer ones are cut. */
const LINE_LIMIT = 2000;

// Colors and moves of the cursor say nothing in a log; everything else that steers a terminal stays for the cleaning.
// deno-lint-ignore no-control-regex -- control characters are what is searched for
const STYLES = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** Takes bytes, gives lines. */
export class LogTail {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  readonly #open = { stdout: "", stderr: "" };
  #last: string[] = [];
  readonly #onLine: (line: string) => void;

  /** `onLine` gets each whole line, without its end, not cleaned. */
  constructor(onLine: (line: string) => void = () => {}) {
    this.#onLine = onLine;
  }

  add(bytes: Uint8Array<ArrayBuffer>, stream: "stdout" | "stderr"): void {
    const text = this.#open[stream] + this.#decoders[stream].decode(bytes, { stream: true });
    // A carriage return ends a line too: that is how progress is drawn.
    const lines = text.split(/\r\n|[\r\n]/);
    this.#open[stream] = (lines.pop() ?? "").slice(-LINE_LIMIT);
    for (const line of lines) this.#line(line);
  }

  /** The last lines, with those that have no end yet. */
  last(): string[] {
    for (const stream of ["stdout", "stderr"] as const) {
      const rest = this.#open[stream];
      this.#open[stream] = "";
      this.#line(rest);
    }
    return [...this.#last];
  }

  #line(text: string): void {
    const line = text.replace(STYLES, "").slice(0, LINE_LIMIT);
    if (line.trim() === "") return;
    this.#last = [...this.#last.slice(1 - KEPT), line];
    this.#onLine(line);
  }
}

/** Returns the last lines of a whole log. */
export function lastLines(log: string): string[] {
  const tail = new LogTail();
  tail.add(new TextEncoder().encode(log), "stdout");
  return tail.last();
}

const DIRECTORY = "engines";

/** An engine that keeps running without us. */
export interface EngineRecord {
  version: 1;
  /** Also the name of the file. */
  name: string;
  engine: string;
  product: string;
  /** As it was asked for; absent for none. */
  model?: string;
  host: string;
  port: number;
  base_url: string;
  /** The command as it is shown: without keys. */
  command: string;
  /** ISO 8601. */
  started: string;
  /** Absent for an engine that lives in another program (LM Studio). */
  process?: { pid: number; identity: string };
  /** Absolute path; absent where no log is kept. */
  log?: string;
}

/** Returns the name of an engine on a port: the id alone on its usual one. */
export function recordName(engine: { id: string; port: number | null }, port: number): string {
  return engine.port === port ? engine.id : `${engine.id}-${port}`;
}

/** Name of the log within the home. */
export function logName(name: string): string {
  return `${DIRECTORY}/${name}.log`;
}

/** Keeps a record. */
export async function writeRecord(home: Home, record: EngineRecord): Promise<void> {
  await home.write(`${DIRECTORY}/${record.name}.json`, JSON.stringify(record, null, 2) + "\n");
}

/** Forgets a record; its log stays for reading. */
export async function removeRecord(home: Home, name: string): Promise<void> {
  await home.remove(`${DIRECTORY}/${name}.json`);
}

/** Returns the record of that name; null when there is none that can be used. */
export async function readRecord(home: Home, name: string): Promise<EngineRecord | null> {
  const text = await home.read(`${DIRECTORY}/${name}.json`).catch(() => null);
  const record = text === null ? undefined : parseJson(text);
  return isEngineRecord(record) && record.name === name ? record : null;
}

/** Returns all records, by name. */
export async function readRecords(home: Home): Promise<EngineRecord[]> {
  const entries = listSync(home.file(DIRECTORY)) ?? [];
  const names = entries.filter(({ name, kind }) => kind === "file" && /^[a-z0-9][\w.-]*\.json$/.test(name))
    .map(({ name }) => name.slice(0, -".json".length)).sort();
  const records = await Promise.all(names.map((name) => readRecord(home, name)));
  return records.filter((record) => record !== null);
}

/** Returns whether what was started still runs; null for an engine whose process is not ours to look at. */
export async function isRunning(record: EngineRecord): Promise<boolean | null> {
  if (record.process === undefined) return null;
  return await processIdentity(record.process.pid) === record.process.identity;
}

function isEngineRecord(value: unknown): value is EngineRecord {
  const { version, name, engine, product, host, port, base_url, command, started, process } = fieldsOf(value);
  const { pid, identity } = fieldsOf(process);
  return version === 1 && Number.isInteger(port) &&
    [name, engine, product, host, base_url, command, started].every((text) => typeof text === "string") &&
    (process === undefined || (Number.isInteger(pid) && Number(pid) > 1 && typeof identity === "string"));
}
