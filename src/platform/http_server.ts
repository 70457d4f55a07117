/** A web server for programs of this machine alone: the one user of `Deno.serve`. */

interface LoopbackServer {
  port: number;
  /** Stops listening and ends the connections that are still open. */
  close(): Promise<void>;
}

/**
 * Answers HTTP requests on a port of 127.0.0.1, by default one that is free; throws the system's error for one that is
 * not. `answer` gets a request whose signal is aborted when the client leaves. What it throws becomes a reply with
 * status 500 and no text.
 */
export function serveLoopback(
  answer: (request: Request) => Response | Promise<Response>,
  { port = 0 }: { port?: number } = {},
): LoopbackServer {
  const ending = new AbortController();
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port,
    signal: ending.signal,
    // The default listener prints the address to standard output, which belongs to results.
    onListen: () => {},
    onError: () => new Response(null, { status: 500 }),
  }, (request) => answer(request));
  return {
    port: server.addr.port,
    async close() {
      ending.abort();
      await server.finished;
    },
  };
}
