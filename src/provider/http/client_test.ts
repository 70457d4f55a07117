import { joined } from "../../platform/text.ts";
import assert from "node:assert/strict";
import { listenHttp } from "../../../tests/helpers/fake_http.ts";
import { manualClock } from "../../../tests/helpers/manual_clock.ts";
import { AgentcliError } from "../../errors.ts";
import { HttpClient, type HttpRequest } from "./client.ts";
import type { Endpoint } from "../types.ts";

const models: HttpRequest = { method: "GET", path: "/models" };

function endpointAt(baseUrl: string, more: Partial<Endpoint> = {}): Endpoint {
  return {
    provider: "p",
    baseUrl,
    keySource: "literal",
    headers: {},
    caCerts: [],
    timeout: { connect: 10, firstByte: 600, idle: 300 },
    local: true,
    ...more,
  };
}

/** A client whose environment is `variables` alone, closed at the end of the test. */
function clientWith(
  variables: Record<string, string> = {},
): HttpClient & Disposable & { clock: ReturnType<typeof manualClock> } {
  const clock = manualClock();
  const client = new HttpClient({ env: (name) => variables[name], clock });
  return Object.assign(client, { clock, [Symbol.dispose]: () => client.close() });
}

/** A server that answers every request with its name. */
function named(host: string, name: string) {
  const seen: { path: string; headers: Headers }[] = [];
  const server = listenHttp(host, async ({ path, headers }, reply) => {
    seen.push({ path, headers });
    await reply.whole(200, { "content-type": "text/plain" }, name);
  });
  return Object.assign(server, { seen, [Symbol.asyncDispose]: () => server.close() });
}

async function failureOf(work: Promise<unknown>): Promise<AgentcliError> {
  try {
    await work;
  } catch (error) {
    assert(error instanceof AgentcliError, String(error));
    return error;
  }
  assert.fail("it did not fail");
}

Deno.test("local servers are reached directly, whatever the proxy variables of the process say", async () => {
  await using loopback = named("127.0.0.1", "loopback");
  await using optedIn = named("127.0.0.2", "opted in");
  await using recorder = named("127.0.0.2", "recorder");
  const proxy = `127.0.0.2:${recorder.port}`;
  const program = `
    import { HttpClient } from ${JSON.stringify(import.meta.resolve("./client.ts"))};
    const clock = { now: Date.now, monotonic: Date.now, sleep: (ms, signal) => new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms); signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); });
    }) };
    await fetch("http://127.0.0.2:${recorder.port}/control").then((response) => response.text());
    const client = new HttpClient({ env: (name) => Deno.env.get(name), clock });
    for (const host of ["localhost:${loopback.port}", "127.0.0.1:${loopback.port}", "127.0.0.2:${optedIn.port}"]) {
      const endpoint = { provider: "p", baseUrl: "http://" + host + "/v1", keySource: "none", headers: {}, caCerts: [],
        timeout: { connect: 10, firstByte: 60, idle: 60 }, local: true };
      const response = await client.send(endpoint, { method: "GET", path: "/models" });
      console.log(await response.text(100));
    }
    client.close();`;
  for (const exceptions of [undefined, "*", "localhost"]) {
    const before = recorder.seen.length;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-config", "--ext=ts", "--no-check", "-"],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      env: {
        HTTP_PROXY: `http://${proxy}`,
        http_proxy: `http://${proxy}`,
        HTTPS_PROXY: `http://${proxy}`,
        ALL_PROXY: `http://${proxy}`,
        NO_PROXY: exceptions ?? "",
        DENO_NO_UPDATE_CHECK: "1",
      },
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(program));
    await writer.close();
    const { stdout, stderr } = await child.output();
    const text = new TextDecoder().decode(stdout);
    assert.equal(text, "loopback\nloopback\nopted in\n", new TextDecoder().decode(stderr));
    // The control request of the program itself shows that the variables were in force.
    const paths = recorder.seen.slice(before).map((request) => request.path);
    assert.deepEqual(paths, [`http://127.0.0.2:${recorder.port}/control`]);
  }
});

Deno.test("a remote server is reached through the user's proxy", async () => {
  await using proxy = named("127.0.0.2", "through the proxy");
  using client = clientWith({ HTTP_PROXY: `http://127.0.0.2:${proxy.port}` });
  const response = await client.send(endpointAt("http://remote.invalid/v1", { local: false }), models);
  assert.equal(await response.text(100), "through the proxy");
  assert.equal(proxy.seen[0]?.path, "http://remote.invalid/v1/models");
});

Deno.test("a remote server on the list of exceptions is reached directly", async () => {
  await using server = named("127.0.0.2", "direct");
  await using proxy = named("127.0.0.2", "proxy");
  using client = clientWith({ HTTP_PROXY: `http://127.0.0.2:${proxy.port}`, no_proxy: "127.0.0.0/8" });
  const response = await client.send(endpointAt(`http://127.0.0.2:${server.port}/v1`, { local: false }), models);
  assert.equal(await response.text(100), "direct");
  assert.equal(proxy.connections.length, 0);
});

for (const status of [300, 301, 302, 303, 305, 307, 308]) {
  Deno.test(`redirect ${status} is an error, and where it leads nothing arrives`, async () => {
    await using target = named("127.0.0.2", "target");
    await using server = Object.assign(
      listenHttp("127.0.0.1", async (_request, reply) => {
        await reply.whole(status, { location: `http://127.0.0.2:${target.port}/CANARY/chat?CANARY=1` }, "");
      }),
      { [Symbol.asyncDispose]: () => server.close() },
    );
    using client = clientWith();
    for (const local of [true, false]) {
      const endpoint = endpointAt(`http://127.0.0.1:${server.port}/v1`, { local, key: "k1234567" });
      const failure = await failureOf(client.send(endpoint, { method: "POST", path: "/chat", body: '{"a":1}' }));
      assert.match(failure.message, new RegExp(`HTTP ${status}.*redirects are refused`));
      assert.match(failure.message, /to another host/);
      assert.doesNotMatch(`${failure.message}${failure.hint}`, /CANARY|127\.0\.0\.2/);
    }
    assert.equal(target.connections.length, 0);
  });
}

Deno.test("https on loopback begins with a TLS greeting, never with the request in clear", async () => {
  for (const name of ["localhost", "127.0.0.1"]) {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const first = (async () => {
      const socket = await listener.accept();
      const space = new Uint8Array(4096);
      const count = await socket.read(space) ?? 0;
      socket.close();
      return space.slice(0, count);
    })();
    using client = clientWith({ HTTPS_PROXY: "http://127.0.0.2:9" });
    const port = (listener.addr as Deno.NetAddr).port;
    const endpoint = endpointAt(`https://${name}:${port}/v1`, { key: "very-secret" });
    const failure = await failureOf(client.send(endpoint, models));
    const bytes = await first;
    listener.close();
    // A handshake record, and in it a ClientHello.
    assert.deepEqual([bytes[0], bytes[1], bytes[5]], [0x16, 0x03, 0x01]);
    assert(!new TextDecoder("latin1").decode(bytes).includes("very-secret"));
    assert.equal(failure.code === "provider_unreachable" || failure.code === "connection_lost", true, failure.message);
  }
});

Deno.test("localhost finds a server that listens on ::1 alone", async () => {
  await using server = named("::1", "six");
  using client = clientWith();
  for (let count = 0; count < 2; count++) {
    const response = await client.send(endpointAt(`http://localhost:${server.port}/v1`), models);
    assert.equal(await response.text(100), "six");
  }
});

Deno.test("a refused connection names provider and address and says what to try", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const port = (listener.addr as Deno.NetAddr).port;
  listener.close();
  using client = clientWith();
  const failure = await failureOf(client.send(endpointAt(`http://localhost:${port}/v1`), models));
  assert.equal(failure.code, "provider_unreachable");
  assert.equal(failure.message, `cannot reach p at http://localhost:${port}/v1/models: connection refused`);
  assert.equal(failure.hint, `is the server running? try: curl http://localhost:${port}/v1/models`);
});

Deno.test("a port that web clients never use is named as such, but for this machine's own", async () => {
  using client = clientWith();
  const elsewhere = await failureOf(client.send(endpointAt("http://127.0.0.2:6000/v1", { local: false }), models));
  assert.match(elsewhere.message, /does not connect to that port/);
  const here = await failureOf(client.send(endpointAt("http://localhost:6000/v1"), models));
  assert.match(here.message, /connection refused/);
});

Deno.test("a key that no header can carry is an error that does not print it", async () => {
  await using server = named("127.0.0.1", "x");
  using client = clientWith();
  for (const key of ["se\ncret", "secr\u00e9t", "se\u0000cret", "secret\u2028"]) {
    const failure = await failureOf(
      client.send(endpointAt(`http://127.0.0.1:${server.port}/v1`, { key: `${key}x` }), models),
    );
    assert.equal(failure.exitCode, 5);
    assert.doesNotMatch(`${failure.message}${failure.hint}${failure.stack}`, /cret|secr/);
  }
  assert.equal(server.connections.length, 0);
});

Deno.test("the key is trimmed and sent as a bearer, and left out with the headers when asked to", async () => {
  await using server = named("127.0.0.1", "x");
  using client = clientWith();
  const endpoint = endpointAt(`http://127.0.0.1:${server.port}/v1`, { key: " abc\n", headers: { "X-Team": "a" } });
  await (await client.send(endpoint, models)).text(10);
  await (await client.send(endpoint, { ...models, path: "/api/ps", atOrigin: true, withoutKey: true })).text(10);
  assert.equal(server.seen[0]?.headers.get("authorization"), "Bearer abc");
  assert.equal(server.seen[0]?.headers.get("x-team"), "a");
  assert.equal(server.seen[1]?.headers.get("authorization"), null);
  assert.equal(server.seen[1]?.headers.get("x-team"), null);
  assert.deepEqual(server.seen.map((each) => each.path), ["/v1/models", "/api/ps"]);
});

Deno.test("a body is sent as JSON with its length", async () => {
  await using server = named("127.0.0.1", "x");
  using client = clientWith();
  const request: HttpRequest = { method: "POST", path: "/chat", body: '{"a":"ä"}' };
  await (await client.send(endpointAt(`http://127.0.0.1:${server.port}/v1`), request)).text(10);
  assert.equal(server.seen[0]?.headers.get("content-type"), "application/json");
  assert.equal(server.seen[0]?.headers.get("content-length"), "10");
});

for (const [where, host] of [["on this machine", "127.0.0.1"], ["elsewhere", "127.0.0.2"]] as const) {
  Deno.test(`a body in pieces arrives ${where} byte for byte, unchunked and with its length, as often as it is sent`, async () => {
    const seen: { headers: Headers; body: Uint8Array }[] = [];
    const server = listenHttp(host, async ({ headers, body }, reply) => {
      seen.push({ headers, body });
      await reply.whole(200, {}, "x");
    });
    await using _ = { [Symbol.asyncDispose]: () => server.close() };
    using client = clientWith();
    const piece = (size: number) => crypto.getRandomValues(new Uint8Array(size));
    const endpoint = endpointAt(`http://${host}:${server.port}/v1`, { local: host === "127.0.0.1" });
    for (const body of [[piece(10), piece(20)], [piece(40_000), piece(65_536), piece(7), piece(60_000)]]) {
      for (let time = 0; time < 2; time++) {
        await (await client.send(endpoint, { method: "POST", path: "/chat", body })).text(10);
        const { headers, body: arrived } = seen.at(-1) ?? assert.fail("nothing arrived");
        assert.equal(headers.get("content-type"), "application/json");
        assert.equal(headers.get("content-length"), String(body.reduce((sum, { length }) => sum + length, 0)));
        assert.equal(headers.get("transfer-encoding"), null);
        assert(joined(body).every((byte, at) => byte === arrived[at]));
      }
    }
  });
}

for (const [where, host] of [["on this machine", "127.0.0.1"], ["elsewhere", "127.0.0.2"]] as const) {
  Deno.test(`a request ${where} is reported as sent before the server answers`, async () => {
    const sent = Promise.withResolvers<boolean>();
    // Ends the wait where nothing is reported.
    const late = AbortSignal.timeout(10_000);
    late.addEventListener("abort", () => sent.resolve(false));
    const server = listenHttp(host, async (_, reply) => await reply.whole(200, {}, String(await sent.promise)));
    await using _ = { [Symbol.asyncDispose]: () => server.close() };
    using client = clientWith();
    const endpoint = endpointAt(`http://${host}:${server.port}/v1`, { local: host === "127.0.0.1" });
    const asked = { method: "POST", path: "/chat", body: "{}", onSent: () => sent.resolve(true) } as const;
    assert.equal(await (await client.send(endpoint, asked)).text(10), "true");
  });
}

Deno.test("an answer that comes before the body was taken is read, and an abort ends its sending", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const body = Array.from({ length: 200 }, () => new Uint8Array(65_536));
  using client = clientWith();
  const endpoint = endpointAt(`http://127.0.0.1:${listener.addr.port}/v1`);
  const answering = client.send(endpoint, { method: "POST", path: "/chat", body });
  using first = await listener.accept();
  await first.read(new Uint8Array(10));
  await first.write(new TextEncoder().encode("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"));
  const answer = await answering;
  assert.deepEqual([answer.status, await answer.text(10)], [413, "no"]);
  const stop = new AbortController();
  const stopped = assert.rejects(
    client.send(endpoint, { method: "POST", path: "/chat", body, signal: stop.signal }),
    (reason) => reason === "enough",
  );
  using second = await listener.accept();
  await second.read(new Uint8Array(10));
  stop.abort("enough");
  await stopped;
});

/** A server that takes requests and never answers. */
function silent(host: string) {
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const server = listenHttp(host, async (_request, reply) => {
    asked.resolve();
    await reply.gone;
    left.resolve();
  });
  return Object.assign(server, {
    asked: asked.promise,
    left: left.promise,
    [Symbol.asyncDispose]: () => server.close(),
  });
}

Deno.test("a server that takes the request and says nothing is given up after the time for the first byte", async () => {
  await using server = silent("127.0.0.1");
  using client = clientWith();
  const sending = failureOf(client.send(endpointAt(`http://127.0.0.1:${server.port}/v1`), models));
  await server.asked;
  await client.clock.advance(600_000);
  const failure = await sending;
  assert.equal(failure.code, "provider_timeout");
  await server.left;
});

Deno.test("elsewhere than on loopback, an address that takes no second connection is given up early", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.2", port: 0 });
  const port = (listener.addr as Deno.NetAddr).port;
  using client = clientWith();
  const sending = failureOf(client.send(endpointAt(`http://127.0.0.2:${port}/v1`), models));
  const socket = await listener.accept();
  listener.close();
  await client.clock.advance(10_000);
  const failure = await sending;
  socket.close();
  assert.equal(failure.code, "provider_unreachable");
  assert.match(failure.message, /no response within 10 s/);
});

Deno.test("elsewhere than on loopback, a slow server that takes connections is waited for", async () => {
  const second = Promise.withResolvers<void>();
  const listener = Deno.listen({ hostname: "127.0.0.2", port: 0 });
  const sockets: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const socket of listener) {
      sockets.push(socket);
      if (sockets.length === 2) second.resolve();
    }
  })();
  using client = clientWith();
  const port = (listener.addr as Deno.NetAddr).port;
  const sending = client.send(endpointAt(`http://127.0.0.2:${port}/v1`), models);
  await client.clock.sleeping(10_000);
  await client.clock.advance(10_000);
  await second.promise;
  await sockets[0]?.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
  assert.equal(await (await sending).text(10), "ok");
  listener.close();
  await accepting;
  for (const socket of sockets) socket.close();
});

Deno.test("an abort throws the signal's reason, and the server sees the connection close", async () => {
  await using server = silent("127.0.0.1");
  using client = clientWith();
  const controller = new AbortController();
  const sending = client.send(endpointAt(`http://127.0.0.1:${server.port}/v1`), {
    ...models,
    signal: controller.signal,
  });
  const reason = new Error("enough");
  await server.asked;
  controller.abort(reason);
  await assert.rejects(sending, (error) => error === reason);
  await server.left;
});

Deno.test("an answer over the limit is refused, compressed ones by what they unpack to", async () => {
  const packed = new Response(
    new Blob([new Uint8Array(1_000_000)]).stream().pipeThrough(new CompressionStream("gzip")),
  );
  const bytes = new Uint8Array(await packed.arrayBuffer());
  assert(bytes.length < 10_000);
  const server = listenHttp("127.0.0.1", async (_request, reply) => {
    await reply.whole(200, { "content-encoding": "gzip" }, bytes);
  });
  using client = clientWith();
  const response = await client.send(endpointAt(`http://127.0.0.1:${server.port}/v1`), models);
  const failure = await failureOf(response.text(100_000));
  assert.equal(failure.code, "invalid_reply");
  await server.close();
});

Deno.test("an invalid base URL, or one with a password, is an error that does not print it", async () => {
  using client = clientWith();
  for (const baseUrl of ["http://user:passw0rd@127.0.0.1/v1", "http://user:passw0rd@h h/v1", "ftp://passw0rd/v1"]) {
    const failure = await failureOf(client.send(endpointAt(baseUrl), models));
    assert.equal(failure.code, "config_invalid");
    assert.doesNotMatch(`${failure.message}${failure.hint}`, /passw0rd/);
  }
});
