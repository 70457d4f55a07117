/** The MCP servers of one session: what is known of them, and the calls. A server starts with its first call. */
import type { Label } from "../boundary/policy/label.ts";
import { protectedArgument, serverClass, serverRefusal, type ServerRules } from "./server_admission.ts";
import { sha256 } from "../platform/digest.ts";
import type { Home } from "../platform/home.ts";
import type { Io } from "../platform/io.ts";
import { fieldsOf, type JsonRecord, stringsOf } from "../platform/record.ts";
import type { HttpClient } from "../provider/http/client.ts";
import type { SandboxReason } from "../boundary/sandbox/sandbox.ts";
import { approvedServers, approveServer } from "./approved_servers.ts";
import { type ClientInfo, McpClient, type ServerAsks } from "./client.ts";
import type { FormAnswer, ServerForm } from "./elicit.ts";
import { guardedForms } from "./guarded_forms.ts";
import { failureOf, ServerFailed } from "./link.ts";
import { forgetManifest, isStale, readManifest, storeManifest } from "./manifest_cache.ts";
import { openLink } from "./open_link.ts";
import { logOf, ServerLog } from "./server_log.ts";
import { isolationOf, type SessionScope } from "./program.ts";
import { ResultFiles } from "./result_files.ts";
import { type McpServer, serverHash } from "./server.ts";
import { type Manifest, toolsText } from "./tool_info.ts";

/** Seconds until a server that starts must have listed its tools: the first start of some downloads them. */
const START_SECONDS = 90;
/** A server that ends by itself more often than this in one session is not started again. */
const MOST_ENDS = 2;
/** Milliseconds between looks whether something is protected now, while a program runs that could see it. */
const WATCH_MS = 1_000;

/** The servers of a session, and the parts of it that they use. */
export interface HubOptions {
  servers: readonly McpServer[];
  home: Home;
  io: Pick<Io, "env" | "environment" | "os" | "clock">;
  client: HttpClient;
  info: ClientInfo;
  /** The real path of the project. */
  root: string;
  scope(): SessionScope;
  /** Lets a person fill in a form; absent where nobody is there. */
  elicit?: ((form: ServerForm, signal: AbortSignal) => Promise<FormAnswer>) | undefined;
  /** Tells a person something. */
  notify(text: string): void | Promise<void>;
}

/** One server of the session. */
export interface ServerState {
  server: McpServer;
  /** Null until its tools are known. */
  manifest: Manifest | null;
  /** Why it cannot be used in this session; null where it can. */
  problem: string | null;
  isRunning: boolean;
}

interface Entry extends ServerState {
  hash: string;
  client: McpClient | null;
  isolation: SandboxReason | null;
  connecting: Promise<McpClient> | null;
  ends: number;
  /** When a protected session first told it something, milliseconds since 1970: it knows, whatever the session forgets. */
  told: number | null;
  log: ServerLog;
}

/** One call of a server. */
export interface CallOptions {
  signal: AbortSignal;
  /** Shows how far the call is. */
  progress?(text: string): void;
  headers?: Readonly<Record<string, string>>;
  /** Shows that a server starts. */
  starting?(name: string): void | Promise<void>;
}

/** The servers. Nothing is started before {@link McpHub.prepare}. */
export class McpHub {
  readonly #options: HubOptions;
  #entries: Entry[] = [];
  readonly #results = new ResultFiles();
  readonly #closing = new AbortController();
  /** The tools of the session are told: nothing of them changes from there on. */
  #isPrepared = false;

  constructor(options: HubOptions) {
    this.#options = options;
  }

  /** In the order of the configuration. */
  get states(): readonly ServerState[] {
    return this.#entries;
  }

  /**
   * Finds out what is known of the servers. Only one whose tools are not known, or are known no longer, is started; one
   * that fails is told about and left out. Throws the signal's reason.
   */
  async prepare(signal: AbortSignal): Promise<void> {
    await this.load();
    // What they list may be protected since it was stored: nearly never, so all of it is looked through at once.
    const lists = this.#entries.map(({ manifest }) => manifest).filter((list) => list !== null);
    const isFree = lists.length === 0 || !await this.#holdsProtected(lists);
    for (const entry of isFree ? [] : this.#entries) {
      if (entry.manifest === null || !await this.#holdsProtected([entry.manifest])) continue;
      entry.manifest = null;
      await forgetManifest(this.#options.home, entry.hash);
    }
    await Promise.all(
      this.#entries.filter(({ problem, manifest, server }) =>
        server.enabled && problem === null && (manifest === null || isStale(manifest, this.#options.io.clock.now())) &&
        this.#refusal(server) === null
      ).map((entry) => this.#learn(entry, signal)),
    );
    this.#isPrepared = true;
  }

  /** Reads what is known of the servers; starts none. */
  async load({ isQuiet = false }: { isQuiet?: boolean } = {}): Promise<void> {
    const { servers, home, root, notify } = this.#options;
    const approved = servers.some(({ origin }) => origin === "project") ? await approvedServers(home, root) : new Map();
    this.#entries = await Promise.all(
      servers.map(async (server): Promise<Entry> => {
        const hash = await serverHash(server);
        const isApproved = server.origin !== "project" || approved.get(server.name)?.hash === hash;
        return {
          ...{ server, hash, client: null, isolation: null, connecting: null, ends: 0, isRunning: false },
          ...{ told: null, log: new ServerLog() },
          manifest: isApproved ? await readManifest(home, hash) : null,
          problem: isApproved ? null : "it is not approved",
        };
      }),
    );
    const unapproved = this.#entries.filter(({ problem }) => problem !== null).map(({ server }) => server.name);
    if (unapproved.length > 0 && !isQuiet) {
      await notify(
        `the project names MCP servers that you did not approve: ${unapproved.join(", ")}; ` +
          `look at them, then approve them: agentcli mcp approve ${unapproved[0]}`,
      );
    }
  }

  /** Starts a server and asks for its lists anew. Throws as {@link request}. */
  async start(name: string, signal: AbortSignal): Promise<void> {
    const entry = this.#find(name);
    if (entry === undefined) throw new ServerFailed("is not configured");
    if (entry.problem !== null) throw new ServerFailed(`cannot be used: ${entry.problem}`);
    entry.manifest = null;
    await this.#connected(entry, { signal });
  }

  /** Forgets what is known of a server, so that the next session asks. */
  async forget(name: string): Promise<void> {
    const entry = this.#find(name);
    if (entry !== undefined) await forgetManifest(this.#options.home, entry.hash);
  }

  async #learn(entry: Entry, signal: AbortSignal): Promise<void> {
    const { notify } = this.#options;
    try {
      await notify(`starting the MCP server ${entry.server.name}`);
      await this.#connected(entry, { signal });
    } catch (error) {
      signal.throwIfAborted();
      const why = entry.problem = failureOf(error);
      await notify(
        `the MCP server ${entry.server.name} is left out: it ${why}; agentcli mcp test ${entry.server.name}`,
      );
    }
  }

  /** Returns why a server may not be called now; null when it may. One sentence. */
  refusal(name: string): string | null {
    const entry = this.#find(name);
    return entry === undefined ? null : this.#refusal(entry.server);
  }

  /**
   * Returns why the boundary keeps a server from being told something, or called at all; null where it does not. What a
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
    if (path !== null) {
      return `An argument names a protected path (${path.rule}), which the MCP server ${name} may not be told. ` +
        "Go on without it.";
    }
    // As it is sent, too: what is spread over several values stands together there.
    if (!isNetworked || !await found([...stringsOf(params), JSON.stringify(params)], { isLeaving: true })) return null;
    return `The arguments hold protected content, which the MCP server ${name} may not be told: it is reached over the ` +
      "network. Leave that content out, or refer to it by name.";
  }

  #refusal(server: ServerRules): string | null {
    const { workspace, label, provider } = this.#options.scope();
    return serverRefusal(server, { label: label(), isLocal: workspace.local, provider });
  }

  #find(name: string): Entry | undefined {
    return this.#entries.find(({ server }) => server.name === name);
  }

  /**
   * Sends one request to a server, which is started for it where it does not run. Throws {@link ServerFailed}, `RpcError`,
   * and the signal's reason.
   */
  async request(name: string, method: string, params: JsonRecord, options: CallOptions): Promise<JsonRecord> {
    const entry = this.#find(name);
    if (entry === undefined) throw new ServerFailed("is not configured");
    if (entry.problem !== null) throw new ServerFailed(`cannot be used: ${entry.problem}`);
    const { label } = this.#options.scope();
    // What could pass something on does not run beside what must not be passed on.
    if (label() !== "open") await this.#endNetworked();
    // What a program was told in turns that are gone, it would tell as something open.
    else if (entry.told !== null && entry.server.url === undefined) await this.#drop(entry);
    const forbidden = await this.forbidden(name, params);
    if (forbidden !== null) throw new ServerFailed(`may not be called. ${forbidden}`);
    const client = await this.#connected(entry, options);
    try {
      const { signal, progress, headers } = options;
      const elicit = guardedForms(entry.server, this.#options);
      if (label() !== "open") entry.told ??= Date.now();
      const asks: ServerAsks = { ...progress && { progress }, ...elicit && { elicit } };
      return await client.request(method, params, { signal, asks, ...headers && { headers } });
    } finally {
      if (client.ended !== null) {
        entry.ends++;
        await this.#drop(entry);
      }
    }
  }

  /** Keeps a long result where the model can read it; returns the path, null where it cannot be kept, or may not be. */
  async keepResult(text: string): Promise<string | null> {
    return await this.#options.scope().found([text]) ? null : this.#results.keep(text);
  }

  /** Returns the label of what a server said by another way than a tool result: no lower than that of its data. */
  async labelOf(name: string, text: string): Promise<Label> {
    const label = this.#find(name)?.server.label ?? "open";
    return label === "open" && await this.#options.scope().found([text]) ? "no-cloud" : label;
  }

  /** Returns whether what servers list holds protected content: it would stand in files, and before every message. */
  async #holdsProtected(lists: readonly Manifest[]): Promise<boolean> {
    return await this.#options.scope().found([...stringsOf(lists), JSON.stringify(lists)]);
  }

  /** A connection that fits what the session holds now. */
  async #connected(entry: Entry, { signal, starting }: Pick<CallOptions, "signal" | "starting">): Promise<McpClient> {
    if (entry.client?.ended === null && await this.#fits(entry)) return entry.client;
    await this.#drop(entry);
    if (entry.ends >= MOST_ENDS) {
      throw new ServerFailed("ended twice by itself, and is not started again in this session");
    }
    await starting?.(entry.server.name);
    // Calls that run together share one start.
    entry.connecting ??= this.#connect(entry, signal).finally(() => entry.connecting = null);
    return await entry.connecting;
  }

  async #fits({ server, isolation }: Entry): Promise<boolean> {
    if (server.url !== undefined) return true;
    const needed = await isolationOf(this.#options.scope());
    return needed === null || needed === isolation || isolation === "project";
  }

  async #connect(entry: Entry, signal: AbortSignal): Promise<McpClient> {
    const { server } = entry;
    const scope = this.#options.scope();
    entry.isolation = server.url === undefined ? await isolationOf(scope) : null;
    entry.told = null;
    const revision = entry.manifest?.revision ?? null;
    let client = await this.#open(entry);
    const late = AbortSignal.any([signal, AbortSignal.timeout(START_SECONDS * 1_000)]);
    try {
      await client.connect({ signal: late, revision });
    } catch (error) {
      const { ended } = client;
      await client.close();
      // Some end when the first thing that they hear is not the handshake, and others were taken for what they are no more.
      const mayBeLegacy = ended !== null && error instanceof ServerFailed && error.kind === "gone" &&
        server.url === undefined;
      if (signal.aborted || (!mayBeLegacy && revision === null)) throw timeoutOr(error, late, signal);
      client = await this.#open(entry);
      try {
        await client.connect({ signal: late, revision: revision === null ? "" : null });
      } catch (again) {
        await client.close();
        throw timeoutOr(again, late, signal);
      }
    }
    try {
      await this.#compare(entry, await client.manifest(late, this.#options.io.clock.now()));
    } catch (error) {
      await client.close();
      throw timeoutOr(error, late, signal);
    }
    client.onChange = () => void forgetManifest(this.#options.home, entry.hash);
    entry.client = client;
    entry.isRunning = true;
    if (server.url === undefined && entry.isolation !== "project") void this.#watch(entry, client);
    return client;
  }

  /** Ends a program that was started where nothing was protected, soon after something came to be. */
  async #watch(entry: Entry, client: McpClient): Promise<void> {
    const { clock } = this.#options.io;
    while (entry.client === client && client.ended === null) {
      await clock.sleep(WATCH_MS, this.#closing.signal).catch(() => {});
      if (this.#closing.signal.aborted) return;
      // What cannot be looked at counts as protected, as for commands.
      if (await this.#fits(entry).catch(() => false)) continue;
      return entry.client === client ? await this.#drop(entry) : undefined;
    }
  }

  async #open(entry: Entry): Promise<McpClient> {
    const { info, io } = this.#options;
    const log = (bytes: Uint8Array) => {
      // A log outlives the session: it holds nothing that was said while something protected was there.
      const isOpen = this.#options.scope().label() === "open" && entry.server.label === undefined;
      if (isOpen && entry.told === null) entry.log.add(bytes);
    };
    const link = await openLink(entry.server, {
      ...this.#options,
      scope: this.#options.scope(),
      isolation: entry.isolation,
      log,
      io,
    });
    // Also where nobody can fill in a form: some servers list other tools for clients without them.
    return new McpClient(link, { info, timeoutMs: entry.server.timeout * 1_000, elicits: true });
  }

  /** Takes what the server lists now. What a project's server lists must be what was seen when it was approved. */
  async #compare(entry: Entry, manifest: Manifest): Promise<void> {
    const { home, root, notify } = this.#options;
    const { server, hash, manifest: before } = entry;
    if (await this.#holdsProtected([manifest])) throw new ServerFailed("names protected content in what it lists");
    const tools = await sha256(toolsText(manifest));
    if (server.origin === "project") {
      const approved = (await approvedServers(home, root)).get(server.name);
      if (approved?.hash !== hash) throw new ServerFailed("is not approved");
      if (approved.tools !== null && approved.tools !== tools) {
        await forgetManifest(home, hash);
        entry.problem = "its tools are not those that you approved";
        throw new ServerFailed(`lists other tools than those that you approved: agentcli mcp approve ${server.name}`);
      }
      if (approved.tools === null) await approveServer(home, { root, name: server.name }, { hash, tools });
    } else if (before !== null && await sha256(toolsText(before)) !== tools) {
      await notify(`the MCP server ${server.name} lists other tools now: agentcli mcp show ${server.name}`);
    }
    // Resources are named after what the server holds.
    if (server.label === undefined || manifest.resources.length === 0) await storeManifest(home, hash, manifest);
    // The list of a session stays as it was: a change would make the model server read everything again.
    entry.manifest = this.#isPrepared ? entry.manifest ?? manifest : manifest;
  }

  async #endNetworked(): Promise<void> {
    const networked = this.#entries.filter(({ server, client }) =>
      client !== null && serverClass(server) === "networked"
    );
    await Promise.all(networked.map((entry) => this.#drop(entry)));
  }

  async #drop(entry: Entry): Promise<void> {
    const { client } = entry;
    entry.client = null;
    entry.isRunning = false;
    await client?.close();
    // Some write what they know when they end.
    if (client !== null && entry.told !== null) await this.#options.scope().protectCopies(entry.told);
  }

  /** Ends the servers, and keeps what they wrote to their standard error. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#results.close(), ...this.#entries.map((entry) => this.#drop(entry))]);
    for (const { server, log: { text } } of this.#entries) {
      if (text === "" || await this.#options.scope().found([text])) continue;
      await this.#options.home.write(logOf(server.name), text).catch(() => {});
    }
  }
}

function timeoutOr(error: unknown, late: AbortSignal, signal: AbortSignal): unknown {
  return late.aborted && !signal.aborted
    ? new ServerFailed(`did not answer within ${START_SECONDS} seconds after its start`, "timeout")
    : error;
}
