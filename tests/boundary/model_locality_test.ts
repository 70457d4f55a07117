import assert from "node:assert/strict";
import { ask, say, startFakeServer, type Step, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { configure, temporaryHome } from "../helpers/program.ts";

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
  const done = await runInProcess(["run", "read it"], { home });
  const sent = server.received().map((bytes) => new TextDecoder().decode(bytes)).join("");
  return { done, sent, chats: server.chats().length };
}

/** The file was refused, and it was said why this address does not count. */
function assertRemote(done: { code: number; stderr: string }, sent: string, what = ""): void {
  assert.equal(done.code, 0, `${what}: ${done.stderr}`);
  assert.match(done.stderr, /does not count as local/, what);
  assert.match(done.stderr, /Read failed: \.env is protected/, what);
  assert.ok(!sent.includes(CANARY), what);
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
    assertRemote(done, sent);
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
  assertRemote(refused.done, refused.sent);
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
    assertRemote(done, sent, what);
    const own = await played({
      model: "m",
      routes: { ...routes, "/api/tags": json({ models: [{ name: "m:latest" }] }) },
    });
    assert.equal(own.done.code, 0, own.done.stderr);
    assert.ok(own.sent.includes(CANARY), "control: a model that is listed as here");
  }
});

Deno.test("headers of a hosted service give a local address away", async () => {
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
    assertRemote(done, sent, name);
  }
});

/** Text that stands in a file no rule covers, and in one that a marker below the root covers. */
async function copied(options: { model: string; baseUrl(server: string): string; roles?: string }) {
  await using home = await temporaryHome();
  await home.write("package/.agentclisecret", "no-cloud: .env\n");
  await home.write("package/.env", `KEY=${CANARY}\n`);
  await home.write("copy.txt", `the key is ${CANARY}\n`);
  await using server = startFakeServer({
    script: [ask(want("read", { path: "copy.txt" })), say("Read.")],
    models: { object: "list", data: [{ id: options.model, object: "model", owned_by: "library" }] },
    routes: OLLAMA,
  });
  await configure(home, {
    loc: { baseUrl: options.baseUrl(server.baseUrl), models: [{ id: options.model, context_window: 32768 }] },
  });
  const done = await runInProcess(["run", "read it"], { home });
  return { done, sent: server.received().map((bytes) => new TextDecoder().decode(bytes)).join("") };
}

Deno.test("a copy of what a marker below the root covers goes to no cloud model behind loopback", async () => {
  const cloud = await copied({ model: "x:120b-cloud", baseUrl: (own) => own });
  assert.equal(cloud.done.code, 6, cloud.done.stderr);
  assert.ok(!cloud.sent.includes(CANARY));
  const own = await copied({ model: "qwen3:8b", baseUrl: (own) => own });
  assert.equal(own.done.code, 0, own.done.stderr);
  assert.ok(own.sent.includes(CANARY), "control: a model that runs here");
});

Deno.test("a server that does not say in time where its model runs gets nothing protected", async () => {
  const silent: Step = { kind: "status", status: 503, body: "{}" };
  const routes = { ...OLLAMA, "/api/show": silent, "/api/tags": silent };
  const { done, sent } = await played({ model: "m", routes });
  assertRemote(done, sent);
  assert.match(done.stderr, /local: true/);
  const trusted = await played({ model: "m", routes, local: true });
  assert.equal(trusted.done.code, 0, trusted.done.stderr);
  assert.ok(trusted.sent.includes(CANARY), "control: the user's word for it");
});

Deno.test("a stored session goes to a cloud model behind loopback only as far as nothing of it became protected", async () => {
  await using home = await temporaryHome();
  await home.write("notes.txt", `the key is ${CANARY}\n`);
  await using server = startFakeServer({
    script: [ask(want("read", { path: "notes.txt" })), say("Read."), say("Again.")],
    models: { object: "list", data: [{ id: "m" }, { id: "m:cloud" }] },
    routes: OLLAMA,
  });
  const models = ["m", "m:cloud"].map((id) => ({ id, context_window: 32768 }));
  await configure(home, { loc: { baseUrl: server.baseUrl, models } });
  const first = await runInProcess(["run", "--model", "loc:m", "read it"], { home });
  assert.equal(first.code, 0, first.stderr);
  await home.write(".agentclisecret", "no-cloud: notes.txt\n");
  const count = server.chats().length;
  const cloud = await runInProcess(["run", "--continue", "--model", "loc:m:cloud", "go on"], { home });
  assert.equal(cloud.code, 6, cloud.stderr);
  assert.equal(server.chats().length, count);
  const own = await runInProcess(["run", "--continue", "--model", "loc:m", "go on"], { home });
  assert.equal(own.code, 0, own.stderr);
});
