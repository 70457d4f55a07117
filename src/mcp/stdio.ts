/** A server that is a program: one message a line on its standard input and output. */
import type { ProcessOptions, ProcessOutcome } from "../platform/process.ts";
import { orAborted, within } from "../platform/sleep.ts";
import { fieldsOf, type JsonRecord } from "../platform/record.ts";
import { RpcClosed, RpcPeer } from "../rpc/peer.ts";
import { type Link, type LinkHandlers, type LinkRequest, ServerFailed } from "./link.ts";
import { cleanText } from "./tool_info.ts";

/** Longest message, in bytes. */
const LINE_LIMIT = 16 * 1024 * 1024;
/** Bytes that may wait to be read; beyond them the program has to wait. */
const MOST_WAITING = 4 * 1024 * 1024;
/** Milliseconds from the end of its input until a program is asked to end by a signal. */
const CLOSE_MS = 1_000;
/** Requests of a server that are open at a time. */
const MOST_REQUESTS = 16;

/** Runs the program to its end, sandboxed or not. */
export type RunProgram = (
  options: Required<Pick<ProcessOptions, "stdin" | "signal" | "onOutput">>,
) => Promise<ProcessOutcome & { exposed?: unknown }>;

interface StdioOptions {
  handlers: LinkHandlers;
  /** Gets what it writes to its standard error. */
  log(bytes: Uint8Array): void;
}

/** Starts a program and speaks with it. Never throws: a program that cannot be started is a link that has ended. */
export class StdioLink implements Link {
  readonly #stop = new AbortController();
  readonly #input = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #output: WritableStreamDefaultWriter<Uint8Array>;
  readonly #peer: RpcPeer;
  readonly #over: Promise<void>;
  /** The last line of its standard error. */
  #said = "";
  #error = "";
  #hadJunk = false;
  ended: string | null = null;

  constructor(run: RunProgram, { handlers, log }: StdioOptions) {
    this.#writer = this.#input.writable.getWriter();
    // A program that closes its input is reported by its end.
    this.#writer.closed.catch(() => {});
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: MOST_WAITING });
    const output = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, strategy);
    this.#output = output.writable.getWriter();
    const reader = output.readable.getReader();
    const encoder = new TextEncoder();
    this.#peer = new RpcPeer(
      {
        read: async () => (await reader.read()).value ?? null,
        write: (text) => this.#writer.write(encoder.encode(text)),
      },
      {
        request: async (method, params, { signal }) => await handlers.request(method, params, signal),
        notification: (method, params) => handlers.notification(method, params),
      },
      {
        cancel: { method: "notifications/cancelled", isAnswered: false },
        lineLimit: LINE_LIMIT,
        requestLimit: MOST_REQUESTS,
        broken: {
          isAnswered: false,
          hear: (problem) => {
            // The overlong message may have been the answer that somebody waits for.
            if (problem === "the line is too long") this.#end("sent a line of more than 16 MiB");
            else if (!this.#hadJunk) handlers.junk?.();
            this.#hadJunk = true;
          },
        },
      },
    );
    const running = this.#run(run, log);
    this.#over = Promise.all([running, this.#peer.run().catch(() => {})]).then(() => {});
  }

  async #run(run: RunProgram, log: StdioOptions["log"]): Promise<void> {
    try {
      const { code, exposed } = await run({
        stdin: this.#input.readable,
        signal: this.#stop.signal,
        onOutput: (bytes, stream) => {
          if (stream === "stdout") return this.#output.write(bytes);
          this.#note(bytes);
          log(bytes);
        },
      });
      const said = this.#said === "" ? "" : `: ${this.#said}`;
      this.ended ??= exposed === null || exposed === undefined
        ? `ended with exit code ${code}${said}`
        : "was ended, since a path became protected or was replaced, and it could see it";
    } catch (error) {
      this.ended ??= error instanceof ServerFailed ? error.message : "could not be started";
    } finally {
      this.#output.close().catch(() => {});
      this.#writer.abort().catch(() => {});
      // Writes to a program that never started would wait forever.
      if (!this.#input.readable.locked) await this.#input.readable.cancel().catch(() => {});
    }
  }

  /**
   * Keeps the beginning of the last line that says something, for the message when it has ended. Node.js ends with its
   * version: the error is above the stack.
   */
  #note(bytes: Uint8Array): void {
    const lines = new TextDecoder().decode(bytes.slice(-8_000)).split("\n").map((line) => cleanText(line, 200));
    this.#error = lines.findLast((line) => /^\w*Error\b/.test(line)) ?? this.#error;
    const last = lines.findLast((line) => line !== "") ?? this.#said;
    this.#said = /^Node\.js v\d/.test(last) && this.#error !== "" ? this.#error : last;
  }

  #end(why: string): void {
    this.ended ??= why;
    this.#peer.close();
    this.#stop.abort();
  }

  async request(method: string, params: JsonRecord, { signal }: LinkRequest): Promise<JsonRecord> {
    if (this.ended !== null) throw new ServerFailed(this.ended, "gone");
    try {
      // If a program does not read, not even a cancellation can be written.
      return fieldsOf(await orAborted(this.#peer.request(method, params, signal), signal));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!(error instanceof RpcClosed) && this.ended === null) throw error;
      await within(CLOSE_MS, this.#over);
      throw new ServerFailed(this.ended ?? "closed its output", "gone");
    }
  }

  async notify(method: string, params: JsonRecord): Promise<void> {
    await this.#peer.notify(method, params).catch(() => {});
  }

  settle(): void {}

  /** Closes its input, asks it to end, and kills it: the whole process group. */
  async close(): Promise<void> {
    this.ended ??= "was closed";
    this.#peer.close();
    this.#writer.close().catch(() => {});
    await within(CLOSE_MS, this.#over);
    this.#stop.abort();
    await this.#over;
  }
}
