/** Runs `agentcli providers add`, `remove`, `list` and `validate`. */
import { baseUrlHint, baseUrlProblem, effectiveBaseUrl, productOf, runtimeCalled } from "../../config/base_url.ts";
import type { ProviderRecord } from "../../config/schema.ts";
import {
  isLiteralKey,
  isLocalProvider,
  keyAdvice,
  type KeySource,
  keySource,
  resolveEndpoint,
} from "../../config/endpoint.ts";
import {
  configuredProvider,
  defaultSelector,
  DEMO,
  findConfigured,
  listed,
  PROVIDER_NAME,
  PROVIDER_NAME_RULE,
  splitSelector,
} from "../../config/find.ts";
import { AgentcliError, asAgentcliError, type ErrorCode } from "../../errors.ts";
import { isLocal } from "../../boundary/policy/locality.ts";
import { counted } from "../../platform/number.ts";
import { clean, jsonText } from "../../terminal/clean.ts";
import { configured, confirmed, during, edit, firstOf, notice, print, snakeKeys, warn, withClient } from "../result.ts";
import type { Invocation } from "../command.ts";
import { dropStoredKey } from "./keys.ts";
import type { ADD_OPTIONS } from "./command.ts";
import type { Configuration, ProviderEntry } from "../../config/types.ts";
import { localityOf } from "../secrets/context.ts";
import { modelJson, modelText } from "./models.ts";
import { listModels } from "../../provider/backends/model_list.ts";
import { type ModelAddress, readModelMetadata } from "../../provider/backends/model_metadata.ts";
import { checkProvider, type CheckTools, type ProviderCheck } from "./check.ts";

/**
 * Runs the command. A bad name, type or address is `usage`; an existing name without `--replace` is `config_invalid`.
 */
export async function addProvider(
  { options, arguments: words, context }: Invocation<typeof ADD_OPTIONS>,
): Promise<void> {
  const name = checkedName(words[0] ?? "");
  const { apiKey, type = "openai_compat" } = options;
  if (type !== "openai_compat") throw new AgentcliError("usage", "--type: the only type is openai_compat");
  const provider: ProviderRecord = {
    type: "openai_compat",
    base_url: checkedUrl(options.baseUrl),
    api_key: apiKey,
    models: options.model === undefined ? [] : [{ id: options.model }],
  };
  const { globals } = context;
  let replaced = false;
  const before = options.replace
    ? (await configured(context)).configuration.providers.find((entry) => entry.name === name)
    : null;
  const { configuration } = await edit(context, (document) => {
    replaced = Object.hasOwn(document.value().providers ?? {}, name);
    document.addProvider(name, provider, { replace: options.replace });
  });
  // The new entry is a new provider: what was stored for the old one is orphaned.
  if (before) await dropStoredKey(before, context);
  const change = replaced ? "replaced" : "added";
  await print(context, { json: { name, base_url: provider.base_url, change }, text: `${change} ${name}\n` });
  if (apiKey !== undefined && isLiteralKey(apiKey)) {
    await warn(
      context,
      "a key on the command line stays in the shell's history; --api-key '$NAME' or providers set-key is safer",
    );
  }
  if (apiKey === undefined && !isLocal(provider.base_url, [])) {
    await notice(context, `${name} has no key: ${keyAdvice(name, "absent")}`);
  }
  const hint = baseUrlHint(provider.base_url);
  if (hint !== undefined) await notice(context, `hint: ${hint}`);
  if (globals.quiet || globals.json) return;
  await notice(context, `saved in ${configuration.path}`);
  await nextSteps(findConfigured(configuration, name), context);
}

/** Milliseconds that a new server has for the list of its models. */
const FIRST_ANSWER_MS = 3000;

/** Says whether the server of a new provider answers, where it is on this machine, and what to do with it. */
async function nextSteps(provider: ProviderEntry, context: Invocation["context"]): Promise<void> {
  const { io } = context;
  const { name, models: [configured] } = provider;
  const chat = (id?: string) => `agentcli chat --model ${id === undefined ? `'${name}:<model>'` : `${name}:${id}`}`;
  // Elsewhere the person decides when it is asked.
  if (!isLocalProvider(provider, io)) {
    return await notice(context, `next: agentcli providers validate ${name}, then ${clean(chat(configured?.id))}`);
  }
  await withClient(context, async (client) => {
    try {
      const endpoint = await resolveEndpoint(provider, { env: io.env, local: true, stores: io });
      const { signal } = new AbortController();
      const ask = () => listModels(client, endpoint, { timeoutMs: FIRST_ANSWER_MS, signal });
      const { models } = await during(context, `asking ${name}`, ask);
      const ids = models.map(({ id }) => clean(id));
      await notice(context, `it answers, with ${counted(ids.length, "model")}: ${listed(ids, NAMED_MODELS)}`);
      await notice(context, `next: ${clean(chat(configured?.id ?? ids[0]))}`);
    } catch (error) {
      const { code, message } = asAgentcliError(error);
      const [what, next] = NOT_YET[code] ?? ["it does not answer yet", "start the server, then "];
      await notice(context, `${what}: ${message}`);
      await notice(context, `next: ${next}agentcli providers validate ${name}`);
    }
  });
}

/** Failures of a server that is there, or was not asked: what to say, and what to do before it is checked again. */
const NOT_YET: Partial<Record<ErrorCode, [what: string, next: string]>> = {
  key_missing: ["it was not asked yet", ""],
  auth_failed: ["it wants another key", "store the right key with set-key, then "],
};

const NAMED_MODELS = 5;

function checkedName(name: string): string {
  if (PROVIDER_NAME.test(name) && name !== DEMO) return name;
  const rule = name === DEMO ? `${DEMO} is reserved for the built-in demo` : PROVIDER_NAME_RULE;
  throw new AgentcliError("usage", "invalid provider name", { hint: `a name consists of ${rule}` });
}

function checkedUrl(url: string | undefined): string {
  const hint = "for example --base-url http://localhost:1919/v1";
  if (url === undefined) throw new AgentcliError("usage", "option --base-url is required", { hint });
  const problem = baseUrlProblem(url);
  // The URL itself is not repeated: it may hold a password.
  if (problem !== null) throw new AgentcliError("usage", `--base-url: ${problem}`, { hint });
  return url;
}

/** Returns 1 if the user declined. */
export async function removeProvider({ arguments: words, context }: Invocation): Promise<number> {
  const provider = findConfigured((await configured(context)).configuration, words[0] ?? "");
  const { name, models } = provider;
  const question = `Remove ${name} with ${counted(models.length, "model")} from the configuration?`;
  if (!await confirmed(context, question)) return 1;
  const { configuration } = await edit(context, (document) => void document.removeProvider(name));
  await dropStoredKey(provider, context);
  await print(context, { json: { name, change: "removed" }, text: `removed ${name}\n` });
  for (const setting of settingsNaming(name, configuration)) await warn(context, `${setting} still refers to ${name}`);
  return 0;
}

function settingsNaming(name: string, { defaultProvider, roles }: Configuration): string[] {
  const isNamed = (word: string | undefined) => word === name || (word !== undefined && runtimeCalled(word) === name);
  const inRoles = Object.entries(roles).filter(([, selector]) => isNamed(splitSelector(selector)?.provider));
  return [
    ...(isNamed(defaultProvider) ? ["default_provider"] : []),
    ...inRoles.map(([role]) => `roles.${role}`),
  ];
}

const NONE_CONFIGURED = "no provider is configured; run `agentcli init-providers`";

/** Models shown for one provider. */
const SHOWN = 20;

interface Row {
  provider: ProviderEntry;
  isDefault: boolean;
  baseUrl: string;
  local: boolean;
  key: KeySource;
}

/** Runs the command. Asks no server. */
export async function listProviders({ context }: Invocation): Promise<void> {
  const { io } = context;
  const { configuration } = await configured(context);
  const isLocal = await localityOf(context);
  const usual = defaultSelector(configuration);
  const ofDefault = usual === null ? undefined : configuredProvider(configuration, usual.provider);
  const { defaultProvider, defaultModel } = configuration;
  const rows = configuration.providers.map((provider): Row => {
    const baseUrl = effectiveBaseUrl(provider, io.env);
    return {
      provider,
      isDefault: provider === ofDefault,
      baseUrl,
      local: isLocal(baseUrl),
      key: keySource(provider, io.env),
    };
  });
  const heading = ["", "SERVER", "NAME", "BASE URL", "PLACE", "KEY", "MODELS"];
  await print(context, {
    json: {
      default_provider: defaultProvider ?? null,
      default_model: defaultModel ?? null,
      providers: rows.map(rowJson),
    },
    table: [heading, ...rows.flatMap(rowLines)],
    none: NONE_CONFIGURED,
  });
  for (const warning of configuration.warnings) await warn(context, warning);
}

function rowJson({ provider, isDefault, baseUrl, local, key }: Row): Record<string, unknown> {
  return {
    name: provider.name,
    default: isDefault,
    type: "openai_compat",
    base_url: baseUrl,
    local,
    key: { source: key.source, problem: key.problem ?? null },
    models: provider.models.map(modelJson),
  };
}

function rowLines({ provider, isDefault, baseUrl, local, key }: Row): string[][] {
  const [first = "none", ...more] = firstOf(provider.models.map(modelText), SHOWN);
  const keyText = key.problem === undefined || key.source === "absent" ? key.source : `${key.source} (missing)`;
  const place = local ? "local" : "remote";
  return [
    [isDefault ? "*" : "", productOf(provider.name), provider.name, clean(baseUrl), place, keyText, first],
    ...more.map((line) => ["", "", "", "", "", "", line]),
  ];
}

/** Longest wait for one model list, in milliseconds. */
const TIMEOUT = 10_000;
/** Providers that are checked at the same time. */
const WIDTH = 8;

/** Checks providers side by side. Returns 1 if one has an error. */
export async function validateProviders({ arguments: names, context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const { home, configuration } = await configured(context);
  const providers = names.length === 0
    ? configuration.providers
    : [...new Set(names)].map((name) => findConfigured(configuration, name));
  if (providers.length === 0) await notice(context, NONE_CONFIGURED);
  for (const warning of configuration.warnings) await warn(context, warning);
  const isLocal = await localityOf(context);
  const checks: ProviderCheck[] = [];
  await withClient(context, async (client) => {
    const readMetadata = (address: ModelAddress) => readModelMetadata(home, address, { now: io.clock.now() });
    const started = startChecks(providers, {
      client,
      env: io.env,
      isLocal,
      stores: io,
      readMetadata,
      timeoutMs: TIMEOUT,
    });
    for (const [at, pending] of started.entries()) {
      const check = await during(context, `asking ${clean(providers[at]?.name ?? "")}`, () => pending);
      checks.push(check);
      // Each is shown as soon as those before it are: a slow server hides no result above it.
      if (!globals.json) await io.stdout.write(checkText(check));
    }
  });
  const ok = checks.every((check) => check.state !== "error");
  if (globals.json) await io.stdout.write(jsonText({ ok, providers: checks.map(snakeKeys) }));
  return ok ? 0 : 1;
}

/** Starts all checks, a few at a time; the promises are in the order of the providers. */
function startChecks(providers: readonly ProviderEntry[], tools: CheckTools): Promise<ProviderCheck>[] {
  const started: Promise<ProviderCheck>[] = [];
  for (const [index, provider] of providers.entries()) {
    const place = started[index - WIDTH];
    const work = place === undefined
      ? checkProvider(provider, tools)
      : place.then(() => checkProvider(provider, tools));
    // A bug in one check shows when its turn comes; until then it must not end the process.
    work.catch(() => {});
    started.push(work);
  }
  return started;
}

const HEADERS = { ok: "[OK ]", error: "[ERR]", skipped: "[-- ]" };

/** The lines of one provider, as the seed (§4.1) and the specification give them. */
export function checkText(check: ProviderCheck): string {
  const lines = check.lines.map((line) => `  ${line.kind}: ${clean(line.text)}\n`);
  return `${HEADERS[check.state]} ${clean(check.name)}\n${lines.join("")}`;
}
