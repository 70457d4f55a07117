import assert from "node:assert/strict";
import { manualClock } from "../../../tests/helpers/manual_clock.ts";
import { HttpClient } from "./client.ts";
import { ProviderFailure } from "../failure.ts";
import type { Endpoint } from "../types.ts";

const FIXTURES = new URL("../../../tests/fixtures/tls/", import.meta.url);

function clientTo(port: number, more: Partial<Endpoint> = {}) {
  const clock = manualClock();
  const client: HttpClient = new HttpClient({ env: () => undefined, clock });
  const endpoint: Endpoint = {
    provider: "p",
    baseUrl: `https://127.0.0.1:${port}/v1`,
    keySource: "none",
    headers: {},
    caCerts: [],
    timeout: { connect: 10, firstByte: 600, idle: 300 },
    local: true,
    ...more,
  };
  return {
    clock,
    ask: () => client.send(endpoint, { method: "GET", path: "/models" }),
    [Symbol.dispose]: () => client.close(),
  };
}

/** Takes connections and never answers; `count` resolves with the connection of that number. */
function silentServer() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections: Deno.Conn[] = [];
  let changed = Promise.withResolvers<void>();
  const accepting = (async () => {
    for await (const connection of listener) {
      connections.push(connection);
      changed.resolve();
      changed = Promise.withResolvers();
    }
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    async count(wanted: number) {
      while (connections.length < wanted) await changed.promise;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      for (const connection of connections) connection.close();
    },
  };
}

Deno.test("https to a port that speaks plain HTTP and waits for more is reported within ten seconds", async () => {
  for (const local of [true, false]) {
    await using server = silentServer();
    using client = clientTo(server.port, { local });
    const asking = client.ask().catch((error) => error);
    await client.clock.sleeping(500);
    await server.count(1);
    await client.clock.advance(500);
    await client.clock.sleeping(2500);
    await server.count(2);
    await client.clock.advance(2500);
    const failure = await asking;
    assert(failure instanceof ProviderFailure, String(failure));
    assert.equal(failure.code, "provider_unreachable");
    assert.match(failure.message, /at https:\/\/127\.0\.0\.1:\d+\/v1\/models: the server does not speak TLS$/);
    assert.match(failure.hint ?? "", /http:\/\//);
  }
});

Deno.test("a server that speaks TLS and takes its time is waited for, whoever signed its certificate", async () => {
  const cert = await Deno.readTextFile(new URL("certificate.pem", FIXTURES));
  const key = await Deno.readTextFile(new URL("key.pem", FIXTURES));
  const gate = Promise.withResolvers<void>();
  const greeted = Promise.withResolvers<void>();
  using listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key });
  let connections = 0;
  const serve = async (connection: Deno.TlsConn, number: number) => {
    await connection.read(new Uint8Array(4096)).catch(() => null);
    if (number > 1) {
      // The greeting was all: it has been closed, and the client knows.
      greeted.resolve();
    } else {
      await gate.promise;
      await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"));
    }
    connection.close();
  };
  const serving = (async () => {
    for await (const connection of listener) void serve(connection, ++connections);
  })();
  using client = clientTo(listener.addr.port, { caCerts: [cert] });
  const asking = client.ask();
  await client.clock.sleeping(500);
  await client.clock.advance(500);
  await greeted.promise;
  await client.clock.advance(60_000);
  gate.resolve();
  const response = await asking;
  assert.equal(await response.text(100), "hi");
  listener.close();
  await serving;
});
