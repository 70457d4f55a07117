/**
 * One side of a JSON-RPC 2.0 connection over a newline-delimited stream. Both sides send requests and notifications.
 * Requests are handled concurrently, begun in the order in which they came; lines are written in the order of the
 * calls.
 */
import { createOrderedWrite, LINE_LIMIT, readLines } from "./lines.ts";
import {
  notificationLine,
  readRpcLine,
  requestLine,
  responseLine,
  RPC_CODES,
  RpcError,
  type RpcId,
  type RpcOutcome,
  type RpcParams,
} from "./message.ts";
import { PendingRequests } from "./pending.ts";

export interface RpcStream {
  /** The next bytes; null at the end. */
  read(): Promise<Uint8Array | null>;
  /** Resolves when the system took it. */
  write(text: string): Promise<void>;
}

/** How a request is canceled. */
interface CancelMethod {
  /** The notification; its parameter `requestId` names the request. */
  method: string;
  /** The canceled request still gets its answer: error -32800. */
  isAnswered: boolean;
}

/** The context of a request handler besides the parameters. */
export interface RpcCall {
  /** Aborted when the other side cancels the request, or has gone. */
  signal: AbortSignal;
  /** Runs `work` once the answer is written: for notifications that have to come after it. Not run after an error. */
  afterAnswer(work: () => Promise<void>): void;
}

/** The methods that this side answers. */
export interface RpcHandlers {
  /**
   * Throws {@link RpcError} for an error to be answered; everything else is answered as an internal error, without
   * details.
   */
  request(method: string, params: RpcParams, call: RpcCall): Promise<unknown>;
  notification(method: string, params: RpcParams): void | Promise<void>;
}

export interface RpcOptions {
  cancel: CancelMethod;
  /** Longest line that is read, in bytes. */
  lineLimit?: number;
  /** Requests of the other side that may be open at a time; what exceeds it is refused. */
  requestLimit?: number;
  /** Called for lines that cannot be read; `isAnswered`: the other side gets an error too. */
  broken?: { isAnswered: boolean; hear(problem: string, line: { isJson: boolean }): void | Promise<void> };
  /** Called with what a handler threw that is not an {@link RpcError}. */
  failed?(error: unknown, method: string): void | Promise<void>;
}

/** Thrown to whoever waits for an answer when the other side has gone. */
export class RpcClosed extends Error {
  override readonly name = "RpcClosed";

  constructor() {
    super("the other side has closed the connection");
  }
}

const REQUEST_LIMIT = 1000;

/** One side of a connection. */
export class RpcPeer {
  readonly #stream: RpcStream;
  readonly #handlers: RpcHandlers;
  readonly #options: RpcOptions;
  readonly #write: (text: string) => Promise<void>;
  readonly #pending = new PendingRequests<RpcId, RpcOutcome | null>();
  /** Requests of the other side that are not answered yet. */
  readonly #open = new Map<RpcId, AbortController>();
  readonly #work = new Set<Promise<void>>();
  readonly #writeFailed = Promise.withResolvers<never>();
  #isClosed = false;
  #lastId = 0;

  constructor(stream: RpcStream, handlers: RpcHandlers, options: RpcOptions) {
    this.#stream = stream;
    this.#handlers = handlers;
    this.#options = options;
    this.#write = createOrderedWrite((text) => stream.write(text));
    // Whoever wrote gets it too; this one is for a peer that runs.
    this.#writeFailed.promise.catch(() => {});
  }

  /**
   * Reads messages until the stream ends; resolves when what was begun is answered. Handlers that still run are aborted
   * then, and whoever waits for an answer gets {@link RpcClosed}. Throws what reading or writing throws.
   */
  async run(): Promise<void> {
    try {
      await Promise.race([this.#readAll(), this.#writeFailed.promise]);
    } finally {
      this.close();
      await Promise.all(this.#work);
    }
  }

  /** Gives up what is open, both ways. Nothing more can be asked; the owner closes the streams. */
  close(): void {
    this.#isClosed = true;
    this.#pending.settleAll(null);
    for (const controller of this.#open.values()) controller.abort(new RpcClosed());
  }

  /**
   * Asks the other side. Throws its {@link RpcError}, {@link RpcClosed}, or the signal's reason once it was notified.
   */
  async request(
    method: string,
    params: RpcParams,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<unknown> {
    if (this.#isClosed) throw new RpcClosed();
    const id = this.#lastId += 1;
    const outcome = await this.#pending.ask({
      id,
      send: () => this.#send(requestLine(id, method, params)),
      cancel: () => this.notify(this.#options.cancel.method, { requestId: id }),
    }, signal);
    if (outcome === null) throw new RpcClosed();
    if ("error" in outcome) throw outcome.error;
    return outcome.result;
  }

  /** Tells the other side something. Resolves when the system took it. */
  async notify(method: string, params: RpcParams): Promise<void> {
    await this.#send(notificationLine(method, params));
  }

  async #send(line: string): Promise<void> {
    try {
      await this.#write(line);
    } catch (error) {
      this.#writeFailed.reject(error);
      throw error;
    }
  }

  async #readAll(): Promise<void> {
    for await (const line of readLines(() => this.#stream.read(), this.#options.lineLimit ?? LINE_LIMIT)) {
      const message = readRpcLine(line);
      switch (message?.kind) {
        case "request":
          await this.#begin(message.id, message);
          break;
        case "notification":
          if (message.method === this.#options.cancel.method) this.#cancel(message.params.requestId);
          else await this.#handlers.notification(message.method, message.params);
          break;
        case "response":
          // An answer to a request that was never sent, or is already answered, means nothing.
          this.#pending.settle(message.id, message.outcome);
          break;
        case "broken":
          await this.#options.broken?.hear(message.error.message, message);
          if (this.#options.broken?.isAnswered === true) await this.#answer(message.id, message);
          break;
      }
    }
  }

  #cancel(id: unknown): void {
    this.#open.get(id as RpcId)?.abort(new RpcError(RPC_CODES.cancelled, "the request was cancelled"));
  }

  async #begin(id: RpcId, request: { method: string; params: RpcParams }): Promise<void> {
    const { requestLimit = REQUEST_LIMIT } = this.#options;
    if (this.#open.has(id) || this.#open.size >= requestLimit) {
      const problem = this.#open.has(id) ? "a request with this id is open" : "too many requests are open";
      return await this.#answer(id, { error: new RpcError(RPC_CODES.invalidRequest, problem) });
    }
    const controller = new AbortController();
    this.#open.set(id, controller);
    // A failed write ends the run: nothing else fails here.
    const work = this.#handle(id, request, controller.signal).catch(() => {}).finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  async #handle(
    id: RpcId,
    { method, params }: { method: string; params: RpcParams },
    signal: AbortSignal,
  ): Promise<void> {
    const after: (() => Promise<void>)[] = [];
    const outcome = await this.#outcome(method, params, { signal, afterAnswer: (work) => after.push(work) });
    // Free from here on: the other side may use it again once it has read the answer.
    this.#open.delete(id);
    const isCancelled = signal.aborted && signal.reason instanceof RpcError;
    if (isCancelled && !this.#options.cancel.isAnswered) return;
    await this.#answer(id, outcome);
    if ("error" in outcome) return;
    try {
      for (const work of after) await work();
    } catch (error) {
      await this.#options.failed?.(error, method);
    }
  }

  async #outcome(method: string, params: RpcParams, call: RpcCall): Promise<RpcOutcome> {
    try {
      return { result: await this.#handlers.request(method, params, call) };
    } catch (error) {
      if (error instanceof RpcError) return { error };
      if (call.signal.aborted && call.signal.reason instanceof RpcError) return { error: call.signal.reason };
      await this.#options.failed?.(error, method);
      return { error: new RpcError(RPC_CODES.internalError, "internal error") };
    }
  }

  async #answer(id: RpcId, outcome: RpcOutcome): Promise<void> {
    await this.#send(responseLine(id, outcome));
  }
}
