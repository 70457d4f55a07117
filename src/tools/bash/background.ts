/**
 * Commands that go on while the model does something else. They run only where nothing is protected: no sandbox could be
 * kept true for hours beside a person and a model who change files. Loaded with the first of them.
 */
import { type ProcessOptions, type ProcessOutcome, run } from "../../platform/process.ts";
import { after } from "../../platform/sleep.ts";
import type { ToolContext } from "../tool.ts";
import { BoundedOutput } from "./bounded_output.ts";
import { sandboxReason } from "../../boundary/sandbox/sandbox.ts";

/** Commands of one session at a time. */
const MOST = 8;
/** Milliseconds between looks whether something is protected now. */
const LOOK_MS = 1000;
/** Milliseconds in which more follows what a command begins to print. */
const MOMENT_MS = 200;
/** Returns why a command may not go on by itself; null where it may. Asked before one starts, and before it is heard. */
export async function whyNotInBackground(context: ToolContext): Promise<string | null> {
  if (await sandboxReason(context) !== null) return "commands run in a sandbox here, which ends with the call";
  return context.sessionLabel === "open" ? null : "this session holds protected content";
}

/** A running command, or one that ended and was not read to its end. */
export class BackgroundCommand {
  readonly #stop = new AbortController();
  readonly #over: Promise<void>;
  readonly #room: number;
  #output: BoundedOutput;
  #outcome: ProcessOutcome | null = null;
  #failed = false;
  #hasNews = false;
  #idle = 0;
  #arrived = Promise.withResolvers<void>();
  /** When it was last seen that nothing is protected, milliseconds since 1970. */
  since = Date.now();

  /** Of what was not read, `room` bytes are kept: some of its beginning, and its end. */
  constructor(
    options: Pick<ProcessOptions, "argv" | "env" | "cwd" | "stdin">,
    { room, isProtected }: { room: number; isProtected: () => Promise<boolean> },
  ) {
    this.#room = room;
    this.#output = new BoundedOutput(room);
    const running = run({ ...options, signal: this.#stop.signal, onOutput: (bytes) => this.#add(bytes) });
    this.#over = running.then((outcome) => void (this.#outcome = outcome), () => void (this.#failed = true))
      .then(() => this.#notify());
    void this.#watch(isProtected);
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
  }

  get #isOver(): boolean {
    return this.#outcome !== null || this.#failed;
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

  /** Ends the command soon after something came to be protected, whoever asks for its output when. */
  async #watch(isProtected: () => Promise<boolean>): Promise<void> {
    while (!this.#isOver) {
      const start = Date.now();
      try {
        if (await isProtected()) return this.#stop.abort();
      } catch {
        return this.#stop.abort();
      }
      this.since = start;
      await within(LOOK_MS, this.#over);
    }
  }
}

/** Resolves with `work` or after `milliseconds`. */
async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const enough = after(milliseconds, resolve);
  await Promise.race([work, promise]);
  enough();
}

/** The background commands of a session. */
export class BackgroundCommands {
  readonly #commands = new Map<string, BackgroundCommand>();
  #count = 0;

  /** Starts one and returns its id; null when there are too many. */
  start(
    options: ConstructorParameters<typeof BackgroundCommand>[0],
    { workspace, sandbox, resultBytes: room }: ToolContext,
  ): string | null {
    if (this.#commands.size >= MOST) return null;
    const isProtected = async () => await sandboxReason({ workspace, sandbox }) !== null;
    const id = `bg${++this.#count}`;
    this.#commands.set(id, new BackgroundCommand(options, { room, isProtected }));
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

  /** Ends all of them; returns since when something may have been seen that must not be, milliseconds since 1970. */
  async endAll(): Promise<number> {
    const all = [...this.#commands.values()];
    this.#commands.clear();
    await Promise.all(all.map((command) => command.end()));
    return Math.min(Date.now(), ...all.map(({ since }) => since));
  }
}
