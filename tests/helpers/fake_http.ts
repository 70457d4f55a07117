/**
 * A small HTTP/1.1 server over raw sockets for tests: it counts connections, keeps every byte it was sent, and lets a
 * test answer with bytes that no HTTP library would write.
 */
import { joined } from "../../src/platform/text.ts";

/** A request as it came over the wire. */
export interface WireRequest {
  method: string;
  path: string;
  headers: Headers;
  body: Uint8Array;
}

/** The way back to one client. A write after the client left resolves once {@link gone} has. */
export interface Reply {
  /** Bytes as they are. */
  raw(bytes: string | Uint8Array): Promise<void>;
  /** Status line and headers of a chunked reply. */
  head(status: number, headers: Record<string, string>): Promise<void>;
  /** One chunk of a chunked reply: one write to the socket. */
  chunk(text: string): Promise<void>;
  /** The end of a chunked reply. */
  end(): Promise<void>;
  /** A whole reply with its length. */
  whole(status: number, headers: Record<string, string>, body: string | Uint8Array): Promise<void>;
  /** Ends the connection at once. */
  cut(): void;
  /** Resolves when the client has gone away or the server closes. */
  readonly gone: Promise<void>;
}

/** What the server saw of one connection. */
export interface WireConnection {
  remotePort: number;
  /** Every byte the client sent. */
  received(): Uint8Array;
}

/** A listening server. */
export interface FakeHttp {
  port: number;
  connections: WireConnection[];
  close(): Promise<void>;
}

const encoder = new TextEncoder();

/** Bytes of one connection, read ahead so that its end is noticed while a reply is being written. */
class Incoming {
  readonly all: Uint8Array[] = [];
  #pending = new Uint8Array(0);
  #ended = false;
  #waiting: (() => void) | null = null;

  constructor(readonly socket: Deno.TcpConn, ended: () => void) {
    this.#pump().finally(ended);
  }

  async #pump(): Promise<void> {
    const space = new Uint8Array(65536);
    try {
      for (;;) {
        const count = await this.socket.read(space);
        if (count === null) break;
        const bytes = space.slice(0, count);
        this.all.push(bytes);
        this.#pending = joined([this.#pending, bytes]);
        this.#wake();
      }
    } catch {
      // A reset connection is a gone client.
    }
    this.#ended = true;
    this.#wake();
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = null;
  }

  /** Bytes up to and including `mark`; null at the end. */
  async until(mark: string): Promise<Uint8Array | null> {
    for (;;) {
      const text = new TextDecoder("latin1").decode(this.#pending);
      const at = text.indexOf(mark);
      if (at >= 0) return this.#cut(at + mark.length);
      if (!await this.#more()) return null;
    }
  }

  /** Exactly `count` bytes; null at the end. */
  async exactly(count: number): Promise<Uint8Array | null> {
    while (this.#pending.length < count) {
      if (!await this.#more()) return null;
    }
    return this.#cut(count);
  }

  #cut(length: number): Uint8Array {
    const head = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    return head;
  }

  async #more(): Promise<boolean> {
    if (this.#ended) return false;
    await new Promise<void>((resolve) => this.#waiting = resolve);
    return true;
  }
}

async function readBody(incoming: Incoming, headers: Headers): Promise<Uint8Array | null> {
  if (!/chunked/i.test(headers.get("transfer-encoding") ?? "")) {
    return await incoming.exactly(Number(headers.get("content-length") ?? 0));
  }
  const chunks: Uint8Array[] = [];
  for (;;) {
    const line = await incoming.until("\r\n");
    if (line === null) return null;
    const size = Number.parseInt(new TextDecoder().decode(line), 16);
    const chunk = await incoming.exactly(size + 2);
    if (chunk === null) return null;
    if (size === 0) return joined(chunks);
    chunks.push(chunk.slice(0, size));
  }
}

async function readRequest(incoming: Incoming): Promise<WireRequest | null> {
  const head = await incoming.until("\r\n\r\n");
  if (head === null) return null;
  const [first = "", ...lines] = new TextDecoder().decode(head).trimEnd().split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const body = await readBody(incoming, headers);
  return body && { method, path, headers, body };
}

function headText(status: number, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`;
}

function replyTo(socket: Deno.TcpConn, gone: Promise<void>): Reply {
  const raw = async (content: string | Uint8Array) => {
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    try {
      for (let at = 0; at < bytes.length;) at += await socket.write(bytes.subarray(at));
    } catch {
      // The client is free to leave; what it did is asserted elsewhere. Whoever writes until it is gone must not write
      // on before that is seen: writes that fail at once leave the runtime no turn to see it in.
      await gone;
    }
  };
  return {
    gone,
    raw,
    head: (status, headers) => raw(headText(status, { ...headers, "transfer-encoding": "chunked" })),
    chunk: (text) => {
      const length = encoder.encode(text).length;
      return length === 0 ? Promise.resolve() : raw(`${length.toString(16)}\r\n${text}\r\n`);
    },
    end: () => raw("0\r\n\r\n"),
    whole: (status, headers, content) => {
      const bytes = typeof content === "string" ? encoder.encode(content) : content;
      const head = encoder.encode(headText(status, { ...headers, "content-length": String(bytes.length) }));
      return raw(joined([head, bytes]));
    },
    cut: () => closeQuietly(socket),
  };
}

function closeQuietly(socket: { close(): void }): void {
  try {
    socket.close();
  } catch {
    // Closed already.
  }
}

/**
 * Listens on `host` (`127.0.0.1`, `127.0.0.2`, `::1`), on a free port by default, and hands each request to `answer`.
 */
export function listenHttp(
  host: string,
  answer: (request: WireRequest, reply: Reply, connection: WireConnection) => Promise<void>,
  { port = 0 }: { port?: number } = {},
): FakeHttp {
  const listener = Deno.listen({ hostname: host, port });
  const sockets = new Set<Deno.TcpConn>();
  const connections: WireConnection[] = [];
  const serving: Promise<void>[] = [];

  const serve = async (socket: Deno.TcpConn) => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const incoming = new Incoming(socket, resolve);
    const remote = socket.remoteAddr as Deno.NetAddr;
    const connection = { remotePort: remote.port, received: () => joined(incoming.all) };
    connections.push(connection);
    for (;;) {
      const request = await readRequest(incoming);
      if (request === null) break;
      await answer(request, replyTo(socket, gone), connection);
    }
    sockets.delete(socket);
    closeQuietly(socket);
  };
  const accepting = (async () => {
    for await (const socket of listener) {
      sockets.add(socket);
      // Small writes would wait for the client to acknowledge the one before: 40 ms a reply.
      socket.setNoDelay(true);
      serving.push(serve(socket));
    }
  })().catch(() => {});

  return {
    port: (listener.addr as Deno.NetAddr).port,
    connections,
    async close() {
      listener.close();
      for (const socket of sockets) closeQuietly(socket);
      await accepting;
      await Promise.all(serving);
    },
  };
}
