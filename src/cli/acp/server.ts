/** The methods of the Agent Client Protocol. What sessions need is loaded once the client has its first answer. */
import type { RpcCall, RpcHandlers, RpcPeer } from "../../rpc/peer.ts";
import { methodNotFound, RpcError, type RpcParams } from "../../rpc/message.ts";
import type { Context } from "../command.ts";
import type { AcpOptions } from "./command.ts";
import { rpcError } from "./errors.ts";
import { authenticate, type ClientCapabilities, initialize, NO_CAPABILITIES } from "./handshake.ts";
import type { SessionTable } from "./sessions.ts";

/** The parts that sessions are made with. */
export interface Connection {
  options: AcpOptions;
  context: Context;
  peer: RpcPeer;
  client(): ClientCapabilities;
}

const SESSION_METHODS: Readonly<
  Record<string, (sessions: SessionTable, params: RpcParams, call: RpcCall) => Promise<unknown>>
> = {
  "session/new": (sessions, params, call) => sessions.create(params, call),
  "session/load": (sessions, params, call) => sessions.load(params, call, { replays: true }),
  "session/resume": (sessions, params, call) => sessions.load(params, call, { replays: false }),
  "session/list": (sessions, params) => sessions.list(params),
  "session/delete": (sessions, params) => sessions.remove(params),
  "session/close": (sessions, params) => sessions.close(params),
  "session/prompt": async (sessions, params, { signal }) => await sessions.find(params).prompt(params.prompt, signal),
  "session/set_mode": async (sessions, params, call) => await sessions.find(params).setMode(params.modeId, call),
  "session/set_config_option": async (sessions, params, call) =>
    await sessions.find(params).setOption(params.configId, params.value, call),
};

/** Whether the client itself gave up a request; one whose client has gone is answered all the same. */
function isTakenBack({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof RpcError;
}

/** The agent's side of one connection. */
export class AcpServer implements RpcHandlers {
  readonly #options: AcpOptions;
  readonly #context: Context;
  #client: ClientCapabilities = NO_CAPABILITIES;
  #peer: RpcPeer | null = null;
  #loading: Promise<SessionTable> | null = null;
  /** Read without waiting, so that a cancel meets the prompt that came before it. */
  #sessions: SessionTable | null = null;

  constructor(options: AcpOptions, context: Context) {
    this.#options = options;
    this.#context = context;
  }

  /** Takes the peer by which the client is told and asked. */
  connect(peer: RpcPeer): void {
    this.#peer = peer;
  }

  async request(method: string, params: RpcParams, call: RpcCall): Promise<unknown> {
    const { signal } = call;
    let outcome: unknown;
    try {
      outcome = await this.#perform(method, params, call);
    } catch (error) {
      throw isTakenBack(signal) ? signal.reason : rpcError(error);
    }
    // A prompt that was taken back is answered as that, whatever came of it.
    if (isTakenBack(signal)) throw signal.reason;
    return outcome;
  }

  notification(method: string, params: RpcParams): void {
    if (method === "session/cancel") this.#sessions?.cancel(params);
  }

  async close(): Promise<void> {
    await (await this.#loading)?.closeAll();
  }

  async #perform(method: string, params: RpcParams, call: RpcCall): Promise<unknown> {
    if (method === "initialize") {
      const { client, result } = initialize(params);
      this.#client = client;
      call.afterAnswer(async () => void (await this.#table()));
      return result;
    }
    if (method === "authenticate") return await authenticate(params, this.#context);
    const perform = Object.hasOwn(SESSION_METHODS, method) ? SESSION_METHODS[method] : undefined;
    if (perform === undefined) throw methodNotFound(method);
    return await perform(this.#sessions ?? await this.#table(), params, call);
  }

  async #table(): Promise<SessionTable> {
    return this.#sessions = await (this.#loading ??= this.#load());
  }

  async #load(): Promise<SessionTable> {
    const { SessionTable } = await import("./sessions.ts");
    const peer = this.#peer;
    if (peer === null) throw new Error("the server is not connected");
    return new SessionTable({ options: this.#options, context: this.#context, peer, client: () => this.#client });
  }
}
