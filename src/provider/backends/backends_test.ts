import assert from "node:assert/strict";
import { RUNTIMES } from "../../config/base_url.ts";
import { engines } from "../../engine/table.ts";
import { backendOf, BACKENDS } from "./backends.ts";

Deno.test("ids and owners name one server each", () => {
  const ids = BACKENDS.filter(({ gateway }) => gateway === undefined).map(({ id }) => id);
  assert.deepEqual(ids, [...new Set(ids)]);
  const owners = BACKENDS.flatMap((backend) => backend.owners ?? []);
  assert.deepEqual(owners, [...new Set(owners)]);
  assert.ok(owners.every((owner) => owner === owner.toLowerCase()));
});

Deno.test("each server can be detected", () => {
  for (const { id, owners, shows, probe } of BACKENDS) {
    assert.ok(owners !== undefined || shows !== undefined || probe !== undefined, id);
  }
});

Deno.test("gateways are looked for first", () => {
  const last = BACKENDS.findLastIndex(({ gateway }) => gateway);
  assert.ok(BACKENDS.slice(0, last).every(({ gateway }) => gateway));
});

Deno.test("the words of servers for errors are regular expressions that match nothing empty", () => {
  for (const { id, errors } of BACKENDS) {
    for (const part of Object.values(errors ?? {}).flat()) assert.doesNotMatch("", new RegExp(part, "i"), id);
  }
});

Deno.test("runtimes and engines agree with the servers that they are", () => {
  const products: Record<string, string> = {
    runtime_a: "ollama",
    runtime_b: "lmstudio",
    runtime_c: "vllm",
    runtime_d: "llama.cpp",
    engine_e: "mini-sglang",
    studio_f: "unsloth",
  };
  for (const { id, port } of RUNTIMES) {
    assert.ok(backendOf(products[id] ?? null)?.ports.includes(port), id);
  }
  for (const { id, servers, preload } of engines()) {
    for (const server of servers) assert.ok(backendOf(server), `${id}: ${server}`);
    if (preload !== undefined) assert.ok(backendOf(preload)?.loadModel, id);
  }
});
