import assert from "node:assert/strict";
import { AgentcliError, type ErrorCode } from "../errors.ts";
import { emptyConfiguration } from "./load.ts";
import { parseConfiguration } from "./parse.ts";
import { selectForRole, selectModel, type ServedModels, type WantedModel } from "./select.ts";
import type { Configuration } from "./types.ts";

const configure = (text: string) => parseConfiguration(text, "/providers.yaml");
const notAsked: ServedModels = () => Promise.reject(new Error("the server was asked"));
const serves = (...ids: string[]): ServedModels => () => Promise.resolve(ids);
const silent: ServedModels = () => Promise.resolve(null);

/** The selection as `provider:model (source)`. */
async function chosen(configuration: Configuration, wanted: WantedModel = {}, served = notAsked): Promise<string> {
  const selection = await selectModel(configuration, wanted, served);
  return `${selection.provider.name}:${selection.model.id} (${selection.source})`;
}

async function refused(code: ErrorCode, work: Promise<unknown>): Promise<AgentcliError> {
  let caught: unknown;
  await assert.rejects(work, (error) => (caught = error, true));
  assert(caught instanceof AgentcliError, String(caught));
  assert.equal(caught.code, code, caught.message);
  return caught;
}

const one = (name: string, models: string) => `  ${name}: { base_url: http://localhost:1/v1, models: ${models} }\n`;
const TWO = "providers:\n" + one("a", '[{ id: "qwen3:8b", alias: fast }, { id: big, role: main }]') +
  one("b", '[{ id: solo, alias: [s, "x:y"] }]') + one("empty", "[]");

Deno.test("--model names provider and model; ids with colons are whole", async () => {
  const configuration = configure(TWO);
  assert.equal(await chosen(configuration, { option: "a:qwen3:8b" }), "a:qwen3:8b (--model)");
  assert.equal(await chosen(configuration, { option: "a:fast" }), "a:qwen3:8b (--model)");
  assert.equal(await chosen(configuration, { option: "b:x:y" }), "b:solo (--model)");
});

Deno.test("a provider alone gives its model of role main, else its only one", async () => {
  const configuration = configure(TWO);
  assert.equal(await chosen(configuration, { option: "a" }), "a:big (--model)");
  assert.equal(await chosen(configuration, { option: "b" }), "b:solo (--model)");
  const error = await refused("no_model", chosen(configuration, { option: "empty" }, silent));
  assert.match(error.hint ?? "", /--model empty:<model>/);
});

Deno.test("where no model is configured the choices are what the servers have", async () => {
  const configuration = configure(TWO);
  const named = await refused("no_model", chosen(configuration, { option: "empty" }, serves("big", "small")));
  assert.match(named.message, /^which model of empty\? it serves: big, small$/);
  assert.match(named.hint ?? "", /--model empty:big/);
  assert.equal(await chosen(configuration, { option: "empty" }, serves("big")), "empty:big (--model)");
  const alone = configure("providers:\n" + one("a", "[]"));
  assert.equal(await chosen(alone, {}, serves("big")), "a:big (only provider)");
  await refused("no_model", chosen(alone, {}, serves("big", "small")));
  const empty = configure("providers:\n" + one("a", "[]") + one("b", "[]"));
  const served: ServedModels = ({ name }) => Promise.resolve(name === "a" ? null : ["big", "small"]);
  const none = await refused("no_model", chosen(empty, {}, served));
  assert.match(none.message, /available: b:big, b:small$/);
  assert.equal(none.hint, "name one: --model b:big");
  const mute = await refused("no_model", chosen(empty, {}, silent));
  assert.match(mute.message, /available: a, b$/);
});

Deno.test("roles.main wins over the role of an entry", async () => {
  const configuration = configure("roles: { main: a:fast }\n" + TWO);
  assert.equal(await chosen(configuration), "a:qwen3:8b (roles.main)");
  assert.equal(await chosen(configuration, { option: "a" }), "a:qwen3:8b (--model)");
});

Deno.test("the first that is set decides: option, variable, defaults, roles.main", async () => {
  const configuration = configure("default_provider: b\nroles: { main: a:big }\n" + TWO);
  assert.equal(await chosen(configuration, { option: "a", environment: "b" }), "a:big (--model)");
  assert.equal(await chosen(configuration, { environment: "a:fast" }), "a:qwen3:8b (AGENTCLI_MODEL)");
  assert.equal(await chosen(configuration, { environment: "" }), "b:solo (default)");
});

Deno.test("defaults: both, the provider alone, the model alone", async () => {
  assert.equal(await chosen(configure("default_provider: a\ndefault_model: fast\n" + TWO)), "a:qwen3:8b (default)");
  assert.equal(await chosen(configure("default_provider: b\n" + TWO)), "b:solo (default)");
  assert.equal(await chosen(configure("default_model: s\n" + TWO)), "b:solo (default)");
});

Deno.test("a default model alone may name its provider, unless a model is called that", async () => {
  const selector = "default_model: a:served\nproviders:\n" + one("a", "[{ id: x }]") + one("b", "[{ id: y }]");
  assert.equal(await chosen(configure(selector), {}, serves("served")), "a:served (default)");
  await refused("unknown_model", chosen(configure(selector), {}, serves("other")));
  const ambiguous = "default_model: a:x\nproviders:\n" + one("a", "[{ id: x }]") + one("b", '[{ id: "a:x" }]');
  assert.equal(await chosen(configure(ambiguous)), "b:a:x (default)");
  const stranger = "default_model: c:x\nproviders:\n" + one("a", "[{ id: x }]");
  await refused("unknown_model", chosen(configure(stranger), {}, serves("x")));
});

Deno.test("a default model that names its provider overrides the default provider, unless that one has it", async () => {
  const two = "providers:\n" + one("a", "[{ id: x }]") + one("b", "[{ id: y, alias: quick }]");
  assert.equal(await chosen(configure("default_provider: a\ndefault_model: b:quick\n" + two)), "b:y (default)");
  const own = "providers:\n" + one("a", '[{ id: "b:y" }]') + one("b", "[{ id: y }]");
  assert.equal(await chosen(configure("default_provider: a\ndefault_model: b:y\n" + own)), "a:b:y (default)");
  const stranger = configure("default_provider: a\ndefault_model: c:x\n" + two);
  assert.equal(await chosen(stranger, {}, serves("c:x")), "a:c:x (default)");
});

Deno.test("a default model that two providers have is refused and both are named", async () => {
  const text = "default_model: same\nproviders:\n" + one("a", "[{ id: same }]") + one("b", "[{ id: x, alias: same }]");
  const error = await refused("unknown_model", chosen(configure(text)));
  assert.match(error.message, /a, b/);
});

Deno.test("with nothing set the only provider that has models is used", async () => {
  const text = "providers:\n" + one("studio_f", "[]") + one("b", "[{ id: solo }]");
  assert.equal(await chosen(configure(text)), "b:solo (only provider)");
  const error = await refused("no_model", chosen(configure(TWO)));
  assert.match(error.message, /a:qwen3:8b, a:big, b:solo/);
});

Deno.test("nothing configured says how to start", async () => {
  const error = await refused("no_provider", chosen(emptyConfiguration("/providers.yaml")));
  assert.match(error.hint ?? "", /init-providers/);
});

Deno.test("demo is always there and never chosen by itself", async () => {
  const empty = emptyConfiguration("/providers.yaml");
  assert.equal(await chosen(empty, { option: "demo" }), "demo:demo (--model)");
  assert.equal(await chosen(empty, { option: "demo:demo" }), "demo:demo (--model)");
  await refused("unknown_model", chosen(empty, { option: "demo:other" }));
});

Deno.test("an id is looked up before an alias", async () => {
  const text = "providers:\n" + one("a", "[{ id: x, alias: [y] }, { id: z }]");
  const configuration = configure(text);
  configuration.providers[0]?.models.push({ id: "y", aliases: [] });
  assert.equal(await chosen(configuration, { option: "a:y" }), "a:y (--model)");
});

Deno.test("a name that is not configured is looked up on the server", async () => {
  const configuration = configure(TWO);
  assert.equal(await chosen(configuration, { option: "empty:new" }, serves("old", "new")), "empty:new (--model)");
  const error = await refused("unknown_model", chosen(configuration, { option: "a:bgi" }, serves("big", "other")));
  assert.match(error.message, /qwen3:8b, fast, big, other/);
  assert.match(error.hint ?? "", /did you mean big/);
});

Deno.test("the error for an unknown default_model lists the choices with their providers and suggests an alias", async () => {
  const one = (name: string) => `  ${name}: { base_url: "http://h/v1", models: [{ id: x, alias: coder }] }\n`;
  const text = (model: string) => `default_model: ${model}\nproviders:\n${one("a")}${one("b")}`;
  const error = await refused("unknown_model", chosen(configure(text("codr")), {}));
  assert.match(error.message, /available: a:x, b:x$/);
  assert.equal(error.hint, "did you mean coder?");
  assert.match((await refused("unknown_model", chosen(configure(text("other")), {}))).hint ?? "", /default_provider/);
});

Deno.test("a server that cannot say is sent the name, with a warning", async () => {
  const { model, warning } = await selectModel(configure(TWO), { option: "empty:new" }, silent);
  assert.equal(model.id, "new");
  assert.match(warning ?? "", /empty .*new/);
});

Deno.test("each kind of mistake is answered with the nearest name", async () => {
  const configuration = configure(TWO);
  await refused("usage", chosen(configuration, { option: "" }));
  await refused("usage", chosen(configuration, { option: "a:" }));
  await refused("usage", chosen(configuration, { option: ":x" }));
  const typo = await refused("unknown_provider", chosen(configuration, { option: "emtpy:x" }));
  assert.match(typo.hint ?? "", /did you mean empty/);
  const slash = await refused("unknown_provider", chosen(configuration, { option: "empty/qwen3:8b" }));
  assert.equal(slash.hint, "join provider and model with a colon: empty:qwen3:8b");
  const shared = configure(TWO + one("c", '[{ id: "qwen3:8b" }]'));
  const either = await refused("unknown_provider", chosen(shared, { environment: "qwen3:8b" }));
  assert.equal(either.hint, "did you mean a:qwen3:8b or c:qwen3:8b?");
});

Deno.test("a model named without its provider is answered with the nearest selectors, and with how to name it", async () => {
  const file = "/models/Qwen3-4B-Q4_K_M.gguf";
  const ids = ["qwen3:8b", "llama3.2:3b", file].map((id) => `{ id: "${id}" }`).join(", ");
  const configuration = configure("providers:\n" + one("runtime_a", `[${ids}]`));
  const hint = async (option: string) => (await refused("unknown_provider", chosen(configuration, { option }))).hint;
  assert.equal(await hint("qwen3:9b"), "did you mean qwen3:8b?");
  assert.equal(await hint("Qwen3-4B-Q4"), "did you mean Qwen3-4B-Q4_K_M?");
  assert.equal(await chosen(configuration, { option: "Qwen3-4B-Q4_K_M" }), `runtime_a:${file} (--model)`);
  assert.equal(await hint("ollam"), "did you mean ollama?");
  assert.equal(await hint("ollama/new:1b"), "join provider and model with a colon: ollama:new:1b");
  assert.match(await hint("new:1b") ?? "", /a model is named with its provider: runtime_a:new:1b$/);
});

Deno.test("a model that one provider alone has can be named without it, by id or alias", async () => {
  assert.equal(await chosen(configure(TWO), { option: "solo" }), "b:solo (--model)");
  assert.equal(await chosen(configure(TWO), { environment: "qwen3:8b" }), "a:qwen3:8b (AGENTCLI_MODEL)");
  const taken = configure(TWO + one("solo", "[{ id: other }]"));
  assert.equal(await chosen(taken, { option: "solo" }), "solo:other (--model)");
});

Deno.test("a server's own name stands for its id, unless a provider has that name", async () => {
  const seeded = "providers:\n" + one("runtime_a", "[{ id: x }]") + one("runtime_d", "[{ id: y }]");
  const configuration = configure(seeded);
  for (const name of ["ollama", "Ollama"]) {
    assert.equal(await chosen(configuration, { option: name }), "runtime_a:x (--model)");
  }
  assert.equal(await chosen(configuration, { option: "llama.cpp:y" }), "runtime_d:y (--model)");
  assert.equal(await chosen(configure(`default_provider: llamacpp\n${seeded}`), {}), "runtime_d:y (default)");
  const own = configure(seeded + one("ollama", "[{ id: mine }]"));
  assert.equal(await chosen(own, { option: "ollama" }), "ollama:mine (--model)");
  const absent = await refused("unknown_provider", chosen(configuration, { option: "vllm:z" }));
  assert.match(absent.hint ?? "", /vLLM \(runtime_c\) is not configured/);
});

Deno.test("side work goes to the model of the role, else to nobody else", async () => {
  const configuration = configure(
    "roles: { compact: b:s }\nproviders:\n" + one("a", "[{ id: x, role: subagent }]") +
      one("b", "[{ id: solo, alias: s }]"),
  );
  const session = configuration.providers[0]!; // the first of the two above
  const role = async (name: "compact" | "subagent", from = session) => {
    const found = await selectForRole(configuration, name, { session: from, servedModels: notAsked });
    return found && `${found.provider.name}:${found.model.id}`;
  };
  assert.equal(await role("compact"), "b:solo");
  assert.equal(await role("subagent"), "a:x");
  assert.equal(await role("subagent", configuration.providers[1]), null);
});

Deno.test("where nothing else decides, a resumed session keeps its own model at its own provider", async () => {
  const session = (provider: string, model: string) => ({ session: () => Promise.resolve({ provider, model }) });
  const shared = configure(TWO + one("c", "[{ id: solo }]"));
  assert.equal(await chosen(shared, session("c", "solo")), "c:solo (session)");
  assert.equal(await chosen(shared, session("empty", "d:8b"), serves("d:8b")), "empty:d:8b (session)");
  assert.equal(await chosen(shared, session("empty", "d:8b"), silent), "empty:d:8b (session)");
  await refused("unknown_model", chosen(shared, session("empty", "gone"), serves("d:8b")));
  // Another provider than its own only where that is clear.
  assert.equal(await chosen(configure(TWO), session("c", "solo")), "b:solo (session)");
});

Deno.test("of a session that names no provider, one provider alone must have the model", async () => {
  const session = (model: string) => ({ session: () => Promise.resolve({ model }) });
  const never = { session: () => Promise.reject(new Error("the session was asked")) };
  const two = configure(TWO);
  assert.equal(await chosen(two, session("solo")), "b:solo (session)");
  assert.equal(await chosen(emptyConfiguration("/providers.yaml"), session("demo")), "demo:demo (session)");
  assert.equal(await chosen(two, { option: "a", ...never }), "a:big (--model)");
  assert.equal(await chosen(configure("default_provider: a\n" + TWO), never), "a:big (default)");
  await refused("no_model", chosen(two, session("gone")));
  await refused("no_model", chosen(configure(TWO + one("c", "[{ id: solo }]")), session("solo")));
  await refused("no_provider", chosen(emptyConfiguration("/providers.yaml"), session("gone")));
});
