/**
 * The program as a black box: a fresh home, a clean environment, a child with a deadline. `AGENTCLI_BIN` names another
 * form to test (a bundle `…/agentcli.js`, or a binary); the default is `main.ts` of this checkout. `AGENTCLI_CHILD`
 * names one for children alone, which a run of all tests makes: it starts faster.
 */
import { join, resolve } from "../../src/platform/path.ts";
import type { TemporaryHome } from "./home.ts";

export { configure, type ConfiguredProvider, type TemporaryHome, temporaryHome } from "./home.ts";

/** Where the checkout lies. */
export const REPOSITORY = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** Longest a child may take before it is killed, in milliseconds. */
const DEADLINE_MS = 60_000;

/** How a child is run. */
export interface RunOptions {
  home: TemporaryHome;
  /** Default: the project of the home. */
  cwd?: string;
  /** Added to the clean environment; null removes a variable. */
  env?: Record<string, string | null>;
  /** Text of standard input; default: end of input at once. */
  stdin?: string | Uint8Array;
  /** Milliseconds. */
  deadlineMs?: number;
  /** Flags of `deno run` in place of `-A`; ignored for a binary. */
  permissions?: readonly string[];
}

/** What came of a child. */
export interface Finished {
  /** Exit code; 128 + n when a signal ended it. */
  code: number;
  signal: string | null;
  stdout: string;
  stderr: string;
  durationMs: number;
  /** It was killed because it took too long. */
  timedOut: boolean;
}

/** Deno's cache of the caller, so that a child with another HOME needs no network. */
function callerCache(): string {
  const own = Deno.env.get("DENO_DIR");
  if (own) return resolve(Deno.cwd(), own);
  const home = Deno.env.get("HOME") ?? "/";
  if (Deno.build.os === "darwin") return join(home, "Library/Caches/deno");
  if (Deno.build.os === "windows") return join(Deno.env.get("LOCALAPPDATA") ?? "C:/", "deno");
  return join(Deno.env.get("XDG_CACHE_HOME") || join(home, ".cache"), "deno");
}

/** Variables of the caller that a child needs to start at all. */
const KEPT = ["PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT", "NPM_CONFIG_REGISTRY", "DENORT_BIN"];

/** All variables of a child. */
export function environmentOf(options: RunOptions): Record<string, string> {
  const { home } = options;
  const environment: Record<string, string> = {
    HOME: home.home,
    USERPROFILE: home.home,
    AGENTCLI_HOME: home.agentcliHome,
    TMPDIR: home.tmp,
    TEMP: home.tmp,
    DENO_DIR: callerCache(),
    DENO_NO_UPDATE_CHECK: "1",
    LANG: "C.UTF-8",
  };
  for (const name of KEPT) {
    const value = Deno.env.get(name);
    if (value !== undefined) environment[name] = value;
  }
  for (const [name, value] of Object.entries(options.env ?? {})) {
    if (value === null) delete environment[name];
    else environment[name] = value;
  }
  return environment;
}

/** The command that starts the program. */
export function programCommand(permissions: readonly string[] = ["-A"]): string[] {
  const given = Deno.env.get("AGENTCLI_BIN") ?? Deno.env.get("AGENTCLI_CHILD");
  // Children run elsewhere, where a relative path leads nowhere; a bare word is found on PATH.
  const isPath = given !== undefined && /[\\/]/.test(given);
  const named = isPath ? resolve(Deno.cwd(), given) : given || join(REPOSITORY, "main.ts");
  if (!/\.(js|ts)$/.test(named)) return [named];
  return [Deno.execPath(), "run", "--no-config", "--quiet", ...permissions, named];
}

/** Collects a stream as text and tells who waits for a part of it. */
class Collected {
  text = "";
  #closed = false;
  #waiting: (() => void)[] = [];
  readonly done: Promise<void>;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.done = this.#pump(stream);
  }

  async #pump(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const piece of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
      this.text += piece;
      this.#wake();
    }
    this.#closed = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** The match of `pattern` once the text has one; throws with the text when the stream ends without. */
  async until(pattern: RegExp): Promise<RegExpMatchArray> {
    for (;;) {
      const found = this.text.match(pattern);
      if (found) return found;
      if (this.#closed) throw new Error(`the output ended without ${pattern}:\n${this.text}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

/** A running child. */
export interface RunningProgram extends AsyncDisposable {
  pid: number;
  stdout: { readonly text: string; until(pattern: RegExp): Promise<RegExpMatchArray> };
  stderr: { readonly text: string; until(pattern: RegExp): Promise<RegExpMatchArray> };
  /** Writes to standard input. */
  write(text: string | Uint8Array): Promise<void>;
  /** Ends standard input. */
  closeInput(): Promise<void>;
  kill(signal: Deno.Signal): void;
  /** Resolves when the child has ended and its output is complete. */
  finished: Promise<Finished>;
}

/** Starts the program; standard input stays open until {@link RunningProgram.closeInput}. */
export function startProgram(args: readonly string[], options: Omit<RunOptions, "stdin">): RunningProgram {
  const [command = "", ...rest] = programCommand(options.permissions);
  return startCommand([command, ...rest, ...args], options);
}

/** Starts any command under the same rules: clean environment, fresh home, deadline. */
export function startCommand(argv: readonly string[], options: Omit<RunOptions, "stdin">): RunningProgram {
  const started = performance.now();
  const [command = "", ...args] = argv;
  const child = new Deno.Command(command, {
    args,
    cwd: options.cwd ?? options.home.project,
    env: environmentOf({ ...options }),
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stdout = new Collected(child.stdout);
  const stderr = new Collected(child.stderr);
  const input = child.stdin.getWriter();
  let running = true;
  let timedOut = false;
  const kill = (signal: Deno.Signal) => {
    if (running) child.kill(signal);
  };
  const deadline = setTimeout(() => {
    timedOut = true;
    kill("SIGKILL");
  }, options.deadlineMs ?? DEADLINE_MS);
  const closeInput = () => input.close().catch(() => {});
  const finished = (async () => {
    const status = await child.status;
    running = false;
    clearTimeout(deadline);
    await Promise.all([stdout.done, stderr.done]);
    await closeInput();
    const durationMs = performance.now() - started;
    return {
      code: status.code,
      signal: status.signal,
      stdout: stdout.text,
      stderr: stderr.text,
      durationMs,
      timedOut,
    };
  })();
  return {
    pid: child.pid,
    stdout,
    stderr,
    // A child that ended before it read its input is a result to assert on, not a failure of the writing.
    write: (text) => input.write(typeof text === "string" ? new TextEncoder().encode(text) : text).catch(() => {}),
    closeInput,
    kill,
    finished,
    async [Symbol.asyncDispose]() {
      kill("SIGKILL");
      await finished;
    },
  };
}

/** Runs the program to its end. */
export async function runProgram(args: readonly string[], options: RunOptions): Promise<Finished> {
  const program = startProgram(args, options);
  if (options.stdin !== undefined) await program.write(options.stdin);
  await program.closeInput();
  return await program.finished;
}
