/** One MCP server of one session: what is known of it, and the connection to it, which is made with its first call. */
import type { SandboxReason } from "../boundary/sandbox/sandbox.ts";
import { sha256 } from "../platform/digest.ts";
import type { Home } from "../platform/home.ts";
import type { Io } from "../platform/io.ts";
import { type JsonRecord, stringsOf } from "../platform/record.ts";
import { joined } from "../platform/text.ts";
import { RpcError } from "../rpc/message.ts";
import type { HttpClient } from "../provider/http/client.ts";
import { approvedServers, approveServer } from "./configured.ts";
import { type ClientInfo, McpClient, type ServerAsks } from "./client.ts";
import { answerRecord, type FormAnswer, readForm, type ServerForm } from "./elicit.ts";
import { openHttp } from "./http.ts";
import { type Link, type LinkHandlers, ServerFailed } from "./link.ts";
import { forgetManifest, type Manifest, storeManifest, toolsText } from "./tool_info.ts";
import { isolationOf, programOf, type SessionScope } from "./program.ts";
import { type McpServer, resolveServer } from "./server.ts";
import { protectedArgument, serverClass } from "./server_admission.ts";
import { StdioLink } from "./stdio.ts";

/** Seconds until a server that starts must have listed its tools: the first start of some downloads them. */
const START_SECONDS = 90;
/** A server that exits by itself more often than this in one session is not started again. */
const MOST_ENDS = 2;
/** Bytes that are kept of what a server writes to its standard error, the last ones. */
const MOST_BYTES = 64 * 1024;

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
  notify(text: string): void | Promise<void>;
}

export type ServerState = Pick<SessionServer, "server" | "manifest" | "problem" | "isRunning">;

export interface CallOptions {
  signal: AbortSignal;
  /** Shows how far the call is. */
  progress?(text: string): void;
  headers?: Readonly<Record<string, string>>;
  starting?(name: string): void | Promise<void>;
}

/** The server. Nothing is started before {@link SessionServer.connected}. */
export class SessionServer {
  readonly server: McpServer;
  /** Digest of its configuration: its manifest is stored under it. */
  readonly hash: string;
  /** Null until its tools are known. */
  manifest: Manifest | null;
  /** Why it cannot be used in this session; null where it can. */
  problem: string | null;
  /** The tools of the session are fixed: nothing of them changes from there on. */
  isFixed = false;
  readonly #options: HubOptions;
  #client: McpClient | null = null;
  #isolation: SandboxReason | null = null;
  #connecting: Promise<McpClient> | null = null;
  #ends = 0;
  /**
   * When a protected session first sent it something, milliseconds since 1970: it knows, whatever the session forgets.
   */
  #informed: number | null = null;
  /** The end of what it wrote to its standard error. */
  #log = new Uint8Array();

  constructor(
    { server, hash, manifest, problem }: Pick<SessionServer, "server" | "hash" | "manifest" | "problem">,
    options: HubOptions,
  ) {
    this.server = server;
    this.hash = hash;
    this.manifest = manifest;
    this.problem = problem;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#client !== null;
  }

  /** Forgets what is known of it, so that the next session asks. */
  async forget(): Promise<void> {
    await forgetManifest(this.#options.home, this.hash);
  }

  /**
   * Sends one request that the hub has allowed. Throws {@link ServerFailed}, `RpcError`, and the signal's reason.
   */
  async request(method: string, params: JsonRecord, options: CallOptions): Promise<JsonRecord> {
    const client = await this.connected(options);
    try {
      const { signal, progress, headers } = options;
      const elicit = this.#forms();
      if (this.#options.scope().label() !== "open") this.#informed ??= Date.now();
      const asks: ServerAsks = { ...progress && { progress }, ...elicit && { elicit } };
      return await client.request(method, params, { signal, asks, ...headers && { headers } });
    } catch (error) {
      throw await this.#judged(error);
    } finally {
      if (client.ended !== null) {
        this.#ends++;
        await this.drop();
      }
    }
  }

  /**
   * Returns the handler of the server's forms; undefined where nobody is there. Scans what a person types into a form
   * of a server that could pass it on, like the arguments of a call.
   */
  #forms(): ServerAsks["elicit"] {
    const { server } = this;
    const { elicit, notify, scope } = this.#options;
    if (elicit === undefined) return undefined;
    return async (params, signal) => {
      const form = readForm(server.name, params);
      if ("problem" in form) {
        await notify(`the MCP server ${server.name} ${form.problem}: declined`);
        return { action: "decline" };
      }
      const answer = await elicit(form, signal);
      if (answer.action !== "accept" || serverClass(server) === "local-only") return answerRecord(answer);
      const texts = [...stringsOf(answer.content), JSON.stringify(answer.content)];
      const { found, workspace } = scope();
      if (!await found(texts, { isLeaving: true }) && protectedArgument(texts, workspace) === null) {
        return answerRecord(answer);
      }
      await notify(`the answer holds protected content, which the MCP server ${server.name} may not be told: declined`);
      return { action: "decline" };
    };
  }

  /** Ends a program that heard something in turns that are gone: it would pass it on as something open. */
  async dropInformed(): Promise<void> {
    if (this.#informed !== null && this.server.url === undefined) await this.drop();
  }

  /** A connection that fits what the session holds now. */
  async connected({ signal, starting }: Pick<CallOptions, "signal" | "starting">): Promise<McpClient> {
    if (this.#client?.ended === null && await this.#fits()) return this.#client;
    await this.drop();
    if (this.#ends >= MOST_ENDS) {
      throw new ServerFailed("ended twice by itself, and is not started again in this session");
    }
    await starting?.(this.server.name);
    // Calls that run together share one start.
    this.#connecting ??= this.#connect(signal)
      .catch(async (error: unknown) => {
        throw await this.#judged(error);
      })
      .finally(() => this.#connecting = null);
    return await this.#connecting;
  }

  /** Redacts what the server says of a failure if that holds protected content: surfaces show it as it is. */
  async #judged(error: unknown): Promise<unknown> {
    if (!(error instanceof Error) || !await this.#options.scope().found([error.message])) return error;
    const text = "failed (redacted: what it says holds protected content)";
    return error instanceof RpcError
      ? new RpcError(error.code, text)
      : new ServerFailed(text, error instanceof ServerFailed ? error.kind : "failed");
  }

  async #fits(): Promise<boolean> {
    if (this.server.url !== undefined) return true;
    const needed = await isolationOf(this.#options.scope());
    return needed === null || needed === this.#isolation || this.#isolation === "project";
  }

  async #connect(signal: AbortSignal): Promise<McpClient> {
    const { server } = this;
    const scope = this.#options.scope();
    this.#isolation = server.url === undefined ? await isolationOf(scope) : null;
    this.#informed = null;
    const revision = this.manifest?.revision ?? null;
    let client = await this.#open();
    const late = AbortSignal.any([signal, AbortSignal.timeout(START_SECONDS * 1_000)]);
    try {
      await client.connect({ signal: late, revision });
    } catch (error) {
      const { ended } = client;
      await client.close();
      // Some end when the first message is not the handshake, and others are no longer what they were taken for.
      const mayBeLegacy = ended !== null && error instanceof ServerFailed && error.kind === "gone" &&
        server.url === undefined;
      if (signal.aborted || (!mayBeLegacy && revision === null)) throw timeoutOr(error, late, signal);
      client = await this.#open();
      try {
        await client.connect({ signal: late, revision: revision === null ? "" : null });
      } catch (again) {
        await client.close();
        throw timeoutOr(again, late, signal);
      }
    }
    try {
      await this.#compare(await client.manifest(late, this.#options.io.clock.now()));
    } catch (error) {
      await client.close();
      throw timeoutOr(error, late, signal);
    }
    client.onChange = () => void this.forget();
    this.#client = client;
    return client;
  }

  async #open(): Promise<McpClient> {
    const { info } = this.#options;
    const log = (bytes: Uint8Array) => {
      // A log outlives the session: it holds nothing from the time when something protected was there.
      const isOpen = this.#options.scope().label() === "open" && this.server.label === undefined;
      if (isOpen && this.#informed === null) this.#log = joined([this.#log, bytes]).slice(-MOST_BYTES);
    };
    const link = await this.#openLink(log);
    // Also where nobody can fill in a form: some servers list other tools for clients without them.
    return new McpClient(link, { info, timeoutMs: this.server.timeout * 1_000, elicits: true });
  }

  /**
   * Returns a function that opens the connection, by program or by address, once the server's requests can be answered.
   */
  async #openLink(log: (bytes: Uint8Array) => void): Promise<(handlers: LinkHandlers) => Link> {
    const { io, client, notify } = this.#options;
    const { server } = this;
    const scope = this.#options.scope();
    const resolved = resolveServer(server, { env: io.env, secret: scope.secretVariables });
    if (resolved.url !== undefined) return await openHttp(server, resolved, { client, io });
    const run = programOf({ server, resolved, scope, isolation: this.#isolation, io, notify });
    const junk = () => void notify(`the MCP server ${server.name} prints what is no message; those lines are skipped`);
    return (handlers) => new StdioLink(run, { handlers: { ...handlers, junk }, log });
  }

  /** Takes over what the server lists now. A project's server must list what was seen when it was approved. */
  async #compare(manifest: Manifest): Promise<void> {
    const { home, root, notify } = this.#options;
    const { server, hash, manifest: before } = this;
    if (await holdsProtected(this.#options.scope(), [manifest])) {
      throw new ServerFailed("names protected content in what it lists");
    }
    const tools = await sha256(toolsText(manifest));
    if (server.origin === "project") {
      const approved = (await approvedServers(home, root)).get(server.name);
      if (approved?.hash !== hash) throw new ServerFailed("is not approved");
      if (approved.tools !== null && approved.tools !== tools) {
        await this.forget();
        this.problem = "its tools are not those that you approved";
        throw new ServerFailed(`lists other tools than those that you approved: agentcli mcp approve ${server.name}`);
      }
      if (approved.tools === null) await approveServer(home, { root, name: server.name }, { hash, tools });
    } else if (before !== null && await sha256(toolsText(before)) !== tools) {
      await notify(`the MCP server ${server.name} lists other tools now: agentcli mcp show ${server.name}`);
    }
    // Resources are named after what the server holds.
    if (server.label === undefined || manifest.resources.length === 0) await storeManifest(home, hash, manifest);
    // The list stays the same during a session: a change would make the model server read everything again.
    this.manifest = this.isFixed ? this.manifest ?? manifest : manifest;
  }

  async drop(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.close();
  }

  /** Ends it for good, and keeps what it wrote to its standard error. */
  async close(): Promise<void> {
    await this.drop();
    const text = new TextDecoder().decode(this.#log);
    if (text === "" || await this.#options.scope().found([text])) return;
    await this.#options.home.write(logOf(this.server.name), text).catch(() => {});
  }
}

/** Returns the file of the home that holds what a server wrote the last time. */
export function logOf(name: string): string {
  return `logs/mcp-${name}.log`;
}

/** Returns whether what servers list holds protected content: it would stand in files, and before every message. */
export async function holdsProtected(scope: SessionScope, lists: readonly Manifest[]): Promise<boolean> {
  return await scope.found([...stringsOf(lists), JSON.stringify(lists)]);
}

function timeoutOr(error: unknown, late: AbortSignal, signal: AbortSignal): unknown {
  return late.aborted && !signal.aborted
    ? new ServerFailed(`did not answer within ${START_SECONDS} seconds after its start`, "timeout")
    : error;
}
