/** The MCP servers of one session: which are known and may be called. */
import type { Label } from "../boundary/policy/label.ts";
import { fieldsOf, type JsonRecord, stringsOf } from "../platform/record.ts";
import { openTemporaryDirectory, type TemporaryDirectory } from "../platform/temporary.ts";
import { approvedServers } from "./configured.ts";
import { failureOf, ServerFailed } from "./link.ts";
import { isStale, readManifest } from "./tool_info.ts";
import { serverHash } from "./server.ts";
import { protectedArgument, serverClass, serverRefusal, type ServerRules } from "./server_admission.ts";
import {
  type CallOptions,
  holdsProtected,
  type HubOptions,
  type ServerState,
  SessionServer,
} from "./session_server.ts";

/** The servers. Nothing is started before {@link McpHub.prepare}. */
export class McpHub {
  readonly #options: HubOptions;
  #servers: readonly SessionServer[] = [];
  readonly #results = new ResultFiles();

  constructor(options: HubOptions) {
    this.#options = options;
  }

  /** In the order of the configuration. */
  get states(): readonly ServerState[] {
    return this.#servers;
  }

  /**
   * Finds out what is known of the servers. Only one whose tools are not known, or no longer known, is started; one
   * that fails is reported and left out. Throws the signal's reason.
   */
  async prepare(signal: AbortSignal): Promise<void> {
    await this.load();
    // What they list may have become protected after it was stored: almost never, so all of it is scanned at once.
    const scope = this.#options.scope();
    const lists = this.#servers.map(({ manifest }) => manifest).filter((list) => list !== null);
    const isFree = lists.length === 0 || !await holdsProtected(scope, lists);
    for (const one of isFree ? [] : this.#servers) {
      if (one.manifest === null || !await holdsProtected(scope, [one.manifest])) continue;
      one.manifest = null;
      await one.forget();
    }
    await Promise.all(
      this.#servers.filter(({ problem, manifest, server }) =>
        server.enabled && problem === null && (manifest === null || isStale(manifest, this.#options.io.clock.now())) &&
        this.#refusal(server) === null
      ).map((one) => this.#learn(one, signal)),
    );
    for (const one of this.#servers) one.isFixed = true;
  }

  /** Reads what is known of the servers; starts none. */
  async load({ isQuiet = false }: { isQuiet?: boolean } = {}): Promise<void> {
    const { servers, home, root, notify } = this.#options;
    const approved = servers.some(({ origin }) => origin === "project") ? await approvedServers(home, root) : new Map();
    this.#servers = await Promise.all(
      servers.map(async (server) => {
        const hash = await serverHash(server);
        const isApproved = server.origin !== "project" || approved.get(server.name)?.hash === hash;
        const manifest = isApproved ? await readManifest(home, hash) : null;
        const problem = isApproved ? null : "it is not approved";
        return new SessionServer({ server, hash, manifest, problem }, this.#options);
      }),
    );
    const unapproved = this.#servers.filter(({ problem }) => problem !== null).map(({ server }) => server.name);
    if (unapproved.length > 0 && !isQuiet) {
      await notify(
        `the project names MCP servers that you did not approve: ${unapproved.join(", ")}; ` +
          `look at them, then approve them: agentcli mcp approve ${unapproved[0]}`,
      );
    }
  }

  /** Starts a server and asks for its lists again. Throws as {@link request}. */
  async start(name: string, signal: AbortSignal): Promise<void> {
    const one = this.#usable(name);
    one.manifest = null;
    await one.connected({ signal });
  }

  /** Forgets what is known of a server, so that the next session asks. */
  async forget(name: string): Promise<void> {
    await this.#find(name)?.forget();
  }

  async #learn(one: SessionServer, signal: AbortSignal): Promise<void> {
    const { notify } = this.#options;
    try {
      await notify(`starting the MCP server ${one.server.name}`);
      await one.connected({ signal });
    } catch (error) {
      signal.throwIfAborted();
      const why = one.problem = failureOf(error);
      await notify(
        `the MCP server ${one.server.name} is left out: it ${why}; agentcli mcp test ${one.server.name}`,
      );
    }
  }

  /** Returns why a server may not be called now; null when it may. One sentence. */
  refusal(name: string): string | null {
    const one = this.#find(name);
    return one === undefined ? null : this.#refusal(one.server);
  }

  /**
   * Returns why the boundary keeps something from a server, or forbids calling it; null where it does not. What a
   * person or a model asks of it, by tool, prompt or resource, is a way out.
   */
  async forbidden(name: string, params: JsonRecord): Promise<string | null> {
    const server = this.#find(name)?.server;
    if (server === undefined) return null;
    const refusal = this.#refusal(server);
    if (refusal !== null) return refusal;
    const { workspace, found } = this.#options.scope();
    const isNetworked = serverClass(server) === "networked";
    const path = isNetworked || !workspace.local
      ? protectedArgument(stringsOf(fieldsOf(params.arguments ?? params)), workspace)
      : null;
    if (path !== null) return `${path}. The MCP server ${name} may not be told that. Go on without it.`;
    // Also as it is sent, where what is spread over several values is adjacent.
    if (!isNetworked || !await found([...stringsOf(params), JSON.stringify(params)], { isLeaving: true })) return null;
    return `The arguments hold protected content, which the MCP server ${name} may not be told: it is reached over the ` +
      "network. Leave that content out, or refer to it by name.";
  }

  #refusal(server: ServerRules): string | null {
    const { workspace, label, provider } = this.#options.scope();
    return serverRefusal(server, { label: label(), isLocal: workspace.local, provider });
  }

  #find(name: string): SessionServer | undefined {
    return this.#servers.find(({ server }) => server.name === name);
  }

  #usable(name: string): SessionServer {
    const one = this.#find(name);
    if (one === undefined) throw new ServerFailed("is not configured");
    if (one.problem !== null) throw new ServerFailed(`cannot be used: ${one.problem}`);
    return one;
  }

  /**
   * Sends one request to a server, which is started for it where it does not run. Throws {@link ServerFailed},
   * `RpcError`, and the signal's reason.
   */
  async request(name: string, method: string, params: JsonRecord, options: CallOptions): Promise<JsonRecord> {
    const one = this.#usable(name);
    // What could pass something on must not run beside what may not be passed on.
    if (this.#options.scope().label() !== "open") await this.#endNetworked();
    else await one.dropInformed();
    const forbidden = await this.forbidden(name, params);
    if (forbidden !== null) throw new ServerFailed(`may not be called. ${forbidden}`);
    return await one.request(method, params, options);
  }

  /** Keeps a long result where the model can read it; returns the path, null where it cannot be kept, or may not be. */
  async keepResult(text: string): Promise<string | null> {
    return await this.#options.scope().found([text]) ? null : this.#results.keep(text);
  }

  /** Returns the label of what a server said other than in a tool result: no lower than that of its data. */
  async labelOf(name: string, text: string): Promise<Label> {
    const label = this.#find(name)?.server.label ?? "open";
    return label === "open" && await this.#options.scope().found([text]) ? "no-cloud" : label;
  }

  async #endNetworked(): Promise<void> {
    const networked = this.#servers.filter(({ server, isRunning }) => isRunning && serverClass(server) === "networked");
    await Promise.all(networked.map((one) => one.drop()));
  }

  /** Ends the servers, and keeps what they wrote to their standard error. */
  async close(): Promise<void> {
    await Promise.all([this.#results.close(), ...this.#servers.map((one) => one.close())]);
  }
}

/** Bytes of long results that are kept for one session. */
const RESULT_BYTES = 256 * 1024 * 1024;

/** Long results, each a file that the model can read in parts; they are removed with the session. */
class ResultFiles {
  #directory: (TemporaryDirectory & { remove(): Promise<void> }) | null = null;
  #count = 0;
  #bytes = 0;

  /** Keeps a text; returns its path, null where it cannot be kept. */
  keep(text: string): string | null {
    if (this.#bytes + text.length > RESULT_BYTES) return null;
    try {
      this.#directory ??= openTemporaryDirectory();
      const name = `result-${++this.#count}.txt`;
      this.#directory.write(name, text);
      this.#bytes += text.length;
      return `${this.#directory.path}/${name}`;
    } catch {
      // The result is cut anyway, and says so.
      return null;
    }
  }

  async close(): Promise<void> {
    await this.#directory?.remove();
    this.#directory = null;
  }
}
