import assert from "node:assert/strict";
import { ask, say, startFakeServer, type Step, want } from "../helpers/fake_server.ts";
import { configure, runProgram, temporaryHome } from "../helpers/program.ts";

const CANARY = "CNRY_0f1e2d3c4b5a69788796a5b4c3d2e1f0";
const json = (body: unknown, headers: Record<string, string> = {}): Step => ({
  kind: "status",
  status: 200,
  body: JSON.stringify(body),
  headers: { "content-type": "application/json", ...headers },
});

/** A project whose `.env` is protected, and a server on loopback with these answers besides chat. */
async function played(options: { model: string; routes: Record<string, Step>; local?: boolean }) {
  await using home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", `KEY=${CANARY}\n`);
  await using server = startFakeServer({
    script: [ask(want("read", { path: ".env" })), say("Read.")],
    models: { object: "list", data: [{ id: options.model, object: "model", owned_by: "library" }] },
    routes: options.routes,
  });
  await configure(home, {
    loc: {
      baseUrl: server.baseUrl,
      models: [{ id: options.model, context_window: 32768 }],
      more: options.local === undefined ? {} : { local: options.local },
    },
  });
  const done = await runProgram(["run", "read it"], { home });
  const sent = server.received().map((bytes) => new TextDecoder().decode(bytes)).join("");
  return { done, sent, chats: server.chats().length };
}

const OLLAMA: Record<string, Step> = {
  "/": { kind: "status", status: 200, body: "Ollama is running" },
  "/api/version": json({ version: "0.20.0" }),
};

Deno.test("a cloud model behind a local Ollama gets no protected content, whatever its name says", async () => {
  for (
    const [model, show] of [
      ["gpt-oss:120b-cloud", {}],
      ["innocent", { remote_host: "https://ollama.com:443", remote_model: "gpt-oss:120b" }],
    ] as const
  ) {
    const { done, sent } = await played({
      model,
      routes: { ...OLLAMA, "/api/show": json(show), "/api/tags": json({ models: [] }) },
    });
    assert.equal(done.code, 6, done.stderr);
    assert.ok(!sent.includes(CANARY));
    assert.match(done.stderr, /does not count as local/);
  }
});

Deno.test("an ordinary model of the same server gets it (control)", async () => {
  const show = json({ details: {}, model_info: {} });
  const { done, sent, chats } = await played({ model: "qwen3:8b", routes: { ...OLLAMA, "/api/show": show } });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(chats, 2);
  assert.ok(sent.includes(CANARY));
});

Deno.test("a gateway on loopback counts as remote unless the entry says that it is local", async () => {
  const list = { object: "list", data: [{ id: "m", object: "model", owned_by: "openai" }] };
  const routes = { "/v1/models": json(list, { "x-litellm-version": "1.70.0" }) };
  const refused = await played({ model: "m", routes });
  assert.equal(refused.done.code, 6, refused.done.stderr);
  assert.ok(!refused.sent.includes(CANARY));
  const trusted = await played({ model: "m", routes, local: true });
  assert.equal(trusted.done.code, 0, trusted.done.stderr);
  assert.ok(trusted.sent.includes(CANARY));
});

Deno.test("a model that Ollama only lists as remote gets no protected content, whatever becomes of its description", async () => {
  const tag = { name: "m:latest", model: "m:latest", remote_host: "https://ollama.com:443", remote_model: "gpt-oss" };
  const answers: Record<string, Step> = {
    "fails": { kind: "status", status: 500, body: "{}" },
    "is too long": json({ details: {}, license: "x".repeat(9_000_000) }),
  };
  for (const [what, show] of Object.entries(answers)) {
    const routes = { ...OLLAMA, "/api/show": show };
    const { done, sent } = await played({ model: "m", routes: { ...routes, "/api/tags": json({ models: [tag] }) } });
    assert.equal(done.code, 6, `${what}: ${done.stderr}`);
    assert.ok(!sent.includes(CANARY));
    const own = await played({
      model: "m",
      routes: { ...routes, "/api/tags": json({ models: [{ name: "m:latest" }] }) },
    });
    assert.equal(own.done.code, 0, own.done.stderr);
    assert.ok(own.sent.includes(CANARY), "control: a model that is listed as here");
  }
});

Deno.test("headers of a service on the net give a local address away", async () => {
  const list = { object: "list", data: [{ id: "m", object: "model", owned_by: "library" }] };
  for (
    const name of [
      "helicone-id",
      "x-vercel-id",
      "mistral-correlation-id",
      "x-kong-proxy-latency",
      "x-cloud-trace-context",
    ]
  ) {
    const { done, sent } = await played({ model: "m", routes: { "/v1/models": json(list, { [name]: "1" }) } });
    assert.equal(done.code, 6, `${name}: ${done.stderr}`);
    assert.ok(!sent.includes(CANARY));
  }
});
