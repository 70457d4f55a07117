/** Connections that ignore the environment, and a probe for a silent address. */

/** A client for `fetch`'s `client` option; its owner closes it. */
export type FetchClient = Deno.HttpClient;

/**
 * How a connection is made.
 * - `direct`: to the URL's host, never through a proxy; `localAddress` binds the near end (a loopback one reaches
 *   nothing but loopback).
 * - `proxy`: through this proxy.
 * - `plain`: as the runtime does it by itself.
 */
export type Connection =
  /** `host` as in a URL. */
  | { kind: "direct"; host: string; localAddress?: string }
  | { kind: "proxy"; url: string }
  | { kind: "plain" };

/** Thrown when the process may not do what a connection needs; `flag` is the permission that is missing. */
export class ConnectionForbidden extends Error {
  override readonly name = "ConnectionForbidden";
  constructor(readonly flag: string) {
    super(`${flag} is not granted`);
  }
}

/**
 * Makes a client. Measured with Deno 2.9.6: proxy variables apply to loopback URLs too, a client reads them when it is
 * made, and only `NO_PROXY` with the exact host (a v6 one without brackets) keeps it direct. Throws
 * {@link ConnectionForbidden} when `direct` needs that variable and may not set it.
 */
export function openClient(connection: Connection, caCerts: readonly string[]): FetchClient {
  const options: Deno.CreateHttpClientOptions = caCerts.length > 0 ? { caCerts: [...caCerts] } : {};
  switch (connection.kind) {
    case "direct":
      if (connection.localAddress !== undefined) options.localAddress = connection.localAddress;
      return withoutProxy(connection.host, () => Deno.createHttpClient(options));
    case "proxy":
      return Deno.createHttpClient({
        ...options,
        proxy: { transport: transportOf(connection.url), url: connection.url },
      });
    case "plain":
      return Deno.createHttpClient(options);
  }
}

function transportOf(url: string): "http" | "https" | "socks5" {
  if (url.startsWith("socks5")) return "socks5";
  return url.startsWith("https:") ? "https" : "http";
}

/** Runs `make` with `NO_PROXY` naming `host`, and puts the variable back before anything else can see it. */
function withoutProxy<T>(host: string, make: () => T): T {
  // Asked first: setting a variable that is not granted would stop and ask on a terminal.
  const { state } = Deno.permissions.querySync({ name: "env", variable: "NO_PROXY" });
  if (state !== "granted") throw new ConnectionForbidden("--allow-env=NO_PROXY");
  const before = Deno.env.get("NO_PROXY");
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  Deno.env.set("NO_PROXY", before ? `${before},${bare}` : bare);
  try {
    return make();
  } finally {
    if (before === undefined) Deno.env.delete("NO_PROXY");
    else Deno.env.set("NO_PROXY", before);
  }
}

/** Returns whether the process may connect to `host:port` without being asked about it. */
export function mayConnect(host: string, port: number): boolean {
  return Deno.permissions.querySync({ name: "net", host: `${host}:${port}` }).state === "granted";
}

/** A plain TCP connection. */
export interface Socket {
  /** Fills the front of `buffer` and returns the number of bytes, null at the end. One call at a time. */
  read(buffer: Uint8Array): Promise<number | null>;
  /** Resolves when the system took all of it. */
  write(bytes: Uint8Array): Promise<void>;
  /** Pending requests fail. May be called again. */
  close(): void;
}

/** Where a socket leads: an address (v6 without brackets), or a name that the system resolves. */
export interface SocketAddress {
  hostname: string;
  port: number;
}

/**
 * Connects. Proxies have no part in it. Rejects with the runtime's errors, and with the signal's reason: a server that
 * is stopped takes no connections, and the system waits minutes for it.
 */
export async function openSocket(address: SocketAddress, signal: AbortSignal): Promise<Socket> {
  const connection = await Deno.connect({ ...address, transport: "tcp", signal });
  // The last piece of a large request would wait until the one before it is confirmed.
  connection.setNoDelay();
  let open = true;
  return {
    read: (buffer) => connection.read(buffer),
    async write(bytes) {
      for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
    },
    close() {
      if (open) connection.close();
      open = false;
    },
  };
}

/**
 * Returns whether something answers a greeting of TLS there, found with a connection that is closed at once; whom its
 * certificate names, and who signed it, does not matter. Rejects with the signal's reason; every other failure is
 * `false`.
 */
export async function speaksTls(address: SocketAddress, signal: AbortSignal): Promise<boolean> {
  let connection: Deno.Conn | null = null;
  const close = () => connection?.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    connection = await Deno.connect({ ...address, transport: "tcp", signal });
    const secured = await Deno.startTls(connection as Deno.TcpConn, { hostname: address.hostname });
    connection = secured;
    await secured.handshake();
    return true;
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error && /certificate|UnknownIssuer|NotValidForName/i.test(error.message);
  } finally {
    signal.removeEventListener("abort", close);
    if (!signal.aborted) close();
  }
}

/**
 * Returns whether something takes connections there, found with a connection that is closed at once. Rejects with the
 * signal's reason; every other failure is `false`.
 */
export async function takesConnections(
  address: SocketAddress,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const connection = await Deno.connect({ ...address, transport: "tcp", signal });
    connection.close();
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
