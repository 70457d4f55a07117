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

/** A whole reply as JSON, so that it can have headers and a `model` of its own. */
function whole(
  message: Record<string, unknown>,
  told: { headers?: Record<string, string>; model?: string } = {},
): Step {
  return json({ model: told.model ?? "m", choices: [{ index: 0, message, finish_reason: "stop" }] }, told.headers);
}

const readCall = (path: string) => ({
  tool_calls: [{ id: "c1", function: { name: "Read", arguments: JSON.stringify({ path, file_path: path }) } }],
});

/**
 * Signs that a reply comes from elsewhere, although every question about the model was answered as by a local server.
 */
const SIGNS: Record<string, { headers?: Record<string, string>; model?: string }> = {
  "the server's name": { headers: { server: "LiteLLM" } },
  "a header of a gateway": { headers: { "x-litellm-version": "1.70.0" } },
  "a header of a service": { headers: { "cf-ray": "8f1" } },
  "the name of a cloud model": { model: "gpt-oss:120b-cloud" },
};

/** A turn that reads `.env`; the server's second reply is `reply`. */
async function replied(reply: Step, options: { local?: boolean; argv?: string[]; stdin?: string } = {}) {
  await using home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", `KEY=${CANARY}\n`);
  await home.write("open.txt", "nothing\n");
  await using server = startFakeServer({
    script: [whole(readCall(".env")), reply, { kind: "repeat", step: whole({ content: "Done." }) }],
    models: { object: "list", data: [{ id: "m", object: "model", owned_by: "library" }] },
    routes: OLLAMA,
  });
  const { local, argv = ["run", "read it"], stdin } = options;
  const models = [{ id: "m", context_window: 32768 }];
  await configure(home, { loc: { baseUrl: server.baseUrl, models, more: local === undefined ? {} : { local } } });
  const done = await runInProcess(argv, { home, stdin });
  return { done, chats: server.chats() };
}

for (const [what, told] of Object.entries(SIGNS)) {
  Deno.test(`a reply with ${what} ends the turn, and nothing more goes to that server`, async () => {
    const { chats, done } = await replied(whole(readCall("open.txt"), told));
    assert.equal(chats.length, 2, done.stderr);
    assert.ok(chats[1]?.text.includes(CANARY), "the request that it answers");
    assert.equal(done.code, 6, done.stderr);
    assert.match(done.stderr, /does not count as local.*what this session has read had been sent/s);
  });
}

Deno.test("after such a reply the next prompt goes nowhere, nor does a session with the same model chosen again", async () => {
  const lines = { argv: ["chat"], stdin: "read it\ngo on\n/model loc:m\nand now?\n" };
  const { chats, done } = await replied(whole({ content: "Read." }, { headers: { "cf-ray": "8f1" } }), lines);
  assert.equal(chats.length, 2, done.stdout + done.stderr);
  assert.ok((done.stdout + done.stderr).split("does not count as local").length > 2, done.stdout + done.stderr);
  const own = await replied(whole({ content: "Read." }), lines);
  assert.equal(own.chats.length, 4, `control: ${own.done.stdout}${own.done.stderr}`);
});

Deno.test("after a reply without such a sign the turn continues (control)", async () => {
  const { chats, done } = await replied(whole(readCall("open.txt"), { headers: { server: "uvicorn" } }));
  assert.equal(chats.length, 3, done.stderr);
  const trusted = await replied(whole(readCall("open.txt"), SIGNS["a header of a service"]), { local: true });
  assert.equal(trusted.chats.length, 3, "the user's word stands for a proxy of theirs");
  const cloud = await replied(whole(readCall("open.txt"), SIGNS["the name of a cloud model"]), { local: true });
  assert.equal(cloud.chats.length, 2, "but not for a model that runs elsewhere");
});

Deno.test("a refusal that comes from elsewhere is not asked again", async () => {
  const busy = { kind: "status", status: 429, body: "{}" } as const;
  const elsewhere = await replied({ ...busy, headers: { "x-litellm-version": "1.70.0", "retry-after-ms": "1" } });
  assert.equal(elsewhere.chats.length, 2, elsewhere.done.stderr);
  assert.match(elsewhere.done.stderr, /does not count as local/);
  const own = await replied({ ...busy, headers: { "retry-after-ms": "1" } });
  assert.equal(own.chats.length, 3, `control: ${own.done.stderr}`);
});

Deno.test("a refusal whose body reveals a remote model is not repeated, in whatever form it does", async () => {
  const told = { remote_host: "https://ollama.com:443", remote_model: "m" };
  const error = { message: "overloaded" };
  const bodies: Record<string, (fields: Record<string, unknown>) => unknown> = {
    "beside the error": (fields) => ({ ...fields, error }),
    "in the error": (fields) => ({ error: { ...error, ...fields } }),
    "in a text": (fields) => ({ error: JSON.stringify({ ...error, ...fields }) }),
    "in a list": (fields) => [{ error }, { ...fields, error }],
  };
  const refused = (status: number, body: string) =>
    replied({ kind: "status", status, body, headers: { "retry-after-ms": "1" } });
  for (const [form, body] of Object.entries(bodies)) {
    for (const fields of [told, { model: "gpt-oss:120b-cloud" }]) {
      const { chats, done } = await refused(503, JSON.stringify(body(fields)));
      assert.equal(chats.length, 2, `${form}: ${done.stderr}`);
      assert.match(done.stderr, /does not count as local/);
    }
    const own = await refused(503, JSON.stringify(body({ model: "m" })));
    assert.equal(own.chats.length, 3, `control, ${form}: ${own.done.stderr}`);
  }
  const stream = await refused(429, `event: error\ndata: ${JSON.stringify({ ...told, error })}\n\n`);
  assert.equal(stream.chats.length, 2, stream.done.stderr);
});

Deno.test("after a lost connection the server is asked again where its model runs", async () => {
  const lost: Step = { kind: "raw", bytes: "" };
  const asked = async (next: Step) => {
    await using home = await temporaryHome();
    await home.write(".agentclisecret", "no-cloud: .env\n");
    await home.write(".env", `KEY=${CANARY}\n`);
    const list = json({ object: "list", data: [{ id: "m", object: "model", owned_by: "library" }] });
    const routes: Record<string, Step> = { ...OLLAMA, "/v1/models": list };
    await using server = startFakeServer({
      script(request) {
        if (request.index === 0) return whole(readCall(".env"));
        if (request.index > 1) return say("Done.");
        routes["/v1/models"] = next;
        return lost;
      },
      routes,
    });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "m", context_window: 32768 }] } });
    const done = await runInProcess(["run", "read it"], { home });
    return { done, chats: server.chats().length };
  };
  const list = { object: "list", data: [{ id: "m", object: "model", owned_by: "library" }] };
  const other = await asked(json(list, { "x-litellm-version": "1.70.0" }));
  assert.equal(other.done.code, 6, other.done.stderr);
  assert.equal(other.chats, 2);
  const same = await asked(json(list));
  assert.equal(same.done.code, 0, `control: ${same.done.stderr}`);
  assert.equal(same.chats, 3);
});
