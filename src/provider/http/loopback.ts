/**
 * HTTP/1.1 with a server on this machine, over a connection of our own. It goes to a literal address: proxy variables,
 * hosts files and resolvers have no say, and nothing follows a redirect. It is also fast: the first
 * `fetch` of a process costs 4 ms, which is a third of a start (docs/performance.md).
 */
import { openSocket, type Socket, type SocketAddress } from "../../platform/http_client.ts";
import { type BodyDecoder, bodyDecoder, BUFFER_SIZE, type ByteSource, type RawResponse, unpacked } from "./body.ts";
import {
  HEAD_LIMIT,
  headEnd,
  NoHttp,
  readHead,
  type ReceivedHeaders,
  requestHead,
  type ResponseHead,
} from "./headers.ts";

/** A request; names and values of its headers must have been checked. */
export interface LoopbackRequest {
  method: "GET" | "POST";
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** Sent one after the other; they must stay as they are until the request is over. */
  body: readonly Uint8Array[] | null;
  /** Called when the first bytes were handed to the system. */
  onSent?: (() => void) | undefined;
}

/** Bytes that are sent at a time. */
const WRITE_SIZE = 64 * 1024;

/** Formats that are decompressed. None is requested, but some proxies in front of a server compress anyway. */
const PACKED: Readonly<Record<string, CompressionFormat>> = { gzip: "gzip", "x-gzip": "gzip", deflate: "deflate" };

/**
 * Sends a request and reads the head of its response. An abort closes the connection, also while the body is read.
 * Rejects with the runtime's errors, {@link NoHttp}, or an error that says that the connection ended.
 */
export async function exchange(
  address: SocketAddress,
  request: LoopbackRequest,
  signals: readonly AbortSignal[],
): Promise<RawResponse & { body: ByteSource }> {
  const connecting = new AbortController();
  let socket: Socket | null = null;
  const stop = () => {
    connecting.abort();
    socket?.close();
  };
  const close = () => {
    for (const signal of signals) signal.removeEventListener("abort", stop);
    socket?.close();
  };
  for (const signal of signals) signal.addEventListener("abort", stop, { once: true });
  try {
    for (const signal of signals) signal.throwIfAborted();
    socket = await openSocket(address, connecting.signal);
    for (const signal of signals) signal.throwIfAborted();
    // A server may answer before it has read everything, and refuse the rest: what counts is its answer.
    send(socket, request).catch(() => {});
    request.onSent?.();
    const { head, rest, buffer } = await readResponseHead(socket);
    const body = bodySource(socket, { decoder: bodyDecoder(head.length), rest, buffer, close });
    return { status: head.status, headers: head.headers, body: plain(body, head.headers) };
  } catch (error) {
    close();
    throw error;
  }
}

function plain(body: ByteSource, headers: ReceivedHeaders): ByteSource {
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding === "identity" || coding === "") return body;
  const format = PACKED[coding];
  if (format === undefined) throw new Error("unknown content coding");
  return unpacked(body, format);
}

/** Sends a request: small pieces together, and nothing of a large one is copied. */
async function send(socket: Socket, request: LoopbackRequest): Promise<void> {
  const { body } = request;
  const size = body?.reduce((sum, piece) => sum + piece.length, 0) ?? null;
  const buffer = new Uint8Array(WRITE_SIZE);
  let filled = 0;
  for (const piece of [latin1Bytes(requestHead(request, size)), ...body ?? []]) {
    if (filled + piece.length > WRITE_SIZE) {
      await socket.write(buffer.subarray(0, filled));
      filled = 0;
    }
    if (piece.length > WRITE_SIZE) await socket.write(piece);
    else {
      buffer.set(piece, filled);
      filled += piece.length;
    }
  }
  await socket.write(buffer.subarray(0, filled));
}

/** One byte a character, as headers are read; `fetch` writes them the same way. */
function latin1Bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** Reads up to the body; `rest` is the part of it that came along. Interim responses are skipped. */
async function readResponseHead(
  socket: Socket,
): Promise<{ head: ResponseHead; rest: Uint8Array; buffer: Uint8Array }> {
  const buffer = new Uint8Array(Math.max(BUFFER_SIZE, HEAD_LIMIT));
  let filled = 0;
  for (;;) {
    for (let end = headEnd(buffer.subarray(0, filled)); end >= 0; end = headEnd(buffer.subarray(0, filled))) {
      const head = readHead(buffer.subarray(0, end));
      if (head.status >= 200) return { head, rest: buffer.subarray(end, filled), buffer };
      if (head.status === 101) throw new NoHttp("status");
      buffer.copyWithin(0, end, filled);
      filled -= end;
    }
    if (filled > 0 && !startsAsHttp(buffer.subarray(0, filled))) throw new NoHttp("version");
    if (filled === buffer.length) throw new NoHttp("header");
    const count = await socket.read(buffer.subarray(filled));
    if (count === null) throw new Error("connection closed before message completed");
    filled += count;
  }
}

/** Checks the first bytes: another protocol may never send a line. */
function startsAsHttp(bytes: Uint8Array): boolean {
  return [..."HTTP/1."].every((letter, at) => at >= bytes.length || bytes[at] === letter.charCodeAt(0));
}

function bodySource(
  socket: Socket,
  { decoder, buffer, close, ...given }: {
    decoder: BodyDecoder;
    rest: Uint8Array;
    buffer: Uint8Array;
    close: () => void;
  },
): ByteSource {
  let rest: Uint8Array | null = given.rest;
  let closed = false;
  const end = () => {
    closed = true;
    close();
  };
  if (decoder.done) end();
  return {
    async read() {
      try {
        while (!closed) {
          const count = rest === null ? await socket.read(buffer) : null;
          const bytes = count === null ? rest : buffer.subarray(0, count);
          rest = null;
          if (bytes === null) decoder.end();
          const taken = bytes === null ? 0 : decoder.take(bytes);
          if (bytes === null || decoder.done) end();
          if (bytes !== null && taken > 0) return bytes.subarray(0, taken);
        }
        return null;
      } catch (error) {
        if (closed) return null;
        end();
        throw error;
      }
    },
    cancel() {
      end();
      return Promise.resolve();
    },
  };
}
