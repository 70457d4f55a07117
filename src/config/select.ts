/**
 * Which provider and model a call uses. Rules: specification of the command line ("Model selection") and of aliases.
 */
import { AgentcliError } from "../errors.ts";
import {
  configuredProvider,
  defaultSelector,
  DEMO,
  demoProvider,
  findModel,
  findProvider,
  listed,
  nothingConfigured,
  readSelector,
  type Selector,
  splitSelector,
  unknownModel,
} from "./find.ts";
import { closest, didYouMean } from "./suggest.ts";
import type { Configuration, ModelEntry, ProviderEntry, Role, Selection } from "./types.ts";
import { providerLabel } from "./base_url.ts";

/** The requested model, before the configuration is considered. */
export interface WantedModel {
  option?: string | undefined;
  /** `AGENTCLI_MODEL`; empty counts as unset. */
  environment?: string | undefined;
  /** Returns the last model of the resumed session; called only if nothing else decides. */
  session?: () => Promise<StoredModel>;
}

/** A model as a stored session names it: earlier versions named no provider. */
interface StoredModel {
  provider?: string | undefined;
  model: string;
}

/** Asks a server what it serves; null when it does not say. */
export type ServedModels = (provider: ProviderEntry) => Promise<string[] | null>;

async function namedModel(
  provider: ProviderEntry,
  name: string,
  servedModels: ServedModels,
): Promise<{ model: ModelEntry; warning?: string }> {
  const configured = findModel(provider, name);
  if (configured) return { model: configured };
  const names = provider.models.flatMap((model) => [model.id, ...model.aliases]);
  if (provider.name === DEMO) throw unknownModel(provider, { name, names });
  const served = await servedModels(provider);
  const model: ModelEntry = { id: name, aliases: [] };
  if (served === null) {
    return { model, warning: `${providerLabel(provider.name)} did not list its models; ${name} is sent as it is` };
  }
  if (served.includes(name)) return { model };
  throw unknownModel(provider, { name, names: [...new Set([...names, ...served])] });
}

/** The model a provider is used with when none is named: the one of role `main`, else the only one. */
function usualModel(provider: ProviderEntry, configuration: Configuration): ModelEntry | undefined {
  // `roles:` wins over the role of an entry.
  const main = splitSelector(configuration.roles.main ?? "");
  const isOfMain = main !== null && configuredProvider(configuration, main.provider)?.name === provider.name;
  if (isOfMain && main.model !== undefined) {
    return findModel(provider, main.model) ?? { id: main.model, aliases: [] };
  }
  const ofRole = provider.models.find((model) => model.role === "main");
  return ofRole ?? (provider.models.length === 1 ? provider.models[0] : undefined);
}

async function usualModelOf(
  provider: ProviderEntry,
  configuration: Configuration,
  servedModels: ServedModels,
): Promise<ModelEntry> {
  const model = usualModel(provider, configuration);
  if (model) return model;
  const ids = provider.models.map((entry) => entry.id);
  const served = ids.length > 0 || provider.name === DEMO ? null : await servedModels(provider);
  if (served?.length === 1) return servedModel(served);
  const known = served !== null && served.length > 0 ? `it serves: ${listed(served)}` : `configured: ${listed(ids)}`;
  throw new AgentcliError("no_model", `which model of ${providerLabel(provider.name)}? ${known}`, {
    hint: ids.length === 0
      ? `name one: --model ${provider.name}:${served?.[0] ?? "<model>"}, or add it with ` +
        `\`agentcli providers model add ${provider.name} ${served?.[0] ?? "<model>"}\``
      : `name one: --model ${provider.name}:${ids[0]}, or give it the role main: ` +
        `agentcli providers model add ${provider.name} ${ids[0]} --role main`,
  });
}

type Found = Omit<Selection, "source">;

async function ofSelector(
  configuration: Configuration,
  selector: Selector,
  servedModels: ServedModels,
): Promise<Found> {
  const alone = onlyOwner(configuration, selector);
  if (alone !== null) return alone;
  const provider = findProvider(configuration, selector.provider, selector);
  if (selector.model === undefined) {
    return { provider, model: await usualModelOf(provider, configuration, servedModels) };
  }
  return { provider, ...await namedModel(provider, selector.model, servedModels) };
}

/** Returns the selection if the name given as a provider is a model that exactly one provider has; null otherwise. */
function onlyOwner(configuration: Configuration, { provider: named, model: rest }: Selector): Found | null {
  if (named === DEMO || configuredProvider(configuration, named) !== undefined) return null;
  const owners = ownersOf(configuration, rest === undefined ? named : `${named}:${rest}`);
  return owners.length === 1 ? owners[0] ?? null : null;
}

function ownersOf({ providers }: Configuration, name: string): Found[] {
  return providers.flatMap((provider) => {
    const model = findModel(provider, name);
    return model === undefined ? [] : [{ provider, model }];
  });
}

/** `default_model` alone must name one model among all providers, or be a selector. */
async function ofModelAlone(configuration: Configuration, name: string, servedModels: ServedModels): Promise<Found> {
  const owners = ownersOf(configuration, name);
  const [only] = owners;
  if (only && owners.length === 1) return only;
  if (owners.length > 1) {
    const names = owners.map(({ provider }) => provider.name);
    throw new AgentcliError("unknown_model", `default_model ${name} is not unique: ${listed(names)} have it`, {
      hint: `set default_provider too: agentcli config set default_provider ${names[0]}`,
    });
  }
  const selector = splitSelector(name);
  if (selector?.model !== undefined && configuredProvider(configuration, selector.provider) !== undefined) {
    return await ofSelector(configuration, selector, servedModels);
  }
  const names = configuration.providers.flatMap((provider) =>
    provider.models.map(({ id, aliases }) => [`${provider.name}:${id}`, id, ...aliases])
  );
  throw new AgentcliError(
    "unknown_model",
    `default_model ${name} is not a configured model; available: ${
      listed(names.flatMap(([selector = ""]) => selector))
    }`,
    {
      hint: didYouMean(name, new Set(names.flat())) ??
        "set default_provider too, or correct it with `agentcli config set default_model <model>`",
    },
  );
}

function servedModel([id = ""]: readonly string[]): ModelEntry {
  return { id, aliases: [] };
}

/**
 * Returns the only model of the server of the only provider, where no setting decides. Throws with the choices, which
 * come from the servers themselves where no model is configured.
 */
async function onlyServed({ providers }: Configuration, servedModels: ServedModels): Promise<Found> {
  const [first] = providers;
  if (first === undefined) throw nothingConfigured();
  const configured = providers.flatMap(({ name, models }) => models.map((model) => `${name}:${model.id}`));
  const lists = configured.length > 0 ? [] : await Promise.all(providers.map((one) => servedModels(one)));
  const [only] = lists;
  if (lists.length === 1 && only?.length === 1) return { provider: first, model: servedModel(only) };
  const served = lists.flatMap((ids, at) => (ids ?? []).map((id) => `${providers[at]?.name}:${id}`));
  const models = [...configured, ...served];
  const choices = models.length > 0 ? models : providers.map((provider) => provider.name);
  const [owner] = providers.filter((provider) => provider.models.length > 0);
  throw new AgentcliError("no_model", `no model is selected; available: ${listed(choices)}`, {
    hint: models.length === 0
      ? "start a model server and run `agentcli init-providers`, or name one: --model <provider>:<model>"
      : `name one: --model ${models[0]}` +
        (owner === undefined ? "" : `, or run \`agentcli config set default_provider ${owner.name}\``),
  });
}

/**
 * The provider and the model of a call: `--model`, `AGENTCLI_MODEL`, the defaults, `roles.main`, the only provider that
 * has models, the model of the resumed session, the only model that the server of the only provider has; the first
 * that is set decides. `servedModels` is asked for a name that is neither a configured id nor an alias, which is sent
 * with a warning when it does not know, and for the choices where no model is configured. Failures
 * (`unknown_provider`, `unknown_model`, `no_model`, `no_provider`) list the choices; a malformed selector is `usage`.
 */
export async function selectModel(
  configuration: Configuration,
  wanted: WantedModel,
  servedModels: ServedModels,
): Promise<Selection> {
  const named = (text: string, source: "--model" | "AGENTCLI_MODEL" | "roles.main") =>
    ofSelector(configuration, readSelector(text, source), servedModels).then((found) => ({ source, ...found }));
  if (wanted.option !== undefined) return await named(wanted.option, "--model");
  const { environment = "" } = wanted;
  if (environment !== "") return await named(environment, "AGENTCLI_MODEL");
  const { defaultModel, roles } = configuration;
  const usual = defaultSelector(configuration);
  if (usual !== null) {
    const isKnown = usual.provider === DEMO || configuredProvider(configuration, usual.provider) !== undefined;
    if (!isKnown) throw unknownDefault(configuration, usual.provider);
    return { source: "default", ...await ofSelector(configuration, usual, servedModels) };
  }
  if (defaultModel !== undefined) {
    return { source: "default", ...await ofModelAlone(configuration, defaultModel, servedModels) };
  }
  if (roles.main !== undefined) return await named(roles.main, "roles.main");
  const [first, ...others] = configuration.providers.filter((provider) => provider.models.length > 0);
  const only = others.length === 0 ? first : undefined;
  const model = only && usualModel(only, configuration);
  if (only !== undefined && model !== undefined) return { source: "only provider", provider: only, model };
  const found = wanted.session && await ofSession(configuration, await wanted.session(), servedModels);
  if (found) return { source: "session", ...found };
  if (only !== undefined) await usualModelOf(only, configuration, servedModels);
  return { source: "only provider", ...await onlyServed(configuration, servedModels) };
}

/** The model that is used where `option` names none, as far as the configuration says; asks no server. */
export async function usualSelection(
  configuration: Configuration,
  { option, env }: { option?: string | undefined; env: (name: string) => string | undefined },
): Promise<Selection> {
  const wanted = { option, environment: env("AGENTCLI_MODEL") };
  return await selectModel(configuration, wanted, () => Promise.resolve(null));
}

/**
 * The model of the session at its own provider. If that is unknown or no longer configured, exactly one other
 * must have the id; the built-in one had to be named then.
 */
async function ofSession(
  configuration: Configuration,
  { provider: name, model: id }: StoredModel,
  servedModels: ServedModels,
): Promise<Found | undefined> {
  const known = [...configuration.providers, demoProvider()];
  const own = known.find((provider) => provider.name === name);
  if (own) return { provider: own, ...await namedModel(own, id, servedModels) };
  const owners = known.flatMap((provider) => {
    const model = provider.models.find((entry) => entry.id === id);
    return model ? [{ provider, model }] : [];
  });
  return owners.length === 1 ? owners[0] : undefined;
}

/** Nobody typed the name now: the message says which setting holds it. */
function unknownDefault({ providers }: Configuration, name: string): AgentcliError {
  const names = providers.map((provider) => provider.name);
  const set = "agentcli config set default_provider";
  return new AgentcliError(
    "unknown_provider",
    `default_provider is ${name}, which is not configured; configured: ${listed(names)}`,
    {
      hint: names.length === 0
        ? "run `agentcli init-providers`, or try `--model demo`"
        : `\`${set} ${closest(name, names)[0] ?? names[0]}\``,
    },
  );
}

/**
 * The model for the side work of a role, or null when the session's own model does it. `roles:` wins over the role of
 * a model entry, and of entries only those of the session's provider count.
 */
export async function selectForRole(
  configuration: Configuration,
  role: Exclude<Role, "main">,
  options: { session: ProviderEntry; servedModels: ServedModels },
): Promise<Found | null> {
  const selector = configuration.roles[role];
  if (selector !== undefined) {
    return await ofSelector(configuration, readSelector(selector, `roles.${role}`), options.servedModels);
  }
  const model = options.session.models.find((entry) => entry.role === role);
  return model ? { provider: options.session, model } : null;
}
