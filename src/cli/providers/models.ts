/** Runs `agentcli providers model …` and `providers role …`. */
import { grouped } from "../../platform/number.ts";
import { readRole, selectorWarnings, settingText } from "../../config/settings.ts";
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import { configured, edit, notice, print, warn } from "../result.ts";
import type { Invocation } from "../command.ts";
import type { MODEL_ADD_OPTIONS } from "./command.ts";
import {
  configuredProvider,
  DEMO,
  findConfigured,
  findProvider,
  PROVIDER_NAME,
  readSelector,
  unknownModel,
} from "../../config/find.ts";
import { productOf } from "../../config/base_url.ts";
import { type Configuration, type ModelEntry, type Role, ROLES } from "../../config/types.ts";

/** Runs the command. Throws `unknown_provider`, `unknown_role`, and `config_invalid` for an alias that is taken. */
export async function addModel(
  { options, arguments: words, context }: Invocation<typeof MODEL_ADD_OPTIONS>,
): Promise<void> {
  const [named = "", id = ""] = words;
  if (id === "") throw new AgentcliError("usage", "the model id is empty");
  if (options.alias === "") throw new AgentcliError("usage", "option --alias needs a name");
  const role = options.role === undefined ? undefined : readRole(options.role);
  let change: "added" | "updated" | "unchanged" = "unchanged";
  const former: string[] = [];
  const provider = configuredProvider((await configured(context)).configuration, named)?.name ?? named;
  await edit(context, (document) => {
    const model = { id, role, context_window: options.contextWindow, alias: options.alias };
    change = document.addModel(provider, model);
    // A role has one holder in a provider, so it moves.
    const others = document.value().providers?.[provider]?.models ?? [];
    for (const other of others.filter((entry) => role !== undefined && entry.role === role && entry.id !== id)) {
      former.push(other.id);
      document.unsetModelField(provider, { id: other.id, key: "role" });
    }
  });
  await print(context, { json: { provider, id, change }, text: `${change} ${provider}:${clean(id)}\n` });
  for (const other of former) await notice(context, `${provider}:${other} no longer has the role ${role}`);
}

/** Runs the command. Asks no server. Throws `unknown_provider`. */
export async function listModels({ arguments: words, context }: Invocation): Promise<void> {
  const { configuration } = await configured(context);
  const name = words[0];
  const providers = name === undefined ? configuration.providers : [findProvider(configuration, name)];
  const entries = providers.flatMap((provider) => provider.models.map((model) => ({ provider, model })));
  const rows = entries.map(({ provider, model }) => [
    productOf(provider.name),
    provider.name,
    clean(model.id),
    clean(model.aliases.join(", ")),
    model.role ?? "",
    tokensText(model.contextWindow),
  ]);
  await print(context, {
    json: { models: entries.map(({ provider, model }) => ({ provider: provider.name, ...modelJson(model) })) },
    table: [["SERVER", "PROVIDER", "MODEL", "ALIAS", "ROLE", "WINDOW"], ...rows],
    none: "no model is configured",
  });
}

/** Runs the command. Throws `unknown_provider` and `unknown_model`. */
export async function removeModel({ arguments: words, context }: Invocation): Promise<void> {
  const [named = "", model = ""] = words;
  const provider = findConfigured((await configured(context)).configuration, named);
  const { name } = provider;
  let id = "";
  await edit(context, (document) => {
    const removed = document.removeModel(name, model);
    if (removed === null) {
      throw unknownModel(provider, { name: model, names: provider.models.flatMap((e) => [e.id, ...e.aliases]) });
    }
    id = removed;
  });
  await print(context, {
    json: { provider: name, id, change: "removed" },
    text: `removed ${name}:${clean(id)}\n`,
  });
}

interface Holder {
  role: Role;
  /** `<provider>[:<model>]`. */
  model: string;
  /** `roles`: set for all; `models`: counts while its provider is in use. */
  source: "roles" | "models";
}

/** Returns the models of each role; those of `roles:` come first, because they win. */
function holders(configuration: Configuration): Holder[] {
  return ROLES.flatMap((role) => {
    const set = configuration.roles[role];
    const own = configuration.providers.flatMap((provider) =>
      provider.models.filter((model) => model.role === role)
        .map((model): Holder => ({ role, model: `${provider.name}:${model.id}`, source: "models" }))
    );
    return set === undefined ? own : [{ role, model: set, source: "roles" } as const, ...own];
  });
}

/** Runs the command. */
export async function listRoles({ context }: Invocation): Promise<void> {
  const found = holders((await configured(context)).configuration);
  const rows = ROLES.flatMap((role) => {
    const own = found.filter((holder) => holder.role === role);
    if (own.length === 0) return [[role, "-", role === "main" ? "" : "the session's model"]];
    return own.map(({ model, source }) => [role, clean(model), source === "roles" ? "roles" : "model entry"]);
  });
  await print(context, { json: { roles: found }, table: [["ROLE", "MODEL", "SET BY"], ...rows] });
}

/**
 * Runs the command. Throws `unknown_role`, and `usage` for a malformed selector; what is not configured is a warning.
 */
export async function setRole({ arguments: words, context }: Invocation): Promise<void> {
  const role = readRole(words[0] ?? "");
  const { provider, model } = readSelector(words[1] ?? "", "the model");
  if (!PROVIDER_NAME.test(provider) || provider === DEMO) {
    throw new AgentcliError("usage", "the model: expected <provider>[:<model or alias>]");
  }
  const selector = model === undefined ? provider : `${provider}:${model}`;
  let old: string | undefined;
  const { configuration } = await edit(context, (document) => {
    old = document.value().roles?.[role];
    document.setSetting(`roles.${role}`, selector);
  });
  await print(context, {
    json: { role, old: old ?? null, new: selector },
    text: clean(`${role}: ${old ?? "(not set)"} → ${selector}`) + "\n",
  });
  for (const warning of selectorWarnings(selector, configuration)) await warn(context, warning);
}

/** Runs the command; a role that was not set is no failure. Throws `unknown_role`. */
export async function unsetRole({ arguments: words, context }: Invocation): Promise<void> {
  const role = readRole(words[0] ?? "");
  const { configuration: before } = await configured(context);
  const old = before.roles[role];
  let removed = false;
  // Without a file there is nothing to remove, and no home to create.
  if (before.exists) await edit(context, (document) => void (removed = document.unsetSetting(`roles.${role}`)));
  await print(context, {
    json: { role, changed: removed },
    text: `${role}: ${clean(settingText(old))} → (not set)\n`,
    message: removed ? undefined : `the role ${role} is not set`,
  });
}

/** `32,768 tokens`; empty where the window is not configured. */
export function tokensText(tokens: number | undefined): string {
  return tokens === undefined ? "" : `${grouped(tokens)} tokens`;
}

/** `qwen3:8b (coder, main, 32,768 tokens)`, cleaned. */
export function modelText(model: ModelEntry): string {
  const facts = [...model.aliases, model.role ?? "", tokensText(model.contextWindow)].filter((fact) => fact !== "");
  return clean(facts.length === 0 ? model.id : `${model.id} (${facts.join(", ")})`);
}

/** The same for programs. */
export function modelJson(model: ModelEntry): Record<string, unknown> {
  return {
    id: model.id,
    aliases: model.aliases,
    role: model.role ?? null,
    context_window: model.contextWindow ?? null,
  };
}
