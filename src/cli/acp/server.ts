/**
 * Serves one client of the Agent Client Protocol on standard input and output. What sessions need is loaded once the
 * client has its first answer.
 */
import { type RpcCall, type RpcHandlers, RpcPeer } from "../../rpc/peer.ts";
import { methodNotFound, RpcError, type RpcParams } from "../../rpc/message.ts";
import type { Context, Invocation } from "../command.ts";
import type { ACP_OPTIONS, AcpOptions } from "../conversation_commands.ts";
import { invalidParams, rpcError } from "./wire.ts";
import type { SessionTable } from "./sessions.ts";
import { AgentcliError } from "../../errors.ts";
import { fieldsOf } from "../../platform/record.ts";
import { VERSION } from "../version.ts";
import { OutputClosed } from "../../platform/io.ts";
import { serveUntilStopped } from "../result.ts";

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

/** Whether the client itself canceled a request; one whose client has gone is answered anyway. */
function isTakenBack({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof RpcError;
}

/** The agent's side of one connection. */
class AcpServer implements RpcHandlers {
  /** Sends notifications and requests to the client. */
  readonly peer: RpcPeer;
  readonly #options: AcpOptions;
  readonly #context: Context;
  #client: ClientCapabilities = NO_CAPABILITIES;
  #loading: Promise<SessionTable> | null = null;
  /** Read without waiting, so that a cancel meets the prompt that came before it. */
  #sessions: SessionTable | null = null;

  constructor(options: AcpOptions, context: Context) {
    const { stdin, stdout, stderr } = context.io;
    const log = (text: string) => stderr.write(`agentcli: ${text}\n`);
    this.#options = options;
    this.#context = context;
    this.peer = new RpcPeer({ read: () => stdin.read(), write: (text: string) => stdout.write(text) }, this, {
      cancel: { method: "$/cancel_request", isAnswered: true },
      broken: { isAnswered: true, hear: (problem) => log(`a line of standard input is ignored: ${problem}`) },
      failed(error, method) {
        // A client that has gone is not a bug.
        if (error instanceof OutputClosed || error instanceof AgentcliError) return;
        return log(`internal error in ${method} (${error instanceof Error ? error.name : "unknown"})`);
      },
    });
  }

  async request(method: string, params: RpcParams, call: RpcCall): Promise<unknown> {
    const { signal } = call;
    let outcome: unknown;
    try {
      outcome = await this.#perform(method, params, call);
    } catch (error) {
      throw isTakenBack(signal) ? signal.reason : rpcError(error);
    }
    // A canceled prompt is answered as canceled, whatever came of it.
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
    const [options, context, peer] = [this.#options, this.#context, this.peer];
    return new SessionTable({ options, context, peer, client: () => this.#client });
  }
}

/** The only supported version. */
const PROTOCOL_VERSION = 1;

/** The capabilities of the client, as far as they are used. */
export interface ClientCapabilities {
  /** Answers `fs/read_text_file` with its editor's text, including unsaved changes. */
  readsFiles: boolean;
  /** Shows updates of the kind `notice`. */
  notices: boolean;
  /** Shows updates of the kind `compaction_update`. */
  compaction: boolean;
}

const NO_CAPABILITIES: ClientCapabilities = { readsFiles: false, notices: false, compaction: false };

/** Looks for model servers on this machine: there are no accounts. */
const SETUP_LOCAL = {
  id: "setup-local",
  name: "Use the model servers of this machine",
  description:
    "Looks for running model servers on the usual ports and adds them to providers.yaml. No account, no key.",
};

const SETUP_TERMINAL = {
  type: "terminal",
  id: "setup",
  name: "Find or add a model server",
  description: "Runs agentcli init-providers in a terminal.",
  args: ["--setup"],
};

/** Answers `initialize`. Throws for a version that is not a number. */
function initialize(
  { protocolVersion, clientCapabilities }: RpcParams,
): { client: ClientCapabilities; result: Record<string, unknown> } {
  if (typeof protocolVersion !== "number" || !Number.isInteger(protocolVersion)) {
    throw invalidParams("protocolVersion is not a whole number");
  }
  const given = fieldsOf(clientCapabilities);
  const session = fieldsOf(given.session);
  const client = {
    readsFiles: fieldsOf(given.fs).readTextFile === true,
    notices: isOffered(session.notices),
    compaction: isOffered(session.compaction),
  };
  const result = {
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {} },
    },
    authMethods: [SETUP_LOCAL, ...fieldsOf(given.auth).terminal === true ? [SETUP_TERMINAL] : []],
    agentInfo: { name: "agentcli", title: "agentcli", version: VERSION },
  };
  return { client, result };
}

function isOffered(capability: unknown): boolean {
  return capability !== undefined && capability !== null;
}

/** Answers `authenticate`: looks for model servers, and adds those that are new. Throws where there is none. */
async function authenticate({ methodId }: RpcParams, { io }: Context): Promise<Record<string, never>> {
  if (methodId !== SETUP_LOCAL.id) throw invalidParams(`unknown method of authentication; there is ${SETUP_LOCAL.id}`);
  const { findLocalServers } = await import("../init_providers/run.ts");
  const providers = await findLocalServers(io);
  if (providers > 0) return {};
  throw new AgentcliError("no_provider", "no model server answers on this machine, and none is configured", {
    hint: "start one, for example with `agentcli local-model serve`, or add one with `agentcli providers add`",
  });
}

/** Runs the command. The client names the projects later, and any of them may have protected paths. */
export async function run({ options, context }: Invocation<typeof ACP_OPTIONS>): Promise<number> {
  const { io } = context;
  if (options.setup) {
    const setup = await import("../init_providers/run.ts");
    await setup.run({ options: { host: [], timeout: undefined, dryRun: false }, arguments: [], context });
    return 0;
  }
  const server = new AcpServer(options, context);
  return await serveUntilStopped(io, async (stopped) => {
    try {
      await Promise.race([server.peer.run(), stopped]);
    } finally {
      server.peer.close();
      await server.close();
    }
  });
}
