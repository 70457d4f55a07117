/**
 * Commands that run on while the model does something else. They run only where nothing is protected: no sandbox could
 * be kept accurate for hours beside a person and a model who change files. Loaded with the first of them.
 */
import { AgentcliError } from "../../errors.ts";
import { sandboxReason } from "../../boundary/sandbox/sandbox.ts";
import { runWatched, type WatchedProgram } from "../../boundary/sandbox/watched_run.ts";
import type { ProcessOptions, ProcessOutcome } from "../../platform/process.ts";
import { within } from "../../platform/sleep.ts";
import type { ToolContext } from "../tool.ts";
import { BoundedOutput } from "./bounded_output.ts";
import { watchOptions } from "./start.ts";

/** Commands of one session at a time. */
const MOST = 8;
/** Milliseconds to wait for more after a command begins to print. */
const MOMENT_MS = 200;

/**
 * Returns why a command may not run by itself; null where it may. Asked before one starts, and before its output is
 * read.
 */
export async function whyNotInBackground(context: ToolContext): Promise<string | null> {
  if (await sandboxReason(context) !== null) return "commands run in a sandbox here, which ends with the call";
  return context.sessionLabel === "open" ? null : "this session holds protected content";
}

/** Options for the start of a background command. */
interface StartOptions extends Pick<ProcessOptions, "stdin"> {
  context: ToolContext;
}

/** A running command, or one that ended and was not read to its end. */
class BackgroundCommand {
  readonly #stop = new AbortController();
  readonly #over: Promise<void>;
  readonly #room: number;
  #output: BoundedOutput;
  #outcome: ProcessOutcome | null = null;
  /** Why it could not be started, or why its changes could not be scanned. */
  #failure: unknown = null;
  #hasNews = false;
  #idle = 0;
  #arrived = Promise.withResolvers<void>();

  /** Of unread output, the bytes of one result are kept: some of its beginning, and its end. */
  constructor(program: WatchedProgram, { stdin, context }: StartOptions) {
    this.#room = context.resultBytes;
    this.#output = new BoundedOutput(this.#room);
    const options = { stdin, signal: this.#stop.signal, onOutput: (bytes: Uint8Array) => this.#add(bytes) };
    this.#over = runWatched(program, { ...options, ...watchOptions(context) })
      .then((outcome) => void (this.#outcome = outcome), (error) => void (this.#failure = error))
      .then(() => this.#notify());
  }

  /** Resolves a moment after there is something to read, when the command has ended, or after `milliseconds`. */
  async news(milliseconds: number, signal: AbortSignal): Promise<void> {
    const stopped = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => stopped.resolve(), { once: true });
    const over = Promise.race([this.#over, stopped.promise]);
    if (!this.#hasNews) await within(milliseconds, Promise.race([over, this.#arrived.promise]));
    await within(MOMENT_MS, over);
  }

  /** Returns what was printed since the last time, and how the command stands: its words when it ended by itself. */
  take(): { text: string; state: string; idle: number } {
    const text = this.#output.text();
    this.#idle = this.#hasNews ? 0 : this.#idle + 1;
    this.#output = new BoundedOutput(this.#room);
    this.#hasNews = false;
    if (!this.#isOver) this.#arrived = Promise.withResolvers();
    return { text, state: this.#state(), idle: this.#idle };
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#over;
    if (this.#failure instanceof AgentcliError) throw this.#failure;
  }

  get #isOver(): boolean {
    return this.#outcome !== null || this.#failure !== null;
  }

  #state(): string {
    if (!this.#isOver) return "running";
    if (this.#outcome === null) return "it could not be started";
    return this.#outcome.ended === "abort" ? "ended" : `exit code ${this.#outcome.code}`;
  }

  #add(bytes: Uint8Array): void {
    this.#output.add(bytes);
    this.#notify();
  }

  #notify(): void {
    this.#hasNews = true;
    this.#arrived.resolve();
  }
}

/** The background commands of a session. */
export class BackgroundCommands {
  readonly #commands = new Map<string, BackgroundCommand>();
  #count = 0;

  /** Starts one and returns its id; null when there are too many. */
  start(program: WatchedProgram, options: StartOptions): string | null {
    if (this.#commands.size >= MOST) return null;
    const id = `bg${++this.#count}`;
    this.#commands.set(id, new BackgroundCommand(program, options));
    return id;
  }

  get(id: string): BackgroundCommand | undefined {
    return this.#commands.get(id.trim());
  }

  ids(): string[] {
    return [...this.#commands.keys()];
  }

  remove(id: string): void {
    this.#commands.delete(id.trim());
  }

  /** Ends all of them. Throws why what one changed could not be protected. */
  async endAll(): Promise<void> {
    const all = [...this.#commands.values()];
    this.#commands.clear();
    const ended = await Promise.allSettled(all.map((command) => command.end()));
    for (const one of ended) if (one.status === "rejected") throw one.reason;
  }
}
