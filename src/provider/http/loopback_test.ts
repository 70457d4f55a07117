import assert from "node:assert/strict";
import { exchange, type LoopbackRequest } from "./loopback.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A listener that hands its first connection to `serve`. */
function serving(serve: (socket: Deno.TcpConn) => Promise<void>) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const served = (async () => {
    using socket = await listener.accept();
    await serve(socket);
  })();
  return {
    address: { hostname: "127.0.0.1", port },
    async [Symbol.asyncDispose]() {
      await served;
      listener.close();
    },
  };
}

/** Answers with these pieces once the request's head is there. */
function answering(...pieces: string[]) {
  return serving(async (socket) => {
    await readRequest(socket);
    for (const piece of pieces) await socket.write(encoder.encode(piece));
  });
}

async function readRequest(socket: Deno.TcpConn): Promise<string> {
  let text = "";
  const space = new Uint8Array(4096);
  while (!text.includes("\r\n\r\n")) {
    const count = await socket.read(space);
    if (count === null) break;
    text += decoder.decode(space.subarray(0, count));
  }
  return text;
}

function request(more: Partial<LoopbackRequest> = {}): LoopbackRequest {
  return {
    method: "POST",
    url: new URL("http://127.0.0.1:1/v1/x"),
    headers: {},
    body: [encoder.encode("{}")],
    ...more,
  };
}

async function bodyText(body: { read(): Promise<Uint8Array | null> }): Promise<string> {
  let text = "";
  for (let bytes = await body.read(); bytes !== null; bytes = await body.read()) text += decoder.decode(bytes);
  return text;
}

const BODIES: Readonly<Record<string, string[]>> = {
  "a counted body": ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"],
  "a body in chunks": ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n", "3\r\nllo\r\n0\r\n\r\n"],
  "a body as long as the connection": ["HTTP/1.0 200 OK\r\n\r\nhel", "lo"],
  "an announcement before the response": [
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\na: b\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
  ],
  "lines that end in a line feed alone": ["HTTP/1.1 200 OK\ncontent-length: 5\n\nhello"],
  "a head in single bytes": [..."HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"],
  "more than was announced": ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello, and more"],
};

for (const [what, pieces] of Object.entries(BODIES)) {
  Deno.test(`${what} is read`, async () => {
    await using server = answering(...pieces);
    const response = await exchange(server.address, request(), []);
    assert.deepEqual([response.status, await bodyText(response.body)], [200, "hello"]);
    assert.equal(await response.body.read(), null);
  });
}

const BROKEN: Readonly<Record<string, [string[], RegExp]>> = {
  "a connection that ends before the head does": [["HTTP/1.1 200 OK\r\n"], /before message completed/],
  "a connection that ends at once": [[], /before message completed/],
  "a greeting of another protocol": [["SSH-2.0-CANARY\r\n"], /invalid HTTP version/],
  "a head without end": [[`HTTP/1.1 200 OK\r\nCANARY: ${"x".repeat(70_000)}`], /invalid HTTP header/],
  "a change of protocol": [["HTTP/1.1 101 Switching\r\nupgrade: CANARY\r\n\r\n"], /invalid HTTP status/],
};

for (const [what, [pieces, message]] of Object.entries(BROKEN)) {
  Deno.test(`${what} is an error that repeats nothing`, async () => {
    await using server = serving(async (socket) => {
      await readRequest(socket);
      // The other side may have seen enough before all is written.
      for (const piece of pieces) await socket.write(encoder.encode(piece)).catch(() => {});
    });
    await assert.rejects(exchange(server.address, request(), []), (error) => {
      assert(error instanceof Error);
      assert.match(error.message, message);
      assert.doesNotMatch(`${error.stack}`, /CANARY/);
      return true;
    });
  });
}

Deno.test("a body that ends early is an error, after what came of it", async () => {
  await using server = answering("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhello");
  const { body } = await exchange(server.address, request(), []);
  assert.equal(decoder.decode(await body.read() ?? undefined), "hello");
  await assert.rejects(body.read(), /unexpected end/);
  assert.equal(await body.read(), null);
});

Deno.test("an answer that comes before the request was taken is the answer", async () => {
  await using server = serving(async (socket) => {
    await socket.write(encoder.encode("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno"));
    await socket.closeWrite();
    // Taken after all, so that the answer is not lost with the connection.
    for (const space = new Uint8Array(65536); await socket.read(space) !== null;);
  });
  const response = await exchange(server.address, request({ body: [new Uint8Array(8_000_000)] }), []);
  assert.deepEqual([response.status, await bodyText(response.body)], [413, "no"]);
});

Deno.test("a large body arrives whole, with its length in bytes", async () => {
  const seen = Promise.withResolvers<string>();
  const body = "\u00e4".repeat(500_000);
  await using server = serving(async (socket) => {
    let text = "";
    const incremental = new TextDecoder();
    for (const space = new Uint8Array(65536); !text.endsWith("\u00e4}");) {
      const count = await socket.read(space);
      if (count === null) break;
      text += incremental.decode(space.subarray(0, count), { stream: true });
    }
    seen.resolve(text);
    await socket.write(encoder.encode("HTTP/1.1 204 No Content\r\n\r\n"));
  });
  const response = await exchange(server.address, request({ body: [encoder.encode(body), encoder.encode("}")] }), []);
  assert.equal(await bodyText(response.body), "");
  const [head = "", sent = ""] = (await seen.promise).split("\r\n\r\n");
  assert.match(head, /content-length: 1000001$/m);
  assert.equal(sent, `${body}}`);
});

Deno.test("an abort closes the connection, before the response and while it is read", async () => {
  for (const pieces of [[], ["HTTP/1.1 200 OK\r\n\r\nhel"]]) {
    const left = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    await using server = serving(async (socket) => {
      await readRequest(socket);
      for (const piece of pieces) await socket.write(encoder.encode(piece));
      asked.resolve();
      // Gone means the end of the stream or a reset.
      await socket.read(new Uint8Array(1)).catch(() => {});
      left.resolve();
    });
    const controller = new AbortController();
    const work = (async () => bodyText((await exchange(server.address, request(), [controller.signal])).body))();
    const ended = work.catch(() => "failed");
    await asked.promise;
    controller.abort();
    await left.promise;
    assert.notEqual(await ended, "hello");
  }
});

Deno.test("an abort ends the wait for a server that takes no connections", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 0 });
  const { hostname, port } = listener.addr;
  const aborting = new AbortController();
  // The queue of the system holds one or two; whoever comes then waits.
  const full = await Promise.allSettled(
    Array.from({ length: 4 }, () => Deno.connect({ hostname, port, signal: AbortSignal.timeout(200) })),
  );
  const work = exchange({ hostname, port }, request(), [aborting.signal]);
  aborting.abort();
  await assert.rejects(work);
  assert(full.some(({ status }) => status === "rejected"), "control: the queue is full");
  for (const result of full) if (result.status === "fulfilled") result.value.close();
});

Deno.test("letters of a header beyond ASCII are one byte each", async () => {
  const seen = Promise.withResolvers<Uint8Array>();
  await using server = serving(async (socket) => {
    const space = new Uint8Array(4096);
    const count = await socket.read(space) ?? 0;
    seen.resolve(space.slice(0, count));
    await socket.write(encoder.encode("HTTP/1.1 204 No Content\r\n\r\n"));
  });
  await exchange(server.address, request({ headers: { "x-team": "\u00fc" } }), []);
  assert.match(String.fromCharCode(...await seen.promise), /x-team: \u00fc\r\n/);
});

Deno.test("an answer that is packed in an unknown way is an error", async () => {
  await using server = answering("HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 2\r\n\r\nxx");
  await assert.rejects(exchange(server.address, request(), []), /unknown content coding/);
});

Deno.test("canceling lets go of the connection and ends what waits for it", async () => {
  await using server = answering("HTTP/1.1 200 OK\r\n\r\nhel");
  const { body } = await exchange(server.address, request(), []);
  await body.read();
  const waiting = body.read();
  await body.cancel();
  assert.equal(await waiting, null);
  await body.cancel();
});
