/**
 * One conversation with a server, in either era of the protocol: 2026-07-28, where every request says what it needs to
 * say, and earlier, with a handshake. Everything above deals with tools, prompts and resources only.
 */
import { fieldsOf, isRecord, type JsonRecord, membersOf, textOf } from "../platform/record.ts";
import { RPC_CODES, RpcError } from "../rpc/message.ts";
import { after } from "../platform/sleep.ts";
import { LEGACY, type Link, type LinkHandlers, type LinkRequest, MCP_CODES, MODERN, ServerFailed } from "./link.ts";
import { cleanText, type Manifest, promptOf, resourceOf, toolOf } from "./tool_info.ts";

/** Milliseconds of silence after which a server counts as one with a handshake. */
const DISCOVER_MS = 2_500;
/** Rounds in which a server may ask for more before it answers. */
const MOST_ROUNDS = 8;
/** Requests of one round, and characters of the state that is sent back untouched. */
const MOST_INPUTS = 8;
const STATE_LIMIT = 256 * 1024;
/** Pages of a list, and entries of all of them. */
const MOST_PAGES = 50;
const MOST_ENTRIES = 1_000;

const META = "io.modelcontextprotocol";

/** How this side names itself. */
export interface ClientInfo {
  name: string;
  version: string;
}

/** Questions to a person, and what is shown to a person. */
export interface ServerAsks {
  /** Answers a form of the server; the answer is sent as it is. Absent: no form is answered. */
  elicit?(params: JsonRecord, signal: AbortSignal): Promise<JsonRecord>;
  /** Shows how far a call is. */
  progress?(text: string): void;
}

/** Facts that hold for a whole conversation. */
interface ClientOptions {
  info: ClientInfo;
  /** Milliseconds that one request may take without a sign of life. */
  timeoutMs: number;
  /** Whether forms can be answered. */
  elicits: boolean;
}

interface AskOptions extends LinkRequest {
  asks?: ServerAsks;
}

/** Throws where a server of this era supports no revision that is known here. */
function refuseUnknown(data: unknown): void {
  const supported = membersOf(fieldsOf(data).supported).map(String);
  if (supported.length === 0 || supported.some((revision) => LEGACY.includes(revision))) return;
  throw new ServerFailed(`speaks only revisions that are not known here: ${cleanText(supported.join(", "), 100)}`);
}

/** A server that answered. */
export class McpClient {
  revision = MODERN;
  capabilities: JsonRecord = {};
  title = "";
  instructions = "";
  readonly #link: Link;
  readonly #options: ClientOptions;
  /** By the token of its request. */
  readonly #calls = new Map<string, { asks: ServerAsks; alive(): void }>();
  #lastToken = 0;
  /** Called when the server says that its lists have changed. */
  onChange: () => void = () => {};

  /** `open` is given what answers the server. */
  constructor(open: (handlers: LinkHandlers) => Link, options: ClientOptions) {
    this.#options = options;
    this.#link = open({
      request: (method, params, signal) => this.#answer(method, params, signal),
      notification: (method, params) => this.#notified(method, params),
    });
  }

  /** Null as long as the server can be reached. */
  get ended(): string | null {
    return this.#link.ended;
  }

  get isModern(): boolean {
    return this.revision === MODERN;
  }

  async close(): Promise<void> {
    await this.#link.close();
  }

  /**
   * Finds out the server's era; `revision` is that of the last time, null where it is not known. Throws
   * {@link ServerFailed} and `RpcError`.
   */
  async connect({ signal, revision }: { signal: AbortSignal; revision: string | null }): Promise<void> {
    if (revision === null || revision === MODERN) {
      this.#link.settle(MODERN);
      this.revision = MODERN;
      if (await this.#discover(signal, { isKnown: revision === MODERN, mayRetry: true })) return;
    }
    await this.#initialize(signal);
  }

  /** Returns false for a server with a handshake: any answer but a result, and silence. */
  async #discover(
    signal: AbortSignal,
    { isKnown, mayRetry }: { isKnown: boolean; mayRetry: boolean },
  ): Promise<boolean> {
    const late = new AbortController();
    const silence = Promise.withResolvers<null>();
    const enough = isKnown ? () => {} : after(DISCOVER_MS, () => silence.resolve(null));
    try {
      // Not canceled when it is late: a server that knows no such request need not know that nobody waits either.
      const asking = this.request("server/discover", {}, { signal: AbortSignal.any([signal, late.signal]) });
      asking.catch(() => {});
      const found = await Promise.race([asking, silence.promise]);
      if (found === null) return false;
      if (!membersOf(found.supportedVersions).includes(MODERN)) return false;
      this.#know(found, fieldsOf(found._meta)[`${META}/serverInfo`]);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServerFailed && error.kind !== "failed") throw error;
      if (!(error instanceof RpcError) && !(error instanceof ServerFailed)) throw error;
      if (!(error instanceof RpcError) || error.code !== MCP_CODES.unsupportedVersion) return false;
      // Rejected, and named as supported: a server behind another one may answer the next time.
      const isNamed = membersOf(fieldsOf(error.data).supported).includes(MODERN);
      if (isNamed && mayRetry) return await this.#discover(signal, { isKnown, mayRetry: false });
      refuseUnknown(error.data);
      return false;
    } finally {
      enough();
    }
  }

  async #initialize(signal: AbortSignal): Promise<void> {
    const [newest = ""] = LEGACY;
    this.revision = newest;
    this.#link.settle("");
    const found = await this.request("initialize", {
      protocolVersion: newest,
      capabilities: this.#capabilities(),
      clientInfo: this.#options.info,
    }, { signal });
    const revision = textOf(found.protocolVersion) ?? "";
    if (!LEGACY.includes(revision)) {
      throw new ServerFailed(`speaks revision "${cleanText(revision, 40)}" of the protocol, which is not known here`);
    }
    this.revision = revision;
    this.#link.settle(revision);
    this.#know(found, found.serverInfo);
    await this.#link.notify("notifications/initialized", {});
    if (this.#options.elicits) this.#link.listen?.();
  }

  #know({ capabilities, instructions }: JsonRecord, serverInfo: unknown): void {
    const { title, name } = fieldsOf(serverInfo);
    this.capabilities = fieldsOf(capabilities);
    this.title = cleanText(textOf(title) ?? textOf(name) ?? "", 80);
    this.instructions = cleanText(textOf(instructions) ?? "");
  }

  #capabilities(): JsonRecord {
    return this.#options.elicits ? { elicitation: this.revision < "2025-11-25" ? {} : { form: {} } } : {};
  }

  /**
   * Asks, and answers what the server asks before it answers. Throws `RpcError` for an error of the server,
   * {@link ServerFailed}, or the signal's reason.
   */
  async request(method: string, params: JsonRecord, { signal, asks = {}, headers }: AskOptions): Promise<JsonRecord> {
    let sent = params;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const result = await this.#once(method, sent, { signal, asks, headers });
      if (!this.isModern || result.resultType !== "input_required") return result;
      sent = { ...params, ...await this.#inputs(result, asks, signal) };
    }
    throw new ServerFailed("asked for more and more input, and never answered");
  }

  async #once(
    method: string,
    params: JsonRecord,
    { signal, asks, headers }: AskOptions & { asks: ServerAsks },
  ): Promise<JsonRecord> {
    const token = `p${++this.#lastToken}`;
    const late = new AbortController();
    const { timeoutMs } = this.#options;
    const timedOut = () =>
      late.abort(new ServerFailed(`did not answer within ${Math.round(timeoutMs / 100) / 10} seconds`, "timeout"));
    let enough = after(timeoutMs, timedOut);
    const alive = () => {
      if (!this.#calls.has(token)) return;
      enough();
      enough = after(timeoutMs, timedOut);
    };
    this.#calls.set(token, { asks, alive });
    const meta = {
      ...fieldsOf(params._meta),
      ...asks.progress === undefined ? {} : { progressToken: token },
      ...this.isModern
        ? {
          [`${META}/protocolVersion`]: MODERN,
          [`${META}/clientInfo`]: this.#options.info,
          [`${META}/clientCapabilities`]: this.#capabilities(),
        }
        : {},
    };
    const whole = Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
    try {
      return await this.#link.request(method, whole, { signal: AbortSignal.any([signal, late.signal]), headers });
    } finally {
      enough();
      this.#calls.delete(token);
    }
  }

  async #inputs(result: JsonRecord, asks: ServerAsks, signal: AbortSignal): Promise<JsonRecord> {
    const { requestState, inputRequests } = result;
    if (requestState !== undefined && (typeof requestState !== "string" || requestState.length > STATE_LIMIT)) {
      throw new ServerFailed("asked for input with a state of more than 256 KiB, which would have to go back to it");
    }
    const wanted = Object.entries(fieldsOf(inputRequests));
    if (wanted.length > MOST_INPUTS) throw new ServerFailed(`asked for ${wanted.length} inputs at once`);
    const responses: [string, unknown][] = [];
    for (const [key, value] of wanted) {
      const { method, params } = fieldsOf(value);
      if (method !== "elicitation/create") {
        throw new ServerFailed(`asked for ${cleanText(textOf(method) ?? "something", 60)}, which is not supported`);
      }
      responses.push([key, await this.#elicited(fieldsOf(params), asks, signal)]);
    }
    return {
      ...responses.length === 0 ? {} : { inputResponses: Object.fromEntries(responses) },
      requestState,
    };
  }

  async #elicited(params: JsonRecord, asks: ServerAsks, signal: AbortSignal): Promise<JsonRecord> {
    if (asks.elicit === undefined || (params.mode !== undefined && params.mode !== "form")) {
      return { action: "decline" };
    }
    // A person thinks as long as it takes: the call does not time out meanwhile.
    const alive = [...this.#calls.values()].map((call) => call.alive);
    let enough = () => {};
    const again = () => {
      alive.forEach((one) => one());
      enough = after(Math.min(5_000, this.#options.timeoutMs / 2), again);
    };
    again();
    try {
      return await asks.elicit(params, signal);
    } finally {
      enough();
    }
  }

  /** Requests of servers with a handshake: pings, and forms while a call of ours runs. */
  async #answer(method: string, params: JsonRecord, signal: AbortSignal): Promise<unknown> {
    if (method === "ping") return {};
    if (method !== "elicitation/create" || !this.#options.elicits) {
      throw new RpcError(RPC_CODES.methodNotFound, "this client does not support that request");
    }
    const asking = [...this.#calls.values()].findLast(({ asks }) => asks.elicit !== undefined);
    return await this.#elicited(params, asking?.asks ?? {}, signal);
  }

  #notified(method: string, params: JsonRecord): void {
    if (/^notifications\/\w+\/list_changed$/.test(method)) this.onChange();
    if (method !== "notifications/progress") return;
    const call = this.#calls.get(String(params.progressToken));
    if (call === undefined) return;
    call.alive();
    const { progress, total } = params;
    const share = typeof progress === "number" && typeof total === "number" && total > 0
      ? `${Math.min(100, Math.max(0, Math.round(100 * progress / total)))} %`
      : "";
    const said = cleanText(textOf(params.message) ?? "", 120);
    call.asks.progress?.([share, said].filter((part) => part !== "").join(" "));
  }

  /** Lists everything that a session has to know. Throws as {@link request}. */
  async manifest(signal: AbortSignal, now: number): Promise<Manifest> {
    let ttl: number | null = null;
    const list = async <T>(capability: string, key: string, read: (value: unknown) => T | null): Promise<T[]> => {
      if (!isRecord(this.capabilities[capability])) return [];
      const { entries, ttl: own } = await this.#list(`${capability}/list`, key, signal);
      if (own !== null) ttl = Math.min(ttl ?? own, own);
      return entries.map(read).filter((one) => one !== null);
    };
    const tools = await list("tools", "tools", toolOf);
    const named = new Map(tools.map((tool) => [tool.name, tool]));
    // A server that fails at anything but its tools is still useful for them.
    const others = <T>(listing: Promise<T[]>) =>
      listing.catch((error) => {
        signal.throwIfAborted();
        if (error instanceof RpcError) return [];
        throw error;
      });
    return {
      title: this.title,
      revision: this.revision,
      tools: [...named.values()].sort((one, other) => one.name < other.name ? -1 : 1),
      prompts: await others(list("prompts", "prompts", promptOf)),
      resources: (await others(list("resources", "resources", resourceOf))).slice(0, 200),
      fetched: now,
      ttl,
    };
  }

  async #list(method: string, key: string, signal: AbortSignal): Promise<{ entries: unknown[]; ttl: number | null }> {
    const entries: unknown[] = [];
    let ttl: number | null = null;
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES && entries.length < MOST_ENTRIES; page++) {
      const found = await this.request(method, cursor === undefined ? {} : { cursor }, { signal });
      entries.push(...membersOf(found[key]));
      if (typeof found.ttlMs === "number" && found.ttlMs >= 0) ttl = Math.min(ttl ?? found.ttlMs, found.ttlMs);
      const next = textOf(found.nextCursor);
      if (next === null || next === cursor) break;
      cursor = next;
    }
    return { entries: entries.slice(0, MOST_ENTRIES), ttl };
  }
}
