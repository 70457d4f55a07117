/** Lists the providers: address, local or remote, where the key comes from, models. */
import { effectiveBaseUrl } from "../../config/base_url.ts";
import { type KeySource, keySource } from "../../config/key.ts";
import { loadConfiguration } from "../../config/load.ts";
import type { ProviderEntry } from "../../config/types.ts";
import { openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import { notice, warn } from "../output.ts";
import type { Invocation } from "../verb.ts";
import { localityOf } from "./locality.ts";
import { modelJson, modelText } from "./model_text.ts";

/** Models shown for one provider. */
const SHOWN = 20;

interface Row {
  provider: ProviderEntry;
  isDefault: boolean;
  baseUrl: string;
  local: boolean;
  key: KeySource;
}

/** Runs the verb. Asks no server. */
export async function run({ context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const configuration = await loadConfiguration(await openHome(io));
  const isLocal = await localityOf(context);
  const rows = configuration.providers.map((provider): Row => {
    const baseUrl = effectiveBaseUrl(provider, io.env);
    return {
      provider,
      isDefault: provider.name === configuration.defaultProvider,
      baseUrl,
      local: isLocal(baseUrl),
      key: keySource(provider, io.env),
    };
  });
  if (globals.json) {
    const { defaultProvider, defaultModel } = configuration;
    await io.stdout.write(jsonText({
      default_provider: defaultProvider ?? null,
      default_model: defaultModel ?? null,
      providers: rows.map(rowJson),
    }));
  } else if (rows.length > 0) {
    const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
    const heading = ["", "NAME", "BASE URL", "PLACE", "KEY", "MODELS"];
    await io.stdout.write(table([heading, ...rows.flatMap(rowLines)], { width }));
  } else await notice(context, "no provider is configured; run `agentcli init-providers`");
  for (const warning of configuration.warnings) await warn(context, warning);
}

function rowJson({ provider, isDefault, baseUrl, local, key }: Row): Record<string, unknown> {
  return {
    name: provider.name,
    default: isDefault,
    type: provider.type,
    base_url: baseUrl,
    local,
    key: { source: key.source, problem: key.problem ?? null },
    models: provider.models.map(modelJson),
  };
}

function rowLines({ provider, isDefault, baseUrl, local, key }: Row): string[][] {
  const models = provider.models.slice(0, SHOWN).map(modelText);
  if (provider.models.length > SHOWN) models.push(`and ${provider.models.length - SHOWN} more`);
  const [first = "", ...more] = models;
  const keyText = key.problem === undefined || key.source === "absent" ? key.source : `${key.source} (missing)`;
  const place = local ? "local" : "remote";
  return [
    [isDefault ? "*" : "", provider.name, clean(baseUrl), place, keyText, first],
    ...more.map((line) => ["", "", "", "", "", line]),
  ];
}
