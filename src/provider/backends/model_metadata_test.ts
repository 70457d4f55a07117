import assert from "node:assert/strict";
import { type Home, openHome } from "../../platform/home.ts";
import { readModelMetadata, storeModelMetadata } from "./model_metadata.ts";

const address = { baseUrl: "http://127.0.0.1:1/v1", model: "m" };
const HOUR = 3_600_000;

async function inHome(work: (home: Home) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempDir();
  try {
    await work(await openHome({ env: (name) => name === "AGENTCLI_HOME" ? `${path}/home` : undefined, os: "linux" }));
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

Deno.test("what was learnt of a model is known for a while, each part by its own age", async () => {
  await inHome(async (home) => {
    assert.deepEqual(await readModelMetadata(home, address, { now: 0 }), {});
    await storeModelMetadata(home, address, { facts: { window: 4096, server: "ollama" }, now: 1000 });
    await storeModelMetadata(home, address, { facts: { toolCalls: "text" }, now: 2000 });
    const all = { window: 4096, server: "ollama", toolCalls: "text" };
    assert.deepEqual(await readModelMetadata(home, address, { now: 3000 }), all);
    assert.deepEqual(await readModelMetadata(home, address, { now: HOUR }), { toolCalls: "text" });
    assert.deepEqual(await readModelMetadata(home, address, { now: 24 * 30 * HOUR }), {});
    assert.deepEqual(await readModelMetadata(home, { ...address, model: "other" }, { now: 3000 }), {});
  });
});

Deno.test("how calls have to be sent is known in every form, and a form of a later version is none", async () => {
  await inHome(async (home) => {
    for (const toolCalls of ["single", "no_system", "text"] as const) {
      await storeModelMetadata(home, address, { facts: { toolCalls, template: toolCalls }, now: 1 });
      assert.deepEqual(await readModelMetadata(home, address, { now: 2 }), { toolCalls, template: toolCalls });
    }
    await storeModelMetadata(home, address, { facts: { template: undefined }, now: 1 });
    assert.deepEqual(await readModelMetadata(home, address, { now: 2 }), { toolCalls: "text" });
    const text = await home.read("cache/servers.json") ?? "";
    await home.write("cache/servers.json", text.replace('"text"', '"other"'));
    assert.deepEqual(await readModelMetadata(home, address, { now: 2 }), {});
  });
});

Deno.test("a window can be forgotten, and that there is none can be known", async () => {
  await inHome(async (home) => {
    await storeModelMetadata(home, address, { facts: { window: null, server: null }, now: 1 });
    assert.deepEqual(await readModelMetadata(home, address, { now: 2 }), { window: null, server: null });
    await storeModelMetadata(home, address, { facts: { window: undefined }, now: 3 });
    assert.equal((await readModelMetadata(home, address, { now: 4 })).window, undefined);
  });
});

Deno.test("the file is the owner's alone, stays small, and damage to it is no error", async () => {
  await inHome(async (home) => {
    for (let at = 0; at < 205; at++) {
      await storeModelMetadata(home, { ...address, model: `m${at}` }, { facts: { window: 1000 + at }, now: at });
    }
    const file = "cache/servers.json";
    assert.equal((await home.status(file))?.mode, Deno.build.os === "windows" ? null : 0o600);
    assert.equal(Object.keys(JSON.parse(await home.read(file) ?? "").models).length, 200);
    assert.equal((await readModelMetadata(home, { ...address, model: "m204" }, { now: 204 })).window, 1204);
    assert.deepEqual(await readModelMetadata(home, { ...address, model: "m0" }, { now: 204 }), {});
    for (const damage of ["", "{", "[]", '{"layout":1,"models":{"a":5}}', '{"layout":99}']) {
      await home.write(file, damage);
      assert.deepEqual(await readModelMetadata(home, address, { now: 1 }), {});
    }
  });
});

Deno.test("sessions that learn at the same time keep each other's facts", async () => {
  await inHome(async (home) => {
    const models = Array.from({ length: 8 }, (_, at) => `m${at}`);
    await Promise.all(
      models.map((model) => storeModelMetadata(home, { ...address, model }, { facts: { window: 2048 }, now: 1 })),
    );
    for (const model of models) {
      assert.equal((await readModelMetadata(home, { ...address, model }, { now: 2 })).window, 2048);
    }
  });
});
