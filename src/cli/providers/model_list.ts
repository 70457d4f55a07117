/** Lists the configured models, of one provider or of all. */
import { findProvider } from "../../config/find.ts";
import { loadConfiguration } from "../../config/load.ts";
import { openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import { notice } from "../output.ts";
import type { Invocation } from "../verb.ts";
import { modelJson, tokensText } from "./model_text.ts";

/** Runs the verb. Asks no server. Throws `unknown_provider`. */
export async function run({ arguments: words, context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const configuration = await loadConfiguration(await openHome(io));
  const name = words[0];
  const providers = name === undefined ? configuration.providers : [findProvider(configuration, name)];
  const entries = providers.flatMap((provider) => provider.models.map((model) => ({ provider, model })));
  if (globals.json) {
    const models = entries.map(({ provider, model }) => ({ provider: provider.name, ...modelJson(model) }));
    return await io.stdout.write(jsonText({ models }));
  }
  if (entries.length === 0) return await notice(context, "no model is configured");
  const rows = entries.map(({ provider, model }) => [
    provider.name,
    clean(model.id),
    clean(model.aliases.join(", ")),
    model.role ?? "",
    tokensText(model.contextWindow),
  ]);
  const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
  await io.stdout.write(table([["PROVIDER", "MODEL", "ALIAS", "ROLE", "WINDOW"], ...rows], { width }));
}
