/**
 * The server's side of MCP in both eras: 2026-07-28, where every request is self-contained, and with a handshake
 * before.
 */
import { LEGACY, MCP_CODES, MODERN } from "../mcp/link.ts";
import { fieldsOf, isRecord, textOf } from "../platform/record.ts";
import { methodNotFound, RPC_CODES, RpcError, type RpcParams } from "../rpc/message.ts";
import { clientResult, type Outcome } from "./outcome.ts";
import type { PrivateCall, PrivateService } from "./service.ts";
import { TOOLS } from "./tools.ts";

const META = "io.modelcontextprotocol";
/** The list never changes while the program is the same. */
const LIST = { ttlMs: 24 * 60 * 60 * 1000, cacheScope: "public" };
const NAME_LIMIT = 60;
/** Methods of the eras before. */
const HANDSHAKE: readonly string[] = ["initialize", "ping"];

const INSTRUCTIONS =
  "Some files of this project are protected: you may not read them. ask_private has a local model look " +
  "into them and gives you one of the answers that you allow; it costs bits of a daily budget.";

interface ServerParts {
  version: string;
  service: Pick<PrivateService, "call">;
  /** Called with what a client gets, for the audit and the user. */
  heard?(tool: string, outcome: Outcome): Promise<void>;
}

/** The methods for one client. */
export class McpServer {
  readonly #parts: ServerParts;
  /** The name that the client gave itself: for the user, never for a decision. */
  #client = "";

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  /** Answers a request; `revision` is that of the header. Throws {@link RpcError}. */
  async request(
    method: string,
    params: RpcParams,
    { signal, revision }: Pick<PrivateCall, "signal"> & { revision?: string | null },
  ): Promise<unknown> {
    const isModern = this.#isModern(params, revision);
    if (isModern && HANDSHAKE.includes(method)) throw methodNotFound(method);
    const result = await this.#perform(method, params, signal);
    return isModern ? { resultType: "complete", ...result } : result;
  }

  /** Whether the request is of the era without a handshake; `revision` is that of the header. */
  #isModern({ _meta: meta }: RpcParams, revision: string | null | undefined): boolean {
    const { [`${META}/protocolVersion`]: named, [`${META}/clientCapabilities`]: capabilities } = fieldsOf(meta);
    if (named === undefined && revision !== MODERN) return false;
    if (typeof named !== "string" || !isRecord(capabilities)) {
      throw new RpcError(RPC_CODES.invalidParams, "a request says its revision and its capabilities in _meta");
    }
    if (named !== MODERN) {
      const data = { supported: [MODERN], requested: String(named).slice(0, NAME_LIMIT) };
      throw new RpcError(MCP_CODES.unsupportedVersion, "this revision is not supported", data);
    }
    this.#know(fieldsOf(meta)[`${META}/clientInfo`]);
    return true;
  }

  async #perform(method: string, params: RpcParams, signal: AbortSignal): Promise<Record<string, unknown>> {
    switch (method) {
      case "initialize":
        this.#know(params.clientInfo);
        return {
          protocolVersion: LEGACY.find((revision) => revision === params.protocolVersion) ?? LEGACY[0],
          capabilities: { tools: {} },
          serverInfo: this.#info(),
          instructions: INSTRUCTIONS,
        };
      case "server/discover":
        return {
          supportedVersions: [MODERN],
          capabilities: { tools: {} },
          instructions: INSTRUCTIONS,
          ...LIST,
          _meta: { [`${META}/serverInfo`]: this.#info() },
        };
      case "ping":
        return {};
      case "tools/list":
        return { tools: TOOLS, ...LIST };
      case "tools/call":
        return await this.#call(params, signal);
      default:
        throw methodNotFound(method);
    }
  }

  async #call({ name, arguments: given = {} }: RpcParams, signal: AbortSignal): Promise<Record<string, unknown>> {
    if (typeof name !== "string" || !isRecord(given)) {
      throw new RpcError(RPC_CODES.invalidParams, "a call has a name and arguments");
    }
    const outcome = await this.#parts.service.call(name, given, { client: this.#client, signal });
    if (outcome === null) throw new RpcError(RPC_CODES.invalidParams, "there is no tool of this name");
    await this.#parts.heard?.(name, outcome);
    return { ...clientResult(outcome) };
  }

  #info() {
    return { name: "agentcli", title: "agentcli", version: this.#parts.version };
  }

  #know(info: unknown): void {
    this.#client = (textOf(fieldsOf(info).name) ?? this.#client).slice(0, NAME_LIMIT);
  }
}
