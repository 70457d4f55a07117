import assert from "node:assert/strict";
import { endpointAt, type StandInAnswer, standInDoor } from "../../tests/helpers/stand_in_door.ts";
import { AgentcliError } from "../errors.ts";
import { namesCloudModel, openPlacements, type Placement, requireHere } from "./placement.ts";

const BASE = "http://127.0.0.1:9/v1";
const SHOW = "http://127.0.0.1:9/api/show";
const TAGS = "http://127.0.0.1:9/api/tags";
const REMOTE_TAG = { name: "M:latest", model: "m:latest", remote_host: "https://ollama.com:443", remote_model: "m" };
const LIST = { object: "list", data: [{ id: "m", object: "model", owned_by: "library" }] };

async function placementOf(answers: Record<string, StandInAnswer>, more: { model?: string; trusted?: boolean } = {}) {
  const { door, sent } = standInDoor(answers);
  const placements = openPlacements(door, { monotonic: () => 0 });
  const placed = { endpoint: endpointAt(BASE), model: more.model ?? "m", trusted: more.trusted ?? false };
  return { verdict: await placements.of(placed), placements, placed, sent };
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
    const { verdict, sent } = await placementOf({}, { model });
    assert.equal(verdict.kind, "elsewhere");
    assert.match(verdict.kind === "elsewhere" ? verdict.reason : "", new RegExp(model));
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
      /service on the net/,
    ]]),
  ),
  "headers of a service": [{ [`${BASE}/models`]: { body: LIST, headers: { "cf-ray": "8f1" } } }, /service on the net/],
};

for (const [name, [answers, reason]] of Object.entries(ELSEWHERE)) {
  Deno.test(`behind a loopback address, ${name} counts as remote, with the reason`, async () => {
    const { verdict } = await placementOf(answers);
    assert.match(verdict.kind === "elsewhere" ? verdict.reason : "here", reason);
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
  "a server that refuses everything": {},
  "a server that answers with a page": { [SHOW]: { body: "<html>" }, [`${BASE}/models`]: { body: "<html>" } },
};

for (const [name, answers] of Object.entries(HERE)) {
  Deno.test(`for ${name} the address decides`, async () => {
    assert.deepEqual((await placementOf(answers)).verdict, { kind: "here" });
  });
}

Deno.test("a proxy before the server is a doubt, no verdict", async () => {
  const { verdict } = await placementOf({ [`${BASE}/models`]: { body: LIST, headers: { via: "1.1 Caddy" } } });
  assert.match(verdict.kind === "here" ? verdict.doubt ?? "" : "", /proxy/);
});

Deno.test("local: true speaks for a gateway, never for a cloud model", async () => {
  const litellm = { [`${BASE}/models`]: { body: LIST, headers: { "x-litellm-version": "1" } } };
  assert.equal((await placementOf(litellm, { trusted: true })).verdict.kind, "here");
  assert.equal((await placementOf(litellm, { trusted: true, model: "x:cloud" })).verdict.kind, "elsewhere");
  const alias = { [SHOW]: { body: { remote_host: "https://ollama.com" } } };
  assert.equal((await placementOf(alias, { trusted: true })).verdict.kind, "elsewhere");
});

Deno.test("a verdict is asked for once, and again when the connection failed", async () => {
  const { placements, placed, sent } = await placementOf(HERE["an ordinary model of Ollama"] ?? {});
  const count = sent.length;
  await placements.of(placed);
  assert.equal(sent.length, count);
  placements.forget(BASE);
  await placements.of(placed);
  assert.equal(sent.length, count * 2);
});

Deno.test("an address that is not local is elsewhere, whatever the server says", async () => {
  const { door } = standInDoor({});
  const endpoint = endpointAt("http://10.0.0.1/v1", { local: false });
  const verdict = await openPlacements(door, { monotonic: () => 0 }).of({ endpoint, model: "m", trusted: true });
  assert.equal(verdict.kind, "elsewhere");
});

Deno.test("the question about a model holds its name and nothing else", async () => {
  const { sent } = await placementOf({});
  assert.equal(sent.find((request) => request.url === SHOW)?.body, '{"model":"m"}');
});

Deno.test("a refusal names the reason, what stays, and the way on", () => {
  const placement: Placement = { kind: "elsewhere", reason: "x:cloud is a cloud model by its name" };
  assert.throws(
    () => requireHere(placement, { provider: "runtime_a", what: ".env (.agentclisecret:1 no-cloud: .env)" }),
    (error: AgentcliError) =>
      error.exitCode === 6 && /x:cloud.*\.env.*:1/.test(error.message) && error.hint !== undefined,
  );
  requireHere({ kind: "here" }, { provider: "runtime_a", what: ".env" });
});
