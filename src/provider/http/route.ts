/** Where a request goes and over which kind of connection. Source: specification of the no-cloud boundary, "Local". */
import { AgentcliError } from "../../errors.ts";
import type { Connection, SocketAddress } from "../../platform/http_client.ts";
import { effectivePort, proxyFor, type ProxySettings } from "./proxy.ts";
import type { Endpoint } from "../types.ts";

/**
 * One way to reach a server: the URL as it is asked for, and the connection for it. `loopback` is a connection of our
 * own to an address of this machine, in clear.
 */
export interface Route {
  url: URL;
  connection: Connection | { kind: "loopback"; address: SocketAddress };
}

/** What of a request decides where it goes. */
export interface Address {
  path: string;
  atOrigin?: boolean;
}

/** The URL of a request as configured. A base URL that is none, or holds a user name, is `config_invalid`. */
export function urlOf(endpoint: Endpoint, address: Address): URL {
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
      const port = Number(effectivePort(url));
      return { url: at(url, address), connection: { kind: "loopback", address: { hostname: bare(address), port } } };
    });
  }
  if (endpoint.local) return [{ url, connection: { kind: "direct", host } }];
  const proxy = proxyFor(url, proxies);
  if (proxy !== null) return [{ url, connection: { kind: "proxy", url: proxy } }];
  const anyProxy = proxies.http !== null || proxies.https !== null;
  return [{ url, connection: anyProxy ? { kind: "direct", host } : { kind: "plain" } }];
}

/** `url` with this host in place of its own. */
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
export function bare(address: string): string {
  return address.replace(/^\[(.*)\]$/, "$1");
}
