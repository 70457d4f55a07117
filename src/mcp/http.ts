/** A server at an address: each message a POST, each answer one object or a stream of events (streamable HTTP). */
import { checkedKey } from "../config/endpoint.ts";
import { isLocal } from "../boundary/policy/locality.ts";
import { AgentcliError } from "../errors.ts";
import type { Io } from "../platform/io.ts";
import { LineDecoder } from "../provider/chat/sse.ts";
import type { HttpClient, HttpResponse } from "../provider/http/client.ts";
import { fieldsOf, isRecord, type JsonRecord, parseJson, textOf } from "../platform/record.ts";
import type { Endpoint } from "../provider/types.ts";
import { RPC_CODES, RpcError } from "../rpc/message.ts";
import { headerValue } from "./header_parameters.ts";
import { type Link, type LinkHandlers, type LinkRequest, MODERN, ServerFailed } from "./link.ts";
import { keyStoreOf, type McpServer, type ResolvedServer } from "./server.ts";

/** Bytes of one answer. */
const ANSWER_LIMIT = 16 * 1024 * 1024;
/** Bytes of a whole stream of events. */
const STREAM_LIMIT = 64 * 1024 * 1024;
/** How often an interrupted stream is resumed, and milliseconds in between unless the server says. */
const MOST_RESUMES = 5;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** Seconds until a connection is established, and until an answer begins: the call itself has its own limit. */
const TIMEOUT = { connect: 10, firstByte: 3_600, idle: 3_600 };

/** Headers that hold keys, and the length from which a key is not an ordinary word. */
const KEY_HEADER = /auth|key|token|secret|passw|cookie|credential/i;
const KEY_LENGTH = 8;

/** The id of no request. */
const NOBODY = -1;

interface HttpOptions {
  client: HttpClient;
  io: Pick<Io, "env" | "os" | "clock">;
}

/** Returns a function that opens a connection. Throws `key_missing` for a key that does not resolve. */
export async function openHttp(
  server: McpServer,
  resolved: ResolvedServer,
  options: HttpOptions,
): Promise<(handlers: LinkHandlers) => Link> {
  const url = URL.parse(resolved.url ?? "");
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const message = `the address of the MCP server ${server.name} is no http or https address`;
    throw new AgentcliError("config_invalid", message, { hint: `agentcli mcp show ${server.name}` });
  }
  const endpoint: Endpoint = {
    provider: `the MCP server ${server.name}`,
    baseUrl: url.origin,
    ...await keyOf(server, { resolved, url, io: options.io }),
    headers: resolved.headers,
    caCerts: [],
    timeout: TIMEOUT,
    local: isLocal(url.href, []),
  };
  return (handlers) =>
    new HttpLink({ endpoint, path: url.pathname + url.search, name: server.name, handlers, ...options });
}

/** The name under which the key of a server is stored. */
export function keyName(server: string): string {
  return `mcp:${server}`;
}

async function keyOf(
  server: McpServer,
  { resolved: { apiKey }, url, io }: { resolved: ResolvedServer; url: URL; io: HttpOptions["io"] },
): Promise<{ key?: string | undefined; keySource: string }> {
  const store = keyStoreOf(server);
  if (store === null && apiKey === undefined) return { keySource: "none" };
  const bound = { name: keyName(server.name), baseUrl: url.origin };
  const found = store === null
    ? checkedKey("literal", apiKey ?? "")
    : await (await import("../config/keys/stored_key.ts")).readStoredKey(bound, store, { outside: io });
  if (found.key !== undefined && found.key !== "") return { key: found.key, keySource: found.source };
  const problem = found.problem ?? "it is not set";
  throw new AgentcliError("key_missing", `no key for the MCP server ${server.name}: ${problem}`, {
    hint: `store it: agentcli mcp set-key ${server.name}`,
  });
}

/** Where a stream of events has ended, and how it is resumed. */
interface StreamEnd {
  answer: JsonRecord | null;
  lastId: string | null;
  retryMs: number;
}

interface LinkParts extends HttpOptions {
  endpoint: Endpoint;
  path: string;
  name: string;
  handlers: LinkHandlers;
}

class HttpLink implements Link {
  readonly #parts: LinkParts;
  /** Empty before it is known. */
  #revision = "";
  #session: string | undefined;
  #lastId = 0;
  readonly #closing = new AbortController();
  readonly #keys: readonly string[];
  ended: string | null = null;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    const { key = "", headers } = parts.endpoint;
    const values = Object.entries(headers).flatMap(([name, value]) => KEY_HEADER.test(name) ? value.split(/\s+/) : []);
    const keys = [key.trim(), ...values].filter((one) => one.length >= KEY_LENGTH);
    this.#keys = keys.flatMap((one) => [one, JSON.stringify(one).slice(1, -1)]);
  }

  settle(revision: string): void {
    this.#revision = revision;
    if (revision === "") this.#session = undefined;
  }

  async close(): Promise<void> {
    this.ended ??= "was closed";
    this.#closing.abort(new ServerFailed("was closed", "gone"));
    await Promise.resolve();
  }

  async notify(method: string, params: JsonRecord): Promise<void> {
    const response = await this.#post({ jsonrpc: "2.0", method, params }, { signal: this.#closing.signal }).catch(() =>
      null
    );
    await response?.cancel();
  }

  listen(): void {
    const { signal } = this.#closing;
    const { io } = this.#parts;
    const listen = async () => {
      for (let times = 0; times < MOST_RESUMES; times++) {
        const response = await this.#get({}, signal);
        // Most servers have none.
        if (response.status >= 400) return await response.cancel();
        const { retryMs } = await this.#events(response, NOBODY, signal);
        await io.clock.sleep(Math.min(retryMs, LONGEST_RETRY_MS), signal);
      }
    };
    // A server without that stream sends its requests with its answers.
    listen().catch(() => {});
  }

  async request(method: string, params: JsonRecord, options: LinkRequest): Promise<JsonRecord> {
    if (this.ended !== null) throw new ServerFailed(this.ended, "gone");
    const id = ++this.#lastId;
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    const response = await this.#post({ jsonrpc: "2.0", id, method, params }, { ...options, signal });
    if (method === "initialize") this.#session = response.headers.get("mcp-session-id");
    const answer = await this.#answer(response, id, signal);
    if (isRecord(answer.error)) {
      const { code, message, data } = answer.error;
      const known = typeof code === "number" ? code : RPC_CODES.internalError;
      throw new RpcError(known, textOf(message) ?? "no message", data);
    }
    return fieldsOf(answer.result);
  }

  async #post(message: JsonRecord, { signal, headers = {} }: LinkRequest): Promise<HttpResponse> {
    const { client, path } = this.#parts;
    return await client.send(this.#endpoint({ ...this.#standardHeaders(message), ...headers }), {
      method: "POST",
      path,
      atOrigin: true,
      body: JSON.stringify(message),
      signal,
    });
  }

  async #get(headers: Record<string, string>, signal: AbortSignal): Promise<HttpResponse> {
    const { client, path } = this.#parts;
    const endpoint = this.#endpoint({ ...this.#standardHeaders({}), accept: "text/event-stream", ...headers });
    return await client.send(endpoint, { method: "GET", path, atOrigin: true, signal });
  }

  #endpoint(headers: Record<string, string>): Endpoint {
    const { endpoint } = this.#parts;
    return {
      ...endpoint,
      headers: { accept: "application/json, text/event-stream", ...endpoint.headers, ...headers },
    };
  }

  #standardHeaders({ method, params }: JsonRecord): Record<string, string> {
    const version: Record<string, string> = this.#revision === "" ? {} : { "mcp-protocol-version": this.#revision };
    if (this.#revision !== MODERN) {
      return { ...version, ...this.#session === undefined ? {} : { "mcp-session-id": this.#session } };
    }
    const { name, uri } = fieldsOf(params);
    const named = textOf(name) ?? textOf(uri);
    return {
      ...version,
      "mcp-method": String(method),
      ...named === null ? {} : { "mcp-name": headerValue(named) },
    };
  }

  /** The message that answers a request. Throws {@link ServerFailed} for anything else. */
  async #answer(response: HttpResponse, id: number, signal: AbortSignal): Promise<JsonRecord> {
    const type = response.headers.get("content-type") ?? "";
    if (response.status >= 400) throw await this.#refused(response);
    if (!type.includes("text/event-stream")) {
      const value = parseJson(this.#withoutKeys(await textIn(response)));
      if (isRecord(value) && (value.result !== undefined || value.error !== undefined)) return value;
      throw new ServerFailed(`answered with HTTP ${response.status} and no message`);
    }
    let stream = response;
    for (let resumes = 0;; resumes++) {
      const read = await this.#events(stream, id, signal);
      if (read.answer !== null) return read.answer;
      // A stream may break off where the server named a place to continue from.
      if (read.lastId === null || resumes >= MOST_RESUMES || this.#revision === MODERN) {
        throw new ServerFailed("ended its answer before the result");
      }
      await this.#parts.io.clock.sleep(Math.min(read.retryMs, LONGEST_RETRY_MS), signal);
      stream = await this.#resume(read.lastId, signal);
    }
  }

  async #resume(lastId: string, signal: AbortSignal): Promise<HttpResponse> {
    const response = await this.#get({ "last-event-id": lastId }, signal);
    if (response.status < 400) return response;
    await response.cancel();
    throw new ServerFailed(`ended its answer before the result, and refuses to go on (HTTP ${response.status})`);
  }

  /** Replaces keys that the server repeats: they are for no model, transcript or terminal. */
  #withoutKeys(text: string): string {
    return this.#keys.reduce((rest, key) => rest.replaceAll(key, "…"), text);
  }

  /** An error of the protocol where the body is one, else what the status means. */
  async #refused(response: HttpResponse): Promise<Error> {
    const { status } = response;
    const { error } = fieldsOf(parseJson(this.#withoutKeys(await textIn(response).catch(() => ""))));
    if (status === 401 || status === 403) {
      const command = `agentcli mcp set-key ${this.#parts.name}`;
      return new ServerFailed(`refuses the key, or wants one (HTTP ${status}): ${command}`, "unauthorized");
    }
    if (status === 404 && this.#session !== undefined) {
      this.ended ??= "forgot the session";
      return new ServerFailed(this.ended, "gone");
    }
    if (!isRecord(error) || typeof error.code !== "number") return new ServerFailed(`answered with HTTP ${status}`);
    return new RpcError(error.code, textOf(error.message) ?? `HTTP ${status}`, error.data);
  }

  /** Reads events until the answer is there; what the server asks meanwhile is answered. */
  async #events(
    response: HttpResponse,
    id: number,
    signal: AbortSignal,
  ): Promise<StreamEnd> {
    const found: StreamEnd = { answer: null, lastId: null, retryMs: RETRY_MS };
    let data: string[] = [];
    const lines = new LineDecoder((line) => {
      if (line === "") {
        const message = data.length === 0 ? undefined : parseJson(this.#withoutKeys(data.join("\n")));
        data = [];
        if (isRecord(message)) found.answer ??= this.#message(message, id, signal);
        return;
      }
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "data") data.push(value);
      else if (field === "id" && !value.includes("\0")) found.lastId = value;
      else if (field === "retry" && /^\d{1,9}$/.test(value)) found.retryMs = Number(value);
    });
    let size = 0;
    try {
      while (found.answer === null) {
        const bytes = await response.body?.read() ?? null;
        if (bytes === null) {
          lines.end();
          break;
        }
        size += bytes.length;
        if (size > STREAM_LIMIT) throw new ServerFailed("sent more than 64 MiB of events");
        lines.feed(bytes);
      }
      return found;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServerFailed) throw error;
      if (error instanceof AgentcliError) throw new ServerFailed("sent a line of more than 16 MiB");
      return found;
    } finally {
      await response.cancel();
    }
  }

  /** Returns the answer; null for everything else, which is handled. */
  #message(message: JsonRecord, id: number, signal: AbortSignal): JsonRecord | null {
    const { method, params } = message;
    if (typeof method !== "string") return message.id === id ? message : null;
    if (message.id === undefined) this.#parts.handlers.notification(method, fieldsOf(params));
    else void this.#reply(message, signal);
    return null;
  }

  /** Answers a request of the server that comes on the stream, in a message of its own. */
  async #reply({ id, method, params }: JsonRecord, signal: AbortSignal): Promise<void> {
    const { request } = this.#parts.handlers;
    const outcome = await request(String(method), fieldsOf(params), signal).then(
      (result) => ({ result }),
      (error) => ({
        error: error instanceof RpcError
          ? { code: error.code, message: error.message }
          : { code: RPC_CODES.internalError, message: "internal error" },
      }),
    );
    const response = await this.#post({ jsonrpc: "2.0", id, ...outcome }, { signal }).catch(() => null);
    await response?.cancel();
  }
}

async function textIn(response: HttpResponse): Promise<string> {
  try {
    return await response.text(ANSWER_LIMIT);
  } catch (error) {
    if (error instanceof AgentcliError && error.code === "invalid_reply") {
      throw new ServerFailed("sent an answer of more than 16 MiB");
    }
    throw error;
  }
}
