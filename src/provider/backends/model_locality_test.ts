import assert from "node:assert/strict";
import { manualClock } from "../../../tests/helpers/manual_clock.ts";
import { endpointAt, type StandInAnswer, standInClient } from "../../../tests/helpers/stand_in_client.ts";
import { Localities } from "./localities.ts";
import { namesCloudModel } from "./elsewhere.ts";

const BASE = "http://127.0.0.1:9/v1";
const SHOW = "http://127.0.0.1:9/api/show";
const TAGS = "http://127.0.0.1:9/api/tags";
const REMOTE_TAG = { name: "M:latest", model: "m:latest", remote_host: "https://ollama.com:443", remote_model: "m" };
const LIST = { object: "list", data: [{ id: "m", object: "model", owned_by: "library" }] };

async function localityOf(answers: Record<string, StandInAnswer>, more: { model?: string; trusted?: boolean } = {}) {
  // As from a server other than Ollama, except for what the case says.
  const unknown = { status: 404, body: {} };
  const { client, sent } = standInClient({
    [SHOW]: unknown,
    [TAGS]: unknown,
    [`${BASE}/models`]: { body: LIST },
    ...answers,
  });
  const clock = manualClock();
  const cache = new Localities(client, { clock });
  const located = { endpoint: endpointAt(BASE), model: more.model ?? "m", trusted: more.trusted ?? false };
  return { locality: await cache.of(located), cache, clock, located, sent };
}

for (
  const model of [
    "gpt-oss:120b-cloud",
    "x:cloud",
    "Kimi-K2:1T-CLOUD",
    "deepseek-v3.1:671b-Cloud",
    "m-cloud",
    "x-cloud:latest",
    "m-cloud@sha256:0a",
    "x:cloud@sha256:0a",
  ]
) {
  Deno.test(`${model} is a cloud model, and nobody is asked`, async () => {
    const { locality, sent } = await localityOf({}, { model });
    assert.equal(locality.kind, "remote");
    assert.match(locality.kind === "remote" ? locality.reason : "", new RegExp(model));
    assert.deepEqual(sent, []);
  });
}

for (
  const model of ["cloud", "cloudy:7b", "x-cloud:7b", "cloud-x:8b", "qwen3:8b", "x-cloud:7b@sha256:0a", "qwen3:latest"]
) {
  Deno.test(`${model} is no cloud model by its name`, () => assert.equal(namesCloudModel(model), false));
}

const ELSEWHERE: Record<string, [Record<string, StandInAnswer>, RegExp]> = {
  "an alias of a cloud model (remote_host)": [
    { [SHOW]: { body: { remote_host: "https://ollama.com:443", remote_model: "gpt-oss:120b" } } },
    /Ollama runs elsewhere/,
  ],
  "a model with only remote_model": [{ [SHOW]: { body: { remote_model: "big" } } }, /Ollama runs elsewhere/],
  "LiteLLM by its headers": [
    { [`${BASE}/models`]: { body: LIST, headers: { "x-litellm-version": "1" } } },
    /LiteLLM passes requests on.*local: true/,
  ],
  "LiteLLM that refuses the list": [
    { [`${BASE}/models`]: { status: 401, body: {}, headers: { "x-litellm-call-id": "1" } } },
    /LiteLLM/,
  ],
  "a model whose description fails, and whose tag is remote": [
    { [SHOW]: { status: 500, body: {} }, [TAGS]: { body: { models: [{ name: "o:latest" }, REMOTE_TAG] } } },
    /Ollama runs elsewhere/,
  ],
  "a model whose description is too long, and whose tag is remote": [
    { [SHOW]: { body: { license: "x".repeat(9_000_000) } }, [TAGS]: { body: { models: [REMOTE_TAG] } } },
    /Ollama runs elsewhere/,
  ],
  ...Object.fromEntries(
    ["helicone-id", "x-vercel-id", "mistral-correlation-id", "x-kong-upstream-latency", "x-cloud-trace-context"].map((
      name,
    ) => [`the header ${name}`, [
      { [`${BASE}/models`]: { body: LIST, headers: { [name]: "1" } } },
      /hosted service/,
    ]]),
  ),
  "headers of a service": [{ [`${BASE}/models`]: { body: LIST, headers: { "cf-ray": "8f1" } } }, /hosted service/],
};

for (const [name, [answers, reason]] of Object.entries(ELSEWHERE)) {
  Deno.test(`behind a loopback address, ${name} counts as remote, with the reason`, async () => {
    const { locality } = await localityOf(answers);
    assert.match(locality.kind === "remote" ? locality.reason : "here", reason);
  });
}

const HERE: Record<string, Record<string, StandInAnswer>> = {
  "an ordinary model of Ollama": {
    [SHOW]: { body: { details: { family: "qwen3" }, remote_host: "" } },
    [`${BASE}/models`]: { body: LIST },
  },
  "a server that answers unknown paths with 200": {
    [SHOW]: { body: { error: "Unexpected endpoint or method. (POST /api/show)" } },
    [`${BASE}/models`]: { body: LIST },
  },
  "an Ollama whose description fails, and whose other models are remote": {
    [SHOW]: { status: 500, body: {} },
    [TAGS]: {
      body: { models: [{ ...REMOTE_TAG, name: "other:latest", model: "other:latest" }, { name: "m:latest" }] },
    },
  },
  "a server that knows no path but its list": {
    [SHOW]: { status: 404, body: {} },
    [TAGS]: { status: 404, body: {} },
    [`${BASE}/models`]: { body: LIST },
  },
  "a server that wants a key for everything": {
    [SHOW]: { status: 401, body: {} },
    [TAGS]: { status: 401, body: {} },
    [`${BASE}/models`]: { status: 401, body: {} },
  },
  "a server that answers with a page": { [SHOW]: { body: "<html>" }, [`${BASE}/models`]: { body: "<html>" } },
};

for (const [name, answers] of Object.entries(HERE)) {
  Deno.test(`for ${name} the address decides`, async () => {
    assert.deepEqual((await localityOf(answers)).locality, { kind: "here" });
  });
}

const NO_WORD: Record<string, Record<string, StandInAnswer>> = {
  "nothing answers": { [SHOW]: "refused", [TAGS]: "refused", [`${BASE}/models`]: "refused" },
  "an Ollama with models elsewhere speaks of others only": {
    [TAGS]: { body: { models: [{ ...REMOTE_TAG, name: "other:latest", model: "other:latest" }] } },
  },
  "only the list answers": { [SHOW]: "refused", [TAGS]: "refused" },
  "the server fails at every question": {
    [SHOW]: { status: 503, body: {} },
    [TAGS]: { status: 503, body: {} },
    [`${BASE}/models`]: { status: 503, body: {} },
  },
  "the list does not answer, so that a gateway could stand there": { [`${BASE}/models`]: "refused" },
};

for (const [name, answers] of Object.entries(NO_WORD)) {
  Deno.test(`where ${name}, the model counts as remote, this time`, async () => {
    const { locality, cache, located, sent } = await localityOf(answers);
    // Advice on an entry helps nobody whose server is not there.
    const expected = name === "nothing answers" ? /^its server did not answer[^;]*$/ : /did not say.*local: true/;
    assert.match(locality.kind === "remote" ? locality.reason : "here", expected);
    const count = sent.length;
    await cache.of(located);
    assert.ok(sent.length > count, "doubt is not kept");
    assert.equal((await localityOf(answers, { trusted: true })).locality.kind, "here");
  });
}

Deno.test("a description and a list that contradict each other count as remote", async () => {
  const answers = { [SHOW]: { body: { details: {} } }, [TAGS]: { body: { models: [REMOTE_TAG] } } };
  assert.equal((await localityOf(answers)).locality.kind, "remote");
  assert.equal((await localityOf(answers, { trusted: true })).locality.kind, "remote");
});

Deno.test("a proxy before the server is a doubt, no locality", async () => {
  const { locality } = await localityOf({ [`${BASE}/models`]: { body: LIST, headers: { via: "1.1 Caddy" } } });
  assert.match(locality.kind === "here" ? locality.doubt ?? "" : "", /proxy/);
});

Deno.test("local: true speaks for a gateway, never for a cloud model", async () => {
  const litellm = { [`${BASE}/models`]: { body: LIST, headers: { "x-litellm-version": "1" } } };
  assert.equal((await localityOf(litellm, { trusted: true })).locality.kind, "here");
  assert.equal((await localityOf(litellm, { trusted: true, model: "x:cloud" })).locality.kind, "remote");
  const alias = { [SHOW]: { body: { remote_host: "https://ollama.com" } } };
  assert.equal((await localityOf(alias, { trusted: true })).locality.kind, "remote");
});

Deno.test("a locality is requested each time: the server may be another one", async () => {
  const { cache, located, sent } = await localityOf(HERE["an ordinary model of Ollama"] ?? {});
  const count = sent.length;
  await cache.of(located);
  assert.equal(sent.length, count * 2);
});

Deno.test("a response from elsewhere ends the proof for the address, for later sessions of the process too", async () => {
  const { cache, located, clock } = await localityOf({});
  assert.equal(cache.hear(located, { headers: new Map([["server", "uvicorn"]]), fields: { model: "m" } }), null);
  assert.equal((await cache.of(located)).kind, "here", "control");
  assert.match(cache.hear(located, { fields: { model: "x:120b-cloud" } }) ?? "", /is a cloud model/);
  const { client } = standInClient({ [SHOW]: { body: { details: {} } }, [`${BASE}/models`]: { body: LIST } });
  for (const trusted of [false, true]) {
    assert.equal((await new Localities(client, { clock }).of({ ...located, trusted })).kind, "remote");
  }
});

Deno.test("a response from elsewhere ends the proof for the server, however its address is written", async () => {
  const { cache, located } = await localityOf({});
  cache.hear(located, { fields: { model: "x:120b-cloud" } });
  const at = (baseUrl: string) => cache.of({ ...located, endpoint: endpointAt(baseUrl) });
  for (
    const baseUrl of [
      BASE,
      "http://localhost:9/v1",
      "http://[::1]:9/v1",
      "http://127.0.0.1:9",
      "https://localhost:9/v1",
    ]
  ) {
    const locality = await at(baseUrl);
    assert.match(locality.kind === "remote" ? locality.reason : "", /said in a response/, baseUrl);
  }
  const other = await at("http://127.0.0.1:10/v1");
  assert.doesNotMatch(other.kind === "remote" ? other.reason : "", /said in a response/, "control");
});

Deno.test("a gateway that is heard later takes nothing from what was heard of a model", async () => {
  const { cache, located } = await localityOf({});
  const trusted = { ...located, trusted: true };
  const gateway = { headers: new Map([["x-portkey-trace-id", "1"]]) };
  cache.hear(located, gateway);
  assert.equal((await cache.of(trusted)).kind, "here", "control");
  cache.hear(located, { fields: { model: "x:120b-cloud" } });
  cache.hear(located, gateway);
  assert.equal((await cache.of(trusted)).kind, "remote");
});

Deno.test("the user's word outweighs a gateway that a response reveals", async () => {
  const { cache, located } = await localityOf({});
  const answer = { headers: new Map([["x-portkey-trace-id", "1"]]) };
  assert.equal(cache.hear({ ...located, trusted: true }, answer), null);
  assert.match(cache.hear(located, answer) ?? "", /Portkey.*local: true/);
  assert.equal((await cache.of({ ...located, trusted: true })).kind, "here");
  assert.equal((await cache.of(located)).kind, "remote");
});

Deno.test("an address that is not local is elsewhere, whatever the server says", async () => {
  const { client } = standInClient({});
  const endpoint = endpointAt("http://10.0.0.1/v1", { local: false });
  const locality = await new Localities(client, { clock: manualClock() }).of({
    endpoint,
    model: "m",
    trusted: true,
  });
  assert.equal(locality.kind, "remote");
});

Deno.test("the question about a model holds its name and nothing else", async () => {
  const { sent } = await localityOf({});
  assert.equal(sent.find((request) => request.url === SHOW)?.body, '{"model":"m"}');
});
