/**
 * A listener that plays everything nobody should talk to: it records every connection and every byte, and answers
 * nothing.
 */
import { joined } from "../../src/platform/text.ts";

/** The recorder; `await using` closes it. */
export interface Sink extends AsyncDisposable {
  /** `127.0.0.2:<port>` */
  address: string;
  port: number;
  connectionCount(): number;
  received(): Uint8Array<ArrayBuffer>;
}

/** Starts one on a free port of 127.0.0.2. */
export function startSink(): Sink {
  const listener = Deno.listen({ hostname: "127.0.0.2", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const pieces: Uint8Array[] = [];
  const sockets = new Set<Deno.TcpConn>();
  let count = 0;
  const record = async (socket: Deno.TcpConn) => {
    const space = new Uint8Array(65536);
    try {
      for (let length = await socket.read(space); length !== null; length = await socket.read(space)) {
        pieces.push(space.slice(0, length));
      }
    } catch {
      // A reset connection has said all it will say.
    }
    if (sockets.delete(socket)) socket.close();
  };
  const recording: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const socket of listener) {
      count += 1;
      sockets.add(socket);
      recording.push(record(socket));
    }
  })().catch(() => {});
  return {
    address: `127.0.0.2:${port}`,
    port,
    connectionCount: () => count,
    received: () => joined(pieces),
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const socket of sockets) {
        sockets.delete(socket);
        socket.close();
      }
      await accepting;
      await Promise.all(recording);
    },
  };
}
