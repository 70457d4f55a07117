import assert from "node:assert/strict";
import { AgentcliError, type ErrorCode } from "../errors.ts";
import { effectiveBaseUrl } from "./base_url.ts";
import { endpointForCheck, isLiteralKey, keySource, keyVariables, resolveEndpoint } from "./endpoint.ts";
import { demoProvider } from "./find.ts";
import type { ProviderEntry } from "./types.ts";

function provider(more: Partial<ProviderEntry>): ProviderEntry {
  return { ...demoProvider(), name: "p", baseUrl: "http://localhost:1/v1", apiKey: undefined, ...more };
}
const REMOTE = "https://host.test/v1";
const env = (values: Record<string, string> = {}) => (name: string) => values[name];
const resolve = (more: Partial<ProviderEntry>, values: Record<string, string> = {}) =>
  resolveEndpoint(provider(more), { env: env(values), local: false });

async function refused(code: ErrorCode, work: Promise<unknown>): Promise<AgentcliError> {
  let caught: unknown;
  await assert.rejects(work, (error) => (caught = error, true));
  assert(caught instanceof AgentcliError, String(caught));
  assert.equal(caught.code, code);
  return caught;
}

Deno.test("keys come from a literal, a variable or a placeholder, as the field says", async () => {
  const cases: [Partial<ProviderEntry>, string | undefined, string][] = [
    [{}, "local", "local"],
    [{ apiKey: "local" }, "local", "local"],
    [{ apiKey: "local", baseUrl: REMOTE }, "local", "literal"],
    [{ apiKey: " sk-1 ", baseUrl: REMOTE }, "sk-1", "literal"],
    [{ apiKey: "$KEY", baseUrl: REMOTE }, "from env", "env:KEY"],
    [{ apiKey: "${KEY}", baseUrl: REMOTE }, "from env", "env:KEY"],
    [{ apiKey: "$$KEY", baseUrl: REMOTE }, "$KEY", "literal"],
    [{ apiKey: "none", baseUrl: REMOTE }, undefined, "none"],
  ];
  for (const [more, key, source] of cases) {
    const endpoint = await resolve(more, { KEY: "from env\n" });
    assert.deepEqual([endpoint.key, endpoint.keySource], [key, source]);
  }
});

Deno.test("a variable that is not set does not fall back, and the error names it", async () => {
  const unset = await refused("key_missing", resolve({ apiKey: "$MY_KEY" }));
  assert.equal(unset.exitCode, 5);
  assert.match(unset.message, /environment variable MY_KEY is not set/);
  const empty = await refused("key_missing", resolve({ apiKey: "$MY_KEY" }, { MY_KEY: " " }));
  assert.match(empty.message, /MY_KEY is empty/);
});

Deno.test("a key that cannot be sent is reported as that, by its source, and not shown", async () => {
  const error = await refused("key_missing", resolve({ apiKey: "$MY_KEY" }, { MY_KEY: "sk-sécret" }));
  assert.match(error.message, /^the key of p \(env:MY_KEY\) cannot be used: it contains characters/);
  const literal = await refused("key_missing", resolve({ apiKey: "sk-sécret", file: "/h/providers.yaml" }));
  assert.match(literal.message, /\(literal in \/h\/providers\.yaml\)/);
  assert.doesNotMatch(error.message + error.hint + literal.message, /cret/);
});

Deno.test("a remote provider without a key is refused, with what to write", async () => {
  const error = await refused("key_missing", resolve({ baseUrl: REMOTE }));
  assert.match(error.hint ?? "", /set-key p`.*none/);
  await refused("key_missing", resolve({ apiKey: "keyring" }));
});

Deno.test("studio_f without its key still gets the request, without a key", async () => {
  const endpoint = await resolve({ name: "studio_f", apiKey: "$STUDIO_F_API_KEY" });
  assert.equal(endpoint.key, undefined);
  assert.equal(endpoint.keySource, "env:STUDIO_F_API_KEY");
  const absent = await resolve({ name: "studio_f" });
  assert.equal(absent.key, undefined);
});

Deno.test("a key that a header cannot carry is refused and not shown", async () => {
  for (const bad of ["CANARY\nX-Evil: 1", "CANARY\u0000", "CAN\u2028ARY", "CANÄRY"]) {
    const error = await refused("key_missing", resolve({ apiKey: "$KEY" }, { KEY: bad }));
    assert.doesNotMatch(error.message + error.hint, /CAN/);
    await refused("key_missing", resolve({ name: "studio_f", apiKey: "$KEY" }, { KEY: bad }));
  }
});

Deno.test("the key source says where from, without the key", () => {
  assert.deepEqual(keySource(provider({ apiKey: "sk-CANARY" }), env()), { source: "literal" });
  assert.deepEqual(keySource(provider({ apiKey: "$X" }), env({ X: "sk-CANARY" })), { source: "env:X" });
  assert.deepEqual(keySource(provider({ apiKey: "$X" }), env()), {
    source: "env:X",
    problem: "environment variable X is not set",
  });
});

Deno.test("a literal key is distinguished from what only names one", () => {
  for (const literal of ["sk-1", "$$x", "$1", "a$B"]) assert.equal(isLiteralKey(literal), true, literal);
  for (const other of ["$X", "${X}", "local", "none", "keyring", "file", ""]) assert.equal(isLiteralKey(other), false);
  assert.deepEqual(keyVariables([{ apiKey: "$A" }, { apiKey: "${B}" }, { apiKey: "$A" }, {}, { apiKey: "x" }]), [
    "A",
    "B",
  ]);
});

Deno.test("STUDIO_F_BASE_URL overrides the address of studio_f alone", () => {
  const values = env({ STUDIO_F_BASE_URL: "http://localhost:9000/v1/" });
  assert.equal(effectiveBaseUrl(provider({ name: "studio_f" }), values), "http://localhost:9000/v1");
  assert.equal(effectiveBaseUrl(provider({}), values), "http://localhost:1/v1");
  assert.throws(
    () => effectiveBaseUrl(provider({ name: "studio_f" }), env({ STUDIO_F_BASE_URL: "http://u:CANARY@h/v1" })),
    (error) => error instanceof AgentcliError && error.code === "config_invalid" && !error.message.includes("CANARY"),
  );
});

Deno.test("an overriding address decides whether the placeholder applies", () => {
  const values = env({ STUDIO_F_BASE_URL: "https://elsewhere.test/v1" });
  assert.equal(keySource(provider({ name: "studio_f", apiKey: "local" }), values).source, "literal");
});

Deno.test("an own certificate is read from its file; anything else there is refused", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const caFile = `${directory}/ca.pem`;
    await refused("config_invalid", resolve({ caFile }));
    await Deno.writeTextFile(caFile, "no certificate");
    await refused("config_invalid", resolve({ caFile }));
    await refused("config_invalid", resolve({ caFile: directory }));
    const pem = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
    await Deno.writeTextFile(caFile, pem);
    assert.deepEqual((await resolve({ caFile })).caCerts, [pem]);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("a check gets the endpoint without a key where a call would be refused", async () => {
  const endpoint = await endpointForCheck(provider({ apiKey: "$GONE" }), { env: env(), local: true });
  assert.deepEqual([endpoint.key, endpoint.keySource, endpoint.local], [undefined, "env:GONE", true]);
});
