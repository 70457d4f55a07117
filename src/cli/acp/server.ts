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

  /** Ends every session. */
  async close(): Promise<void> {
    await (await this.#loading)?.closeAll();
  }

  async #perform(method: string, params: RpcParams, call: RpcCall): Promise<unknown> {
    switch (method) {
      case "initialize": {
        const { client, result } = initialize(params);
        this.#client = client;
        call.afterAnswer(async () => void (await this.#table()));
        return result;
      }
      case "authenticate":
        return await authenticate(params, this.#context);
      case "session/new":
        return await (this.#sessions ?? await this.#table()).create(params, call);
      case "session/load":
        return await (this.#sessions ?? await this.#table()).load(params, call, { replays: true });
      case "session/resume":
        return await (this.#sessions ?? await this.#table()).load(params, call, { replays: false });
      case "session/list":
        return await (this.#sessions ?? await this.#table()).list(params);
      case "session/delete":
        return await (this.#sessions ?? await this.#table()).remove(params);
      case "session/close":
        return await (this.#sessions ?? await this.#table()).close(params);
      case "session/prompt":
        return await (this.#sessions ?? await this.#table()).find(params).prompt(params.prompt, call.signal);
      case "session/set_mode":
        return await (this.#sessions ?? await this.#table()).find(params).setMode(params.modeId, call);
      case "session/set_config_option":
        return await (this.#sessions ?? await this.#table()).find(params).setOption(
          params.configId,
          params.value,
          call,
        );
      default:
        throw methodNotFound(method);
    }
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
