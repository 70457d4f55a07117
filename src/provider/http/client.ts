/**
 * The one HTTP client. Local endpoints are reached directly, whatever proxy variables, hosts files and redirects
 * say, those on this machine over a connection of our own; remote ones through the proxy the user set. Source:
 * specification of the no-cloud boundary, "Local".
 */
import { joined, portOf } from "../../platform/text.ts";
import { sizeText } from "../../platform/number.ts";
import { AgentcliError } from "../../errors.ts";
import {
  type Connection,
  ConnectionForbidden,
  type FetchClient,
  mayConnect,
  openClient,
  speaksTls,
  takesConnections,
} from "../../platform/http_client.ts";
import type { Io } from "../../platform/io.ts";
import { type RawResponse, readBounded, streamSource } from "./body.ts";
import { ProviderFailure } from "../failure.ts";
import { requestHeaders } from "./headers.ts";
import { exchange } from "./loopback.ts";
import {
  probedAddress,
  type ProxySettings,
  readProxySettings,
  type Route,
  routesTo,
  securedAddress,
  shownUrl,
  urlOf,
} from "./route.ts";
import {
  type Attempt,
  headersTimeout,
  noConnection,
  noTls,
  redirectFailure,
  transportFailure,
} from "./transport_error.ts";
import type { Endpoint } from "../types.ts";

/** Longest time for the rest of a small answer after its headers, in milliseconds. */
const TEXT_TIME = 30_000;
/** Wait in milliseconds after which a server that never responded before is probed over a second connection. */
const TLS_SILENCE = 500;
/**
 * The reason that ends a watch. Without an explicit one the runtime creates an error, with a stack, for every request.
 */
const OVER = "over";

export { takesConnections };

export interface HttpRequest {
  method: "GET" | "POST";
  /** Appended to the base URL; starts with `/`. */
  path: string;
  /** The path counts from the origin instead: `/api/ps`. */
  atOrigin?: boolean;
  /** JSON: a text, or its bytes in pieces that stay as they are until the headers of the answer came. */
  body?: string | readonly Uint8Array<ArrayBuffer>[];
  signal?: AbortSignal;
  /** Called when the first bytes were handed to the system: while the server works there is time for other things. */
  onSent?: (() => void) | undefined;
  /** Send neither the key nor the configured headers, which may hold one. */
  withoutKey?: boolean;
}

/** A response. The caller reads it to its end or cancels it. */
export interface HttpResponse extends RawResponse {
  /** The whole body as text; longer than `limitBytes` is `invalid_reply`, slower than 30 s `provider_timeout`. */
  text(limitBytes: number): Promise<string>;
  /** Discards the body; the server sees the connection close. */
  cancel(): Promise<void>;
}

interface Sent {
  endpoint: Endpoint;
  request: HttpRequest;
  url: URL;
}

/** Sends requests; holds the connections of one process or session. */
export class HttpClient {
  readonly #clock: Io["clock"];
  readonly #proxies: ProxySettings;
  readonly #clients = new Map<string, FetchClient>();
  /** Origin → index of the route that responded last: `localhost` is not tried again at an address that refuses. */
  readonly #reachable = new Map<string, number>();

  /** The proxy variables are read now and once. */
  constructor(io: Pick<Io, "env" | "clock">) {
    this.#clock = io.clock;
    this.#proxies = readProxySettings(io.env);
  }

  /**
   * Sends a request; any status but a redirect is a response. Failures are {@link AgentcliError}s; an abort throws the
   * signal's reason. `fetch` cannot distinguish a connect from a slow server: on loopback it is immediate, refused, or
   * waits for a server that is stopped, so only the wait for headers is bounded there; elsewhere, after the time to
   * connect of silence a second connection shows whether the address answers.
   */
  async send(endpoint: Endpoint, request: HttpRequest): Promise<HttpResponse> {
    const sent: Sent = { endpoint, request, url: urlOf(endpoint, request) };
    const routes = routesTo(sent.url, endpoint, this.#proxies);
    const first = Math.min(this.#reachable.get(sent.url.origin) ?? 0, routes.length - 1);
    const order = [first, ...routes.keys().filter((index) => index !== first)];
    let refusal: unknown;
    for (const index of order) {
      const route = routes[index];
      if (route === undefined) continue;
      // The second address of `localhost` is a guess: never make the runtime ask the user for it.
      if (index > 0 && !mayConnect(route.url.hostname, portOf(route.url))) continue;
      try {
        const response = await this.#attempt(route, sent);
        this.#reachable.set(sent.url.origin, index);
        return response;
      } catch (error) {
        // The second address of a machine without IPv6 fails in other words; what counts is that the first refused.
        if (refusal === undefined) refusal = error;
        if (!(refusal instanceof ProviderFailure && refusal.kind === "refused")) throw error;
        if (!(error instanceof ProviderFailure && ["refused", "unreachable"].includes(error.kind))) throw error;
      }
    }
    throw refusal;
  }

  /** Closes idle connections; the client cannot be used after it. */
  close(): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }

  async #attempt(route: Route, sent: Sent): Promise<HttpResponse> {
    const { endpoint, request } = sent;
    request.signal?.throwIfAborted();
    const headers = requestHeaders(endpoint, request);
    const stop = new AbortController();
    const pending = this.#exchange(route, { headers, sent, stop });
    // While the connection is being made: a first timer costs a quarter of a millisecond.
    const watch = this.#watchHeaders(route, sent, stop);
    try {
      const raw = await pending;
      if (raw.status >= 300 && raw.status < 400) {
        await raw.body?.cancel();
        throw redirectFailure(endpoint.provider, { ...raw, url: route.url });
      }
      return this.#response(raw, sent, stop);
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      if (stop.signal.aborted) throw stop.signal.reason;
      if (error instanceof AgentcliError) throw error;
      throw transportFailure(error, { ...attemptOf(sent), host: route.url.host });
    } finally {
      watch.abort(OVER);
    }
  }

  async #exchange(
    { url, connection }: Route,
    { headers, sent, stop }: { headers: Record<string, string>; sent: Sent; stop: AbortController },
  ): Promise<RawResponse> {
    const { method, signal, onSent, body: given = null } = sent.request;
    const body = typeof given === "string" ? [new TextEncoder().encode(given)] : given;
    const signals = signal === undefined ? [stop.signal] : [signal, stop.signal];
    if (connection.kind === "loopback") {
      return await exchange(connection.address, { method, url, headers, body, onSent }, signals);
    }
    const client = this.#client(connection, sent.endpoint);
    const fetched = fetch(url, {
      client,
      method,
      headers,
      body: body === null ? null : joined(body),
      redirect: "manual",
      signal: AbortSignal.any(signals),
    });
    onSent?.();
    const response = await fetched;
    const { status, body: stream } = response;
    return { status, headers: new Map(response.headers), body: stream === null ? null : streamSource(stream) };
  }

  /** Aborts `stop` when the headers take too long, or when the address turns out not to answer. */
  #watchHeaders(route: Route, sent: Sent, stop: AbortController): AbortController {
    const { timeout } = sent.endpoint;
    const watch = new AbortController();
    const [firstByteMs, connectMs] = [timeout.firstByte * 1000, timeout.connect * 1000];
    this.#after(firstByteMs, watch.signal, () => stop.abort(headersTimeout(attemptOf(sent), firstByteMs)));
    const probed = (look: Look, milliseconds: { after: number; within: number }, failure: () => ProviderFailure) => {
      this.#after(milliseconds.after, watch.signal, () => {
        const probe = new AbortController();
        watch.signal.addEventListener("abort", () => probe.abort());
        this.#after(milliseconds.within, watch.signal, () => probe.abort());
        look(probe.signal).catch(() => false).then((answers) => {
          if (!answers && !watch.signal.aborted) stop.abort(failure());
        });
      });
    };
    const address = probedAddress(route);
    if (address !== null && connectMs < firstByteMs) {
      const look: Look = (signal) => takesConnections(address, signal);
      probed(look, { after: connectMs, within: connectMs }, () => noConnection(attemptOf(sent), connectMs));
    }
    const secured = this.#reachable.has(sent.url.origin) ? null : securedAddress(route);
    if (secured !== null) {
      const look: Look = (signal) => speaksTls(secured, signal);
      probed(look, { after: TLS_SILENCE, within: connectMs / 4 }, () => noTls(attemptOf(sent)));
    }
    return watch;
  }

  #after(milliseconds: number, signal: AbortSignal, act: () => void): void {
    this.#clock.sleep(milliseconds, signal).then(() => {
      if (!signal.aborted) act();
    }, () => {});
  }

  #response(raw: RawResponse, sent: Sent, stop: AbortController): HttpResponse {
    const { endpoint } = sent;
    const milliseconds = Math.min(TEXT_TIME, endpoint.timeout.idle * 1000);
    return {
      ...raw,
      text: async (limitBytes) => {
        const watch = new AbortController();
        this.#after(milliseconds, watch.signal, () => stop.abort(headersTimeout(attemptOf(sent), milliseconds)));
        try {
          const { text, complete } = await readBounded(raw.body, limitBytes);
          if (complete) return text;
        } catch (error) {
          if (sent.request.signal?.aborted) throw sent.request.signal.reason;
          if (stop.signal.aborted) throw stop.signal.reason;
          throw transportFailure(error, attemptOf(sent));
        } finally {
          watch.abort(OVER);
        }
        throw new ProviderFailure("invalid_reply", `${endpoint.provider} sent more than ${sizeText(limitBytes)}`, {
          kind: "invalid",
          status: raw.status,
          hint: `is ${shownUrl(sent.url)} the address of a model server?`,
        });
      },
      cancel: async () => {
        stop.abort();
        await raw.body?.cancel();
      },
    };
  }

  #client(connection: Connection, endpoint: Endpoint): FetchClient {
    const name = JSON.stringify([connection, endpoint.caCerts]);
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const client = openOrExplain(connection, endpoint);
    this.#clients.set(name, client);
    return client;
  }
}

function openOrExplain(connection: Connection, endpoint: Endpoint): FetchClient {
  try {
    return openClient(connection, endpoint.caCerts);
  } catch (error) {
    if (error instanceof ConnectionForbidden) {
      throw new AgentcliError("permission_denied", `cannot reach ${endpoint.provider} past the proxy variables`, {
        hint: `run with ${error.flag}`,
      });
    }
    throw new AgentcliError("config_invalid", `no connection to ${endpoint.provider} can be made`, {
      hint: connection.kind === "proxy"
        ? "check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY"
        : "check ca_file of that provider: it must hold PEM certificates",
    });
  }
}

/** Looks for something at an address; rejects when its signal is aborted. */
type Look = (signal: AbortSignal) => Promise<boolean>;

function attemptOf(sent: Sent): Attempt {
  return {
    provider: sent.endpoint.provider,
    url: shownUrl(sent.url),
    modelsUrl: shownUrl(urlOf(sent.endpoint, { path: "/models" })),
    host: sent.url.host,
  };
}
