import assert from "node:assert/strict";
import { listenHttp, type Reply, type WireRequest } from "../../../tests/helpers/fake_http.ts";
import { endpointAt, recorded, type StandInAnswer, standInClient } from "../../../tests/helpers/stand_in_client.ts";
import { AgentcliError } from "../../errors.ts";
import { denoIo } from "../../platform/deno_io.ts";
import { discover, type Discovered } from "./discovery.ts";
import { HttpClient } from "../http/client.ts";

const listed = (...ids: string[]) =>
  JSON.stringify({ object: "list", data: ids.map((id) => ({ id, object: "model", owned_by: "vllm" })) });

/** Discovery over the real client, of one server that answers in its own way. */
async function meet(
  answer: (request: WireRequest, reply: Reply) => Promise<void>,
  options: { timeoutMs?: number; host?: string } = {},
): Promise<{ found: Discovered; received: string[] }> {
  const server = listenHttp(options.host ?? "127.0.0.1", answer);
  const client = new HttpClient({ env: () => undefined, clock: denoIo().clock });
  try {
    const hosts = [options.host ?? "127.0.0.1"];
    const runtimes = [{ id: "runtime_a", port: server.port, probed: true }];
    const [found] = await discover(client, { hosts, runtimes, timeoutMs: options.timeoutMs ?? 5000 });
    assert(found !== undefined);
    const received = server.connections.map((connection) => new TextDecoder().decode(connection.received()));
    return { found, received };
  } finally {
    client.close();
    await server.close();
  }
}

/** Discovery over the stand-in client; addresses are whole. */
async function standIn(answers: Record<string, StandInAnswer>, hosts: string[] = ["localhost"]) {
  const { client, sent } = standInClient(answers);
  const runtimes = [
    { id: "runtime_a", port: 11434, probed: true },
    { id: "runtime_d", port: 8080, probed: true },
    { id: "studio_f", port: 8888, probed: false },
  ];
  return { found: await discover(client, { hosts, runtimes, timeoutMs: 30 }), sent };
}

Deno.test("the probed ports are asked, in the order of the table, and what serves is recognized", async () => {
  const { found, sent } = await standIn({
    "http://localhost:11434/v1/models": {
      body: { object: "list", data: [{ id: "qwen3:8b", owned_by: "library" }, { id: "cold:1b", owned_by: "library" }] },
    },
    "http://localhost:11434/api/ps": { body: { models: [{ name: "qwen3:8b", context_length: 16384 }] } },
  });
  assert.deepEqual(found.map((one) => [one.runtime, one.baseUrl, one.state]), [
    ["runtime_a", "http://localhost:11434/v1", "serving"],
    ["runtime_d", "http://localhost:8080/v1", "nothing there"],
  ]);
  assert.equal(found[0]?.server?.label, "Ollama");
  assert.deepEqual(found[0]?.models, [{ id: "qwen3:8b", contextWindow: 16384 }, {
    id: "cold:1b",
    contextWindow: null,
  }]);
  assert(sent.every((request) => request.method === "GET" && request.body === undefined));
  assert(sent.every((request) => request.endpoint.key === undefined));
});

Deno.test("a server that wants a key, or is loading, is recognized", async () => {
  const { found } = await standIn({
    "http://localhost:11434/v1/models": await recorded("llama-server/key_models_no_key"),
    "http://localhost:8080/v1/models": await recorded("llama-server/loading_chat"),
  });
  assert.deepEqual(found.map((one) => [one.state, one.detail, one.server?.server]), [
    ["needs key", "HTTP 401", "llama.cpp"],
    ["loading", "HTTP 503", "llama.cpp"],
  ]);
});

Deno.test("a server that is no model server is reported as such", async () => {
  for (
    const answer of [{ body: "<html></html>" }, { status: 404, body: "no" }, { body: { error: "x" } }, { body: "7" }]
  ) {
    const { found } = await standIn({ "http://localhost:8080/v1/models": answer });
    assert.equal(found[1]?.state, "not a model server");
  }
});

Deno.test("other hosts are asked on the same ports, or on the port they name", async () => {
  const { found } = await standIn({}, ["gpu-box", "10.0.0.5:9000", "::1", "[::1]:8080", "localhost"]);
  assert.deepEqual(found.map((one) => `${one.baseUrl} ${one.runtime} ${one.local}`), [
    "http://gpu-box:11434/v1 runtime_a false",
    "http://gpu-box:8080/v1 runtime_d false",
    "http://10.0.0.5:9000/v1 null false",
    "http://[::1]:11434/v1 runtime_a true",
    "http://[::1]:8080/v1 runtime_d true",
    "http://localhost:11434/v1 runtime_a true",
    "http://localhost:8080/v1 runtime_d true",
  ]);
});

Deno.test("an invalid host is wrong usage", async () => {
  for (const host of ["", "http://x", "x/y", "u:p@x", "x:0", "x:99999", "a b", "x?y", "-x", "x\u0007"]) {
    const { client } = standInClient({});
    await assert.rejects(
      discover(client, { hosts: [host], timeoutMs: 30 }),
      (error) => error instanceof AgentcliError && error.code === "usage",
      host,
    );
  }
});

Deno.test("discovery sends neither key nor body over the wire", async () => {
  const { received } = await meet((_, reply) => reply.whole(401, {}, '{"detail":"Not authenticated"}'));
  const bytes = received.join("");
  assert.match(bytes, /^GET \/v1\/models HTTP\/1\.1\r\n/);
  assert.doesNotMatch(bytes, /authorization|api-key|cookie|content-length|transfer-encoding|POST/i);
});

Deno.test("a listener that never answers costs the time that was given, no more", { timeout: 60_000 }, async () => {
  const { found } = await meet((_, reply) => reply.gone, { timeoutMs: 150 });
  assert.deepEqual([found.state, found.detail], ["no response", "within 150 ms"]);
});

Deno.test("a server that speaks another protocol is reported as that", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answering = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(1024));
      await connection.write(new TextEncoder().encode("SSH-2.0-OpenSSH_9.6\r\n"));
      connection.close();
    }
  })();
  const client = new HttpClient({ env: () => undefined, clock: denoIo().clock });
  const [found] = await discover(client, { hosts: [`127.0.0.1:${listener.addr.port}`], timeoutMs: 5000 });
  assert.deepEqual([found?.state, found?.detail], ["not a model server", "it does not speak HTTP"]);
  client.close();
  listener.close();
  await answering;
});

Deno.test("a list that never ends is given up at the limit or at the time, and the connection is closed", async () => {
  let gone = false;
  const { found } = await meet(async (_, reply) => {
    reply.gone.then(() => gone = true);
    await reply.head(200, { "content-type": "application/json" });
    await reply.chunk('{"data":[');
    const entry = `{"id":"${"x".repeat(65536)}"},`;
    while (!gone) await reply.chunk(entry);
  });
  assert.notEqual(found.state, "serving");
  assert(gone);
});

Deno.test("a list that trickles is given up at the time", async () => {
  const { found } = await meet(async (_, reply) => {
    await reply.head(200, { "content-type": "application/json" });
    await reply.chunk('{"data":[');
    await reply.gone;
  }, { timeoutMs: 150 });
  assert.equal(found.state, "no response");
});

Deno.test("a redirect is not followed", async () => {
  const other = listenHttp("127.0.0.2", (_, reply) => reply.whole(200, {}, listed("m")));
  try {
    const location = `http://127.0.0.2:${other.port}/v1/models`;
    const { found } = await meet((_, reply) => reply.whole(307, { location }, ""));
    assert.equal(found.state, "not a model server");
    assert.equal(other.connections.length, 0);
  } finally {
    await other.close();
  }
});

Deno.test("garbage in place of HTTP is no model server and no failure", async () => {
  const { found } = await meet(async (_, reply) => {
    await reply.raw("SSH-2.0-OpenSSH_9.6\r\n");
    reply.cut();
  });
  assert.notEqual(found.state, "serving");
});

Deno.test("ids of a megabyte are left out, and control characters are left for those who show them", async () => {
  const { found } = await meet((_, reply) =>
    reply.whole(200, { "content-type": "application/json" }, listed("y".repeat(1_000_000), "a\u001b]52;c;x\u0007"))
  );
  assert.equal(found.state, "serving");
  assert.deepEqual(found.models.map((model) => model.id), ["a\u001b]52;c;x\u0007"]);
});

Deno.test("a huge answer of a side question neither fails nor holds up discovery", async () => {
  const models = JSON.stringify({ object: "list", data: [{ id: "m", owned_by: "library" }] });
  const { found } = await meet(async (request, reply) => {
    if (request.path === "/v1/models") return await reply.whole(200, {}, models);
    const running = Array.from({ length: 50_000 }, (_, at) => ({ name: `n${at}`, context_length: 1 }));
    await reply.whole(200, {}, JSON.stringify({ models: running }));
  });
  assert.equal(found.state, "serving");
  assert.deepEqual(found.models, [{ id: "m", contextWindow: null }]);
});

Deno.test("another machine is reached and not counted as local", async () => {
  const { found } = await meet((_, reply) => reply.whole(200, {}, listed("m")), { host: "127.0.0.2" });
  assert.equal(found.state, "serving");
  assert.equal(found.local, false);
});

Deno.test("stopping discovery throws the reason of the stop", async () => {
  const { client } = standInClient({ [`${endpointAt("http://localhost:11434/v1").baseUrl}/models`]: "silence" });
  const stop = new AbortController();
  const found = discover(client, { hosts: ["localhost:11434"], timeoutMs: 60_000, signal: stop.signal });
  stop.abort(new Error("stopped"));
  await assert.rejects(found, /stopped/);
});
