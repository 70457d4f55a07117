import assert from "node:assert/strict";
import { toolHome } from "../../tests/helpers/tool_home.ts";
import { AgentcliError } from "../errors.ts";
import { loadConfiguration } from "./load.ts";

const text = (model: string) => `providers:\n  a:\n    base_url: http://h/v1\n    models: [{ id: ${model} }]\n`;
const CACHE = "cache/providers.json";

/** Sets the time of the file into the past: a file that was just written is not copied yet. */
async function settle(path: string, seconds = 1_700_000_000): Promise<void> {
  await Deno.utime(path, seconds, seconds);
}

Deno.test("no file is an empty configuration, and nothing is written", async () => {
  await using place = await toolHome(null);
  const configuration = await loadConfiguration(place.home);
  assert.equal(configuration.exists, false);
  assert.deepEqual(configuration.providers, []);
  await assert.rejects(Deno.stat(place.home.path));
});

Deno.test("an unchanged file is read from the copy, and the copy gives the same configuration", async () => {
  await using place = await toolHome(text("first"));
  await settle(place.home.file("providers.yaml"));
  const parsed = await loadConfiguration(place.home);
  const copy = JSON.parse(await Deno.readTextFile(place.home.file(CACHE)));
  assert.equal((await Deno.stat(place.home.file(CACHE))).mode! & 0o777, 0o600); // this test runs where modes exist
  assert.deepEqual(JSON.parse(JSON.stringify(await loadConfiguration(place.home))), JSON.parse(JSON.stringify(parsed)));
  copy.configuration.providers[0].models[0].id = "from the copy";
  await place.home.write(CACHE, JSON.stringify(copy));
  assert.equal((await loadConfiguration(place.home)).providers[0]?.models[0]?.id, "from the copy");
});

Deno.test("a file that may hold a key is not copied, and what an earlier version copied of it goes", async () => {
  const entries = [
    "base_url: http://h/v1, api_key: sk-CANARY",
    "base_url: http://h/v1, headers: { authorization: CANARY }",
  ];
  const files = entries.map((entry) => `providers:\n  a: { ${entry} }\n`);
  for (const file of [...files, "engines:\n  e: { command: [x], env: { HF_TOKEN: CANARY } }\n"]) {
    await using place = await toolHome(file);
    await settle(place.home.file("providers.yaml"));
    await place.home.write(CACHE, "{ CANARY }");
    await loadConfiguration(place.home);
    await assert.rejects(Deno.stat(place.home.file(CACHE)), Deno.errors.NotFound, file);
  }
});

Deno.test("a changed file is parsed again, also when size and time are the same", async () => {
  await using place = await toolHome(text("first"));
  const path = place.home.file("providers.yaml");
  await settle(path);
  await loadConfiguration(place.home);
  await place.home.write("providers.yaml", text("other"));
  await settle(path);
  assert.equal((await loadConfiguration(place.home)).providers[0]?.models[0]?.id, "other");
});

Deno.test("a damaged copy, or one of another layout, is ignored", async () => {
  await using place = await toolHome(text("first"));
  const path = place.home.file("providers.yaml");
  await settle(path);
  await loadConfiguration(place.home);
  const good = JSON.parse(await Deno.readTextFile(place.home.file(CACHE)));
  const changed = [
    "",
    "{",
    "null",
    "[]",
    JSON.stringify({ ...good, layout: 0 }),
    JSON.stringify({ ...good, configuration: null }),
    JSON.stringify({ ...good, configuration: { ...good.configuration, providers: {} } }),
  ];
  for (const damaged of changed) {
    await place.home.write(CACHE, damaged);
    assert.equal((await loadConfiguration(place.home)).providers[0]?.models[0]?.id, "first", damaged);
  }
});

Deno.test("the copy goes when the file is gone: it may hold keys", async () => {
  await using place = await toolHome(text("first"));
  await settle(place.home.file("providers.yaml"));
  await loadConfiguration(place.home);
  await Deno.remove(place.home.file("providers.yaml"));
  assert.equal((await loadConfiguration(place.home)).exists, false);
  await assert.rejects(Deno.stat(place.home.file(CACHE)), Deno.errors.NotFound);
});

Deno.test("a file that others may read is tightened, copy or not", async () => {
  await using place = await toolHome(text("first"));
  const path = place.home.file("providers.yaml");
  await settle(path);
  await loadConfiguration(place.home);
  await Deno.chmod(path, 0o644);
  await loadConfiguration(place.home);
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600); // this test runs where modes exist
});

Deno.test("a broken file is an error each time, and is left alone", async () => {
  const broken = "providers: [\n";
  await using place = await toolHome(broken);
  for (let attempt = 0; attempt < 2; attempt++) {
    await assert.rejects(
      loadConfiguration(place.home),
      (error) => error instanceof AgentcliError && error.code === "config_invalid",
    );
  }
  assert.equal(await place.providers(), broken);
});

Deno.test("a directory in place of the file is an unusable home", async () => {
  await using place = await toolHome("");
  await Deno.remove(place.home.file("providers.yaml"));
  await Deno.mkdir(place.home.file("providers.yaml"));
  await assert.rejects(
    loadConfiguration(place.home),
    (error) => error instanceof AgentcliError && error.code === "home_unusable",
  );
});
