import assert from "node:assert/strict";
import { toolHome } from "../../tests/helpers/tool_home.ts";
import { AgentcliError } from "../errors.ts";
import { editProviders } from "./edit.ts";
import { loadConfiguration } from "./load.ts";

const modeOf = async (path: string) => (await Deno.stat(path)).mode! & 0o777; // these tests run where modes exist

Deno.test("a new file starts with the schema line and the version, and the schema lies beside it", async () => {
  await using place = await toolHome(null);
  const { before, after, existed, configuration } = await editProviders(place.home, (document) => {
    document.addProvider("a", { base_url: "http://h/v1", models: [] });
  });
  assert.equal(before, "");
  assert.equal(existed, false);
  assert.equal(configuration.providers[0]?.name, "a");
  const text = "# yaml-language-server: $schema=./providers.schema.json\nversion: 1\nproviders:\n  a:\n" +
    "    base_url: http://h/v1\n    models: []\n";
  assert.equal(after, text);
  assert.equal(await place.providers(), text);
  const schema = JSON.parse(await Deno.readTextFile(place.home.file("providers.schema.json")));
  assert.equal(schema.properties.default_model.type, "string");
  assert.equal(await modeOf(place.home.file("providers.yaml")), 0o600);
  assert.equal(await modeOf(place.home.path), 0o700);
});

Deno.test("a dry run gives both texts and touches nothing", async () => {
  await using place = await toolHome(null);
  const { after } = await editProviders(place.home, (document) => document.setSetting("default_model", "x"), {
    dryRun: true,
  });
  assert.match(after, /default_model: x/);
  await assert.rejects(Deno.stat(place.home.path));
});

Deno.test("a result that fails the check is not written, and the key path is named", async () => {
  const text = "providers:\n  a: { base_url: http://h/v1, models: [{ id: x, alias: f }, { id: y }] }\n";
  await using place = await toolHome(text);
  await assert.rejects(
    editProviders(place.home, (document) => void document.addModel("a", { id: "y", alias: "f" })),
    (error) => {
      assert(error instanceof AgentcliError && error.code === "config_invalid");
      assert.match(error.message, /^providers\.a\.models\[1\]\.alias: the alias f of y already stands for x$/);
      return true;
    },
  );
  assert.equal(await place.providers(), text);
});

Deno.test("a file that does not parse is never overwritten", async () => {
  for (const text of ["providers: [\n", "version: 2\n", "default_model: caf\xe9 \ufffd\n"]) {
    await using place = await toolHome(text);
    await assert.rejects(
      editProviders(place.home, (document) => document.setSetting("default_model", "x")),
      (error) => error instanceof AgentcliError && error.code === "config_invalid",
    );
    assert.equal(await place.providers(), text);
  }
});

Deno.test("a change that throws, or changes nothing, writes nothing", async () => {
  const text = "default_model: x\n";
  await using place = await toolHome(text);
  await assert.rejects(editProviders(place.home, () => {
    throw new Error("no");
  }));
  const { before, after } = await editProviders(place.home, (document) => document.setSetting("default_model", "x"));
  assert.equal(before, after);
  await assert.rejects(Deno.stat(place.home.file("providers.schema.json")));
});

Deno.test("the parsed copy goes with the edit", async () => {
  await using place = await toolHome("providers:\n  a: { base_url: http://h/v1, api_key: $KEY }\n");
  await Deno.utime(place.home.file("providers.yaml"), 1, 1);
  await loadConfiguration(place.home);
  assert.match(await Deno.readTextFile(place.home.file("cache/providers.json")), /\$KEY/);
  await editProviders(place.home, (document) => void document.removeProvider("a"));
  await assert.rejects(Deno.stat(place.home.file("cache/providers.json")), Deno.errors.NotFound);
});

Deno.test("twenty edits at once lose nothing", async () => {
  await using place = await toolHome("providers:\n  # kept\n  a: { base_url: http://h/v1 }\n");
  await Promise.all(
    Array.from(
      { length: 20 },
      (_, index) => editProviders(place.home, (document) => void document.addModel("a", { id: `m${index}` })),
    ),
  );
  const { providers } = await loadConfiguration(place.home);
  const ids = providers[0]?.models.map((model) => model.id).sort();
  assert.deepEqual(ids, Array.from({ length: 20 }, (_, index) => `m${index}`).sort());
  assert.match(await place.providers(), /# kept/);
});
