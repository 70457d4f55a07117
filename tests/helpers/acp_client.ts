/**
 * A client of the Agent Client Protocol for tests: sends requests, answers those of the agent, and keeps every line.
 */
import assert from "node:assert/strict";
import { main } from "../../src/cli/main.ts";
import { denoIo } from "../../src/platform/deno_io.ts";
import type { Io } from "../../src/platform/io.ts";
import { environmentOf, type RunOptions, startProgram } from "./program.ts";

/** A line as it came. */
// deno-lint-ignore no-explicit-any -- tests look into lines of any shape
export type Message = any;

/** Answers a request of the agent; a thrown value is an error answer. */
export type Answerer = (params: Message) => unknown;

/** How the agent is started. */
export interface AcpOptions extends Omit<RunOptions, "stdin"> {
  args?: readonly string[];
  /** Answers by method; others are answered as unknown. */
  answers?: Record<string, Answerer>;
  capabilities?: Record<string, unknown>;
  /** A child, for what the process itself does. */
  isChild?: boolean;
}

interface Wire {
  write(text: string | Uint8Array): Promise<void>;
  closeInput(): Promise<void>;
  /** The next text of standard output; null at its end. */
  read(): Promise<string | null>;
  finished: Promise<{ code: number; stderr: string }>;
  kill(signal: Deno.Signal): void;
}

/** Texts that wait to be read. */
function channel<T>() {
  const waiting: T[] = [];
  let changed = Promise.withResolvers<void>();
  return {
    push(value: T) {
      waiting.push(value);
      changed.resolve();
    },
    async next(): Promise<T> {
      while (waiting.length === 0) {
        await changed.promise;
        changed = Promise.withResolvers();
      }
      return waiting.shift() as T;
    },
  };
}

function inProcess(args: readonly string[], options: AcpOptions): Wire {
  const environment = environmentOf(options);
  const [input, output] = [channel<Uint8Array<ArrayBuffer> | null>(), channel<string | null>()];
  let stderr = "";
  const { clock, os } = denoIo();
  const stream = (write: (text: string) => void): Io["stdout"] => ({
    isTerminal: false,
    columns: () => 80,
    write: (data) => Promise.resolve(write(typeof data === "string" ? data : new TextDecoder().decode(data))),
  });
  const io: Io = {
    stdin: { isTerminal: false, read: () => input.next(), setRaw: () => {} },
    stdout: stream((text) => output.push(text)),
    stderr: stream((text) => stderr += text),
    env: (name) => environment[name],
    environment: () => ({ ...environment }),
    cwd: () => options.cwd ?? options.home.project,
    clock,
    os,
    onSignal: () => () => {},
  };
  const code = main([...args], io).finally(() => output.push(null));
  return {
    write: (text) => {
      const bytes = typeof text === "string" ? new TextEncoder().encode(text) : new Uint8Array(text);
      return Promise.resolve(input.push(bytes));
    },
    closeInput: () => Promise.resolve(input.push(null)),
    read: () => output.next(),
    finished: code.then((ended) => ({ code: ended, stderr })),
    kill: () => {
      throw new Error("start it as a child");
    },
  };
}

function asChild(args: readonly string[], options: AcpOptions): Wire {
  const program = startProgram(args, options);
  let at = 0;
  return {
    write: program.write,
    closeInput: program.closeInput,
    async read() {
      const found = await program.stdout.until(new RegExp(`^[^]{${at}}([^]+)`)).catch(() => null);
      if (found === null) return null;
      at += found[1]?.length ?? 0;
      return found[1] ?? "";
    },
    finished: program.finished,
    kill: program.kill,
  };
}

/** Starts `agentcli acp`. */
export class AcpClient implements AsyncDisposable {
  readonly #wire: Wire;
  readonly #answers: Record<string, Answerer>;
  readonly #open = new Map<number, PromiseWithResolvers<Message>>();
  readonly #options: AcpOptions;
  #waiting: { wanted: (message: Message) => boolean; found(message: Message): void; lost(error: Error): void }[] = [];
  #lastId = 0;
  #ended = false;
  /** Every message of the agent, in order. */
  readonly messages: Message[] = [];

  constructor(options: AcpOptions) {
    this.#options = options;
    this.#answers = options.answers ?? {};
    const args = ["acp", ...options.args ?? []];
    const isChild = options.isChild === true || Deno.env.get("AGENTCLI_BIN") !== undefined;
    this.#wire = isChild ? asChild(args, options) : inProcess(args, options);
    void this.#read();
  }

  /** The updates so far, of one session or of all; with `kind`, those alone. */
  updates(kind?: string): Message[] {
    return this.messages.filter(({ method }) => method === "session/update")
      .map(({ params }) => params.update).filter(({ sessionUpdate }) => kind === undefined || sessionUpdate === kind);
  }

  /** What the agent said in words. */
  get words(): string {
    return this.updates("agent_message_chunk").map(({ content }) => content.text).join("");
  }

  /** Everything that the client was sent, as one text. */
  get everything(): string {
    return JSON.stringify(this.messages);
  }

  /** The last state of each tool call, by id. */
  calls(): Map<string, Message> {
    const calls = new Map<string, Message>();
    for (const { sessionUpdate, ...update } of this.updates()) {
      if (!/^tool_call/.test(sessionUpdate)) continue;
      calls.set(update.toolCallId, { ...calls.get(update.toolCallId), ...update });
    }
    return calls;
  }

  async raw(text: string | Uint8Array): Promise<void> {
    await this.#wire.write(text);
  }

  async send(message: Record<string, unknown>): Promise<void> {
    await this.raw(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  async notify(method: string, params: Record<string, unknown>): Promise<void> {
    await this.send({ method, params });
  }

  /** Sends a request; gives the whole answer once it is there. */
  async ask(method: string, params: Record<string, unknown>): Promise<Message> {
    return await this.begin(method, params).answer;
  }

  /** Sends a request; gives its id and its answer that is to come. */
  begin(method: string, params: Record<string, unknown>): { id: number; answer: Promise<Message> } {
    const id = this.#lastId += 1;
    const answer = Promise.withResolvers<Message>();
    this.#open.set(id, answer);
    void this.send({ id, method, params });
    return { id, answer: answer.promise };
  }

  /** The result of a request. */
  async request(method: string, params: Record<string, unknown>): Promise<Message> {
    const answer = await this.ask(method, params);
    assert.equal(answer.error, undefined, JSON.stringify(answer));
    return answer.result;
  }

  /** The error of a request. */
  async failure(method: string, params: Record<string, unknown>): Promise<Message> {
    const answer = await this.ask(method, params);
    assert.notEqual(answer.error, undefined, JSON.stringify(answer));
    return answer.error;
  }

  async initialize(): Promise<Message> {
    const clientCapabilities = this.#options.capabilities ?? {};
    return await this.request("initialize", { protocolVersion: 1, clientCapabilities });
  }

  /** Begins a session; gives its id once its commands are announced. */
  async session(params: Record<string, unknown> = {}): Promise<string> {
    await this.initialize();
    const result = await this.request("session/new", { cwd: this.#options.home.project, mcpServers: [], ...params });
    await this.until(({ params }) =>
      params?.sessionId === result.sessionId && params?.update?.sessionUpdate === "available_commands_update"
    );
    return result.sessionId;
  }

  /** Runs a turn. */
  async prompt(sessionId: string, prompt: string | readonly Record<string, unknown>[]): Promise<Message> {
    const blocks = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
    return await this.request("session/prompt", { sessionId, prompt: blocks });
  }

  /** The first message, of all that came or will come, that is wanted. */
  async until(wanted: (message: Message) => boolean): Promise<Message> {
    const there = this.messages.find(wanted);
    if (there !== undefined) return there;
    if (this.#ended) throw new Error(`the agent has ended: ${this.everything}`);
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    this.#waiting.push({ wanted, found: resolve, lost: reject });
    return await promise;
  }

  kill(signal: Deno.Signal): void {
    this.#wire.kill(signal);
  }

  /** Ends the input; gives the exit code and what was said on standard error. */
  async end(): Promise<{ code: number; stderr: string }> {
    await this.#wire.closeInput();
    return await this.#wire.finished;
  }

  /** Gives the exit code of an agent that ends by itself. */
  get finished(): Promise<{ code: number; stderr: string }> {
    return this.#wire.finished;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ended) await this.end();
  }

  async #read(): Promise<void> {
    let rest = "";
    for (let text = await this.#wire.read(); text !== null; text = await this.#wire.read()) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line));
    }
    assert.equal(rest, "", "the last line is not ended");
    this.#ended = true;
    for (const { lost } of this.#waiting) lost(new Error(`the agent has ended: ${this.everything}`));
    for (const { reject } of this.#open.values()) reject(new Error("the agent has ended"));
  }

  #take(message: Message): void {
    assert.equal(message.jsonrpc, "2.0");
    this.messages.push(message);
    for (const one of this.#waiting.filter(({ wanted }) => wanted(message))) {
      this.#waiting = this.#waiting.filter((other) => other !== one);
      one.found(message);
    }
    if (message.method === undefined) {
      this.#open.get(message.id)?.resolve(message);
      this.#open.delete(message.id);
    } else if (message.id !== undefined) void this.#answer(message);
  }

  async #answer({ id, method, params }: Message): Promise<void> {
    const answer = this.#answers[method];
    if (answer === undefined) return await this.send({ id, error: { code: -32601, message: "not here" } });
    try {
      const result = await answer(params);
      // Nothing: the test answers itself.
      if (result !== undefined) await this.send({ id, result });
    } catch (error) {
      await this.send({ id, error: { code: -32603, message: String(error) } });
    }
  }
}

/** The answer of a client to a question. */
export function choose(optionId: string): Answerer {
  return () => ({ outcome: { outcome: "selected", optionId } });
}
