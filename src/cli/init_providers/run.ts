/** Looks for servers, merges what was found into providers.yaml, and tells it. */
import { loadConfiguration } from "../../config/load.ts";
import { aliasesOf } from "../../config/check.ts";
import { editProviders, type EditResult, type ModelChange, type ProvidersDocument } from "../../config/edit.ts";
import type { Io } from "../../platform/io.ts";
import { hideKeys } from "../../config/hide_keys.ts";
import { type Home, openHome } from "../../platform/home.ts";
import { discover, type Discovered, type DiscoveredModel } from "../../provider/discovery.ts";
import { openDoor } from "../../provider/http.ts";
import { jsonText } from "../../terminal/json_text.ts";
import type { Globals, Invocation } from "../verb.ts";
import { type Configured, type Plan, planMerge } from "./plan.ts";
import { changeLines, jsonReport, nextSteps, type Outcome } from "./report.ts";
import { discoveryTable } from "./table.ts";
import type { INIT_PROVIDERS_OPTIONS } from "./verb.ts";

/** Milliseconds for one address. */
const TIMEOUT = 2000;

/** Runs the verb; finding nothing is no failure. Throws `usage` for a host that is none, and configuration errors. */
export async function run({ options, context }: Invocation<typeof INIT_PROVIDERS_OPTIONS>): Promise<void> {
  const { io, globals } = context;
  const home = await openHome(io);
  // A file that cannot be used ends the verb before anything is asked.
  const { path } = await loadConfiguration(home);
  const door = openDoor(io);
  try {
    const hosts = options.host.length > 0 ? options.host : ["localhost"];
    const found = await discover(door, { hosts, timeoutMs: options.timeout ?? TIMEOUT });
    const { dryRun } = options;
    const { before, after, existed, plan } = await mergeFound(home, found, { dryRun });
    let diff = "";
    if (dryRun && before !== after) {
      const { unifiedDiff } = await import("../../terminal/diff.ts");
      diff = unifiedDiff(existed ? hideKeys(before) : null, hideKeys(after), { name: "providers.yaml" });
    }
    await tell({ path, dryRun, changed: before !== after, found, plan, diff }, { io, globals });
  } finally {
    door.close();
  }
}

/**
 * Adds what was found to providers.yaml. Planned inside the edit, from the file as it is under the lock: what another
 * process wrote meanwhile counts. Throws what {@link editProviders} throws.
 */
export async function mergeFound(
  home: Home,
  found: readonly Discovered[],
  options: { dryRun?: boolean } = {},
): Promise<EditResult & { plan: Plan }> {
  let plan = planMerge([], []);
  const result = await editProviders(home, (document) => {
    plan = planMerge(configuredIn(document), found);
    apply(plan, document);
  }, options);
  return { ...result, plan };
}

function configuredIn(document: ProvidersDocument): Configured[] {
  return Object.entries(document.value().providers ?? {}).map(([name, provider]) => ({
    name,
    baseUrl: provider.base_url,
    models: (provider.models ?? []).map((model) => ({ id: model.id, aliases: aliasesOf(model.alias) })),
  }));
}

function apply(plan: Plan, document: ProvidersDocument): void {
  for (const { name, baseUrl, apiKey, models } of plan.providers) {
    document.addProvider(name, {
      type: "openai_compat",
      base_url: baseUrl,
      api_key: apiKey,
      models: models.map(recordOf),
    });
  }
  for (const { provider, models } of plan.models) {
    for (const model of models) document.addModel(provider, recordOf(model));
  }
}

function recordOf({ id, contextWindow }: DiscoveredModel): ModelChange {
  return contextWindow === null ? { id } : { id, context_window: contextWindow };
}

async function tell(outcome: Outcome, { io, globals }: { io: Io; globals: Globals }): Promise<void> {
  if (globals.json) return await io.stdout.write(jsonText(jsonReport(outcome)));
  const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
  await io.stdout.write(discoveryTable(outcome.found, { width }) + "\n");
  if (outcome.diff !== "") await io.stdout.write(outcome.diff + "\n");
  await io.stdout.write(changeLines(outcome).join("\n") + "\n");
  if (!globals.quiet) await io.stdout.write("\n" + nextSteps(outcome).join("\n") + "\n");
}
