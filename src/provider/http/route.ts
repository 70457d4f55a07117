/** Chooses the route of a request: local servers never through the user's proxy. Source: no-cloud boundary, "Local". */
import { AgentcliError } from "../../errors.ts";
import { type Connection, mayConnect, type SocketAddress } from "../../platform/http_client.ts";
import { portOf } from "../../platform/text.ts";
import type { Endpoint } from "../types.ts";

/**
 * One way to reach a server: the URL as it is requested, and the connection for it. `loopback` is a direct connection
 * to an address of this machine, in plain text.
 */
export interface Route {
  url: URL;
  connection: Connection | { kind: "loopback"; address: SocketAddress };
}

/** The URL of a request as configured. An invalid base URL, or one with a user name, is `config_invalid`. */
export function urlOf(endpoint: Endpoint, address: { path: string; atOrigin?: boolean }): URL {
  const base = URL.parse(endpoint.baseUrl);
  if (base === null || !/^https?:$/.test(base.protocol) || base.username !== "" || base.password !== "") {
    throw new AgentcliError("config_invalid", `the base URL of ${endpoint.provider} is not usable`, {
      hint: "write base_url as http://<host>:<port>/v1, without user name and password",
    });
  }
  const prefix = address.atOrigin ? "" : base.pathname.replace(/\/+$/, "");
  return new URL(base.origin + prefix + address.path);
}

/** A URL for messages: without query and fragment. */
export function shownUrl(url: URL): string {
  return url.origin + url.pathname;
}

/**
 * The ways to `url`, in the order they are tried: the next one only when the one before was refused.
 * - http on loopback: the name is replaced by the address, and the connection goes to it and nowhere else.
 * - https on loopback: bound to loopback, so that a hosts file cannot lead it away.
 * - another local host: direct.
 * - remote: through the user's proxy, else direct.
 */
export function routesTo(url: URL, endpoint: { local: boolean }, proxies: ProxySettings): Route[] {
  const host = url.hostname;
  const loopback = LOOPBACK[host];
  if (endpoint.local && loopback !== undefined) {
    return loopback.map((address) => {
      if (url.protocol === "https:") return { url, connection: { kind: "direct", host, localAddress: bare(address) } };
      const to = { hostname: bare(address), port: portOf(url) };
      return { url: at(url, address), connection: { kind: "loopback", address: to } };
    });
  }
  if (endpoint.local) return [{ url, connection: { kind: "direct", host } }];
  const proxy = proxyFor(url, proxies);
  if (proxy !== null) return [{ url, connection: { kind: "proxy", url: proxy } }];
  const anyProxy = proxies.http !== null || proxies.https !== null;
  return [{ url, connection: anyProxy ? { kind: "direct", host } : { kind: "plain" } }];
}

function at(url: URL, host: string): URL {
  if (url.hostname === host) return url;
  const literal = new URL(url);
  literal.hostname = host;
  return literal;
}

/** Hosts that are this machine, and the addresses they stand for. */
const LOOPBACK: Readonly<Record<string, readonly string[]>> = {
  "localhost": ["127.0.0.1", "[::1]"],
  "127.0.0.1": ["127.0.0.1"],
  "[::1]": ["[::1]"],
};

/** An address without the brackets of a URL. */
function bare(address: string): string {
  return address.replace(/^\[(.*)\]$/, "$1");
}

export interface ProxySettings {
  http: string | null;
  https: string | null;
  /** Lower case. */
  exceptions: string[];
}

/** Reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`; lower-case names win, as in curl. */
export function readProxySettings(env: (name: string) => string | undefined): ProxySettings {
  const value = (name: string) => env(name.toLowerCase()) || env(name) || "";
  const all = value("ALL_PROXY");
  return {
    http: proxyUrl(value("HTTP_PROXY") || all),
    https: proxyUrl(value("HTTPS_PROXY") || all),
    exceptions: value("NO_PROXY").toLowerCase().split(",").map((entry) => entry.trim()).filter((entry) => entry !== ""),
  };
}

function proxyUrl(text: string): string | null {
  if (text === "") return null;
  const url = text.includes("://") ? text : `http://${text}`;
  return URL.canParse(url) ? url : null;
}

/** The proxy a URL goes through; null for none. */
export function proxyFor(url: URL, settings: ProxySettings): string | null {
  const proxy = url.protocol === "https:" ? settings.https : settings.http;
  if (proxy === null) return null;
  return settings.exceptions.some((entry) => isException(url, entry)) ? null : proxy;
}

/** One entry of `NO_PROXY`: `*`, a host and all below it, an address, a v4 range, each with or without a port. */
function isException(url: URL, entry: string): boolean {
  if (entry === "*") return true;
  const host = url.hostname.toLowerCase();
  const [, name, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [null, entry, undefined];
  if (port !== undefined && Number(port) !== portOf(url)) return false;
  const wanted = (name ?? "").replace(/^\*?\./, "");
  if (wanted === "") return false;
  if (wanted.includes("/")) return isInRange(host, wanted);
  const isAddress = /^\[|^\d+(\.\d+){3}$/.test(host);
  return host === wanted || host === `[${wanted}]` || (!isAddress && host.endsWith(`.${wanted}`));
}

function isInRange(host: string, range: string): boolean {
  const [base = "", length = ""] = range.split("/");
  const bits = Number(length);
  const [a, b] = [addressNumber(host), addressNumber(base)];
  if (a === null || b === null || !Number.isInteger(bits) || bits < 0 || bits > 32) return false;
  return bits === 0 || a >>> (32 - bits) === b >>> (32 - bits);
}

function addressNumber(host: string): number | null {
  if (!/^\d+(\.\d+){3}$/.test(host)) return null;
  return host.split(".").reduce((sum, part) => ((sum << 8) | Number(part)) >>> 0, 0);
}

/**
 * The address that must speak TLS; null where it need not, or where a proxy leads there. What speaks plain HTTP may
 * wait for the end of a line that a TLS greeting does not have, and then waits as long as we do.
 */
export function securedAddress({ url, connection }: Route): SocketAddress | null {
  if (url.protocol !== "https:" || connection.kind === "loopback" || connection.kind === "proxy") return null;
  const hostname = (connection.kind === "direct" ? connection.localAddress : undefined) ?? bare(url.hostname);
  const port = portOf(url);
  return mayConnect(hostname, port) ? { hostname, port } : null;
}

/** The address to probe when it stays silent; null on loopback, where the wait for headers covers the connect. */
export function probedAddress({ url: target, connection }: Route): SocketAddress | null {
  if (connection.kind === "loopback" || (connection.kind === "direct" && connection.localAddress !== undefined)) {
    return null;
  }
  const url = connection.kind === "proxy" ? new URL(connection.url) : target;
  const hostname = bare(url.hostname);
  const port = /^https?:$/.test(url.protocol) ? portOf(url) : Number(url.port || 1080);
  return mayConnect(url.hostname, port) ? { hostname, port } : null;
}
