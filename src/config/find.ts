/** Finds providers and models by selector, and builds the errors that list the choices. */
import { AgentcliError } from "../errors.ts";
import { providerLabel, type Runtime, runtimeCalled, RUNTIMES, STUDIO } from "./base_url.ts";
import { askWhich, didYouMean } from "./suggest.ts";
import type { Configuration, ModelEntry, ProviderEntry } from "./types.ts";

/** Valid provider names. No colon: the selector is split there. */
export const PROVIDER_NAME = /^[a-z0-9][a-z0-9_.-]{0,63}$/;
export const PROVIDER_NAME_RULE =
  "lowercase letters, digits, `_`, `.` and `-`, at most 64, starting with a letter or digit";

/** The scripted stand-in that is always there and never chosen by itself. */
export const DEMO = "demo";

export interface Selector {
  provider: string;
  /** A model id or an alias. */
  model?: string;
}

/** Splits at the first colon: model ids contain colons (`qwen3:8b`). Null when one side is empty. */
export function splitSelector(text: string): Selector | null {
  const colon = text.indexOf(":");
  if (colon < 0) return text === "" ? null : { provider: text };
  const provider = text.slice(0, colon);
  const model = text.slice(colon + 1);
  return provider === "" || model === "" ? null : { provider, model };
}

/** Like {@link splitSelector}, for what a person typed: `usage` says where (`--model`) and what is wrong. */
export function readSelector(text: string, where: string): Selector {
  const selector = splitSelector(text.trim());
  if (selector) return selector;
  throw new AgentcliError("usage", `${where}: expected <provider>[:<model or alias>]`, {
    hint: "for example runtime_a:qwen3:8b; `agentcli providers list` shows what is configured",
  });
}

/** Names shown in a list before the rest is counted. */
const LIST_LIMIT = 20;

/** The names in one line, long lists and names cut. */
export function listed(names: readonly string[], most = LIST_LIMIT): string {
  if (names.length === 0) return "none";
  const more = names.length > most ? ` and ${names.length - most} more` : "";
  return names.slice(0, most).map((name) => name.slice(0, 200)).join(", ") + more;
}

/** The built-in provider of `--model demo`; its address is filled in when the stand-in server runs. */
export function demoProvider(): ProviderEntry {
  return {
    name: DEMO,
    baseUrl: "http://127.0.0.1/v1",
    apiKey: "none",
    models: [{ id: DEMO, aliases: [], images: false }],
    headers: {},
    timeout: { connect: 10, firstByte: 600, idle: 300 },
    local: false,
  };
}

/** `no_provider`, with how to get one. */
export function nothingConfigured(): AgentcliError {
  return new AgentcliError("no_provider", "no provider is configured", {
    hint: "run `agentcli init-providers`, or try `--model demo`",
  });
}

/** The configured provider of that name, else the one of the server with that name (`ollama` for `runtime_a`). */
export function configuredProvider({ providers }: Configuration, name: string): ProviderEntry | undefined {
  const id = runtimeCalled(name);
  return providers.find((provider) => provider.name === name) ??
    (id === undefined ? undefined : providers.find((provider) => provider.name === id));
}

/** Returns the command that adds a running server: discovery asks only some of them. */
function addingCommand({ id, probed, baseUrl, apiKey }: Runtime): string {
  if (probed) return "agentcli init-providers";
  return `agentcli providers add ${id} --base-url ${baseUrl} --api-key ${apiKey} --model <model>`;
}

/**
 * The provider of that name. `unknown_provider` lists the choices; `selector` is what a person named, if it was a
 * model.
 */
export function findProvider(
  configuration: Configuration,
  name: string,
  selector?: Pick<Selector, "model">,
): ProviderEntry {
  const model = selector?.model;
  const found = configuredProvider(configuration, name);
  if (found) return found;
  if (name === DEMO) return demoProvider();
  const runtime = RUNTIMES.find(({ id }) => id === name || id === runtimeCalled(name));
  const names = configuration.providers.map((provider) => provider.name);
  const products = RUNTIMES.filter((known) => names.includes(known.id)).flatMap(({ aliases }) => aliases);
  // A model id in place of the provider is the likeliest slip: `--model qwen3:8b` for `runtime_a:qwen3:8b`.
  const id = model === undefined ? name : `${name}:${model}`;
  const models = configuration.providers.flatMap((provider) =>
    provider.models.flatMap((entry) => [entry.id, ...entry.aliases, modelName(entry.id)])
  );
  const owners = configuration.providers.filter((provider) => findModel(provider, id) !== undefined);
  // Other tools write `provider/model`.
  const before = [...names, ...products].find((known) => id.startsWith(`${known}/`));
  const meant = before
    ? `join provider and model with a colon: ${before}:${id.slice(before.length + 1)}`
    : owners.length > 0
    ? askWhich(owners.slice(0, 3).map((owner) => `${owner.name}:${id}`))
    : runtime?.id === STUDIO.id
    ? `\`agentcli init-providers\` adds it once it runs here or ${STUDIO.keyVariable} is set`
    : runtime !== undefined
    ? `${providerLabel(runtime.id)} is not configured: start it, then run \`${addingCommand(runtime)}\``
    : didYouMean(name, [...names, ...products, DEMO]) ?? didYouMean(id, models);
  // A name without a provider may have been meant as a model of any.
  const unknown = selector !== undefined && model === undefined && names.length > 0
    ? `no provider or configured model is called ${name}`
    : `unknown provider ${name}`;
  throw new AgentcliError("unknown_provider", `${unknown}; configured: ${listed(names)}`, {
    hint: meant ??
      (selector === undefined || names[0] === undefined
        ? "see `agentcli providers list`; add one with `agentcli providers add`"
        : `see \`agentcli providers list\`; a model is named with its provider: ${names[0]}:${id}`),
  });
}

/** Returns the id of a model in a length that fits a line: of a file, its name. */
export function modelName(id: string): string {
  if (!/^(?:[\\/~]|[A-Za-z]:[\\/])|\.gguf$/i.test(id)) return id;
  const name = id.replace(/^.*[\\/](?=.)/s, "").replace(/(?:-\d{5}-of-\d{5})?\.gguf$/i, "");
  return name === "" ? id : name;
}

/** Like {@link findProvider}, for edits and checks: the built-in demonstration is not among the configured ones. */
export function findConfigured(configuration: Configuration, name: string): ProviderEntry {
  if (name === DEMO) {
    throw new AgentcliError("unknown_provider", `${DEMO} is built in and cannot be changed or checked`, {
      hint: "it needs no server; use it with --model demo",
    });
  }
  return findProvider(configuration, name);
}

/** Returns the configured model of that id, else of that alias, else of the name of its file. */
export function findModel({ models }: ProviderEntry, name: string): ModelEntry | undefined {
  return models.find(({ id }) => id === name) ?? models.find(({ aliases }) => aliases.includes(name)) ??
    models.find(({ id }) => modelName(id) === name);
}

/**
 * Returns what the defaults name together; null without a default provider. A default model that names its own provider
 * takes precedence over it, unless one of its models has that very name.
 */
export function defaultSelector(configuration: Configuration): Selector | null {
  const { defaultProvider, defaultModel: model } = configuration;
  if (defaultProvider === undefined) return null;
  const provider = configuredProvider(configuration, defaultProvider);
  const own = { provider: provider?.name ?? defaultProvider, model };
  if (model === undefined || provider !== undefined && findModel(provider, model) !== undefined) return own;
  const named = splitSelector(model);
  const other = named?.model === undefined ? undefined : configuredProvider(configuration, named.provider);
  return other === undefined ? own : { provider: other.name, model: named?.model };
}

/** `unknown_model`, with the choices. */
export function unknownModel(
  provider: ProviderEntry,
  { name, names }: { name: string; names: readonly string[] },
): AgentcliError {
  return new AgentcliError(
    "unknown_model",
    `${providerLabel(provider.name)} has no model ${name}; it has: ${listed(names)}`,
    {
      hint: didYouMean(name, names) ?? `see \`agentcli providers model list ${provider.name}\``,
    },
  );
}
