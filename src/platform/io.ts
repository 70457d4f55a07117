/** Everything that reaches the outside of the process and is passed in: streams, environment, clock, signals. */

/** A text stream to a person or a program. */
export interface Output {
  /**
   * Writes all of it, text as UTF-8; resolves when the system took it (back pressure). A closed pipe is `OutputClosed`.
   */
  write(data: string | Uint8Array): Promise<void>;
  readonly isTerminal: boolean;
  /** Width in columns; 80 where it is unknown. */
  columns(): number;
  /** Height in rows, of a terminal; absent or undefined where that is unknown. */
  rows?(): number | undefined;
}

/** Thrown by {@link Output.write} when the reader has gone away. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

export interface Input {
  readonly isTerminal: boolean;
  /** The next bytes as they come; null at the end of input. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Switches a terminal to single keys without echo, and back. */
  setRaw(raw: boolean): void;
}

/** Time. `monotonic` is for durations, `now` for timestamps; both in milliseconds. */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Resolves after `milliseconds`, or rejects with the signal's reason. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Signals that end or stop work. */
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** The outside as the program sees it. One is made in `main.ts`; tests make their own. */
export interface Io {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  /** The value of an environment variable, or undefined. */
  env(name: string): string | undefined;
  /** All variables: what a child process inherits is cut from this. */
  environment(): Record<string, string>;
  cwd(): string;
  clock: Clock;
  os: "linux" | "darwin" | "windows";
  /** Calls `listener` at each of the signals until the returned function is called. */
  onSignal(listener: (signal: StopSignal) => void): () => void;
  /** The process is the program's alone: no other thread of it minds its working directory. Absent: it may not be. */
  ownProcess?: boolean;
  /**
   * Calls `listener` when the terminal was resized, until the returned function is called; absent where no size is
   * reported.
   */
  onResize?(listener: () => void): () => void;
}
