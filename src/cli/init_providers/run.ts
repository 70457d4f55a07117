/** Runs `agentcli init-providers`: looks for servers and merges what it finds into providers.yaml. */
import { loadConfiguration } from "../../config/load.ts";
import { aliasesOf } from "../../config/parse.ts";
import type { ProviderRecord } from "../../config/schema.ts";
import { editProviders, type EditResult, type ProvidersDocument } from "../../config/edit.ts";
import { RUNTIMES, STUDIO } from "../../config/base_url.ts";
import type { Io } from "../../platform/io.ts";
import { hideKeys } from "../../config/hide_keys.ts";
import { type Home, openHome } from "../../platform/home.ts";
import { discover, type Discovered } from "../../provider/backends/discovery.ts";
import type { HttpClient } from "../../provider/http/client.ts";
import type { Invocation } from "../command.ts";
import { clean } from "../../terminal/clean.ts";
import {
  asksForStudio,
  type Configured,
  type Plan,
  planMerge,
  type PlannedProvider,
  recordOf,
  STUDIO_NOTE,
} from "./plan.ts";
import { changeLines, discoveryTable, jsonReport, modelText, nextSteps } from "./report.ts";
import type { INIT_PROVIDERS_OPTIONS } from "../program_commands.ts";
import type { Configuration } from "../../config/types.ts";
import { askLine } from "../../terminal/prompt.ts";
import { during, print, withClient } from "../result.ts";

/** Milliseconds for one address. */
const TIMEOUT = 2000;

/** Runs the command; finding nothing is no failure. Throws `usage` for an invalid host, and configuration errors. */
export async function run({ options, context }: Invocation<typeof INIT_PROVIDERS_OPTIONS>): Promise<void> {
  const { io, globals } = context;
  const home = await openHome(io);
  // A file that cannot be used ends the command before anything is asked.
  const { path } = await loadConfiguration(home);
  await withClient(context, async (client) => {
    const { dryRun } = options;
    const timeoutMs = options.timeout ?? TIMEOUT;
    const found = await during(
      context,
      "looking for model servers",
      async () =>
        options.host.length > 0
          ? await discover(client, { hosts: options.host, timeoutMs })
          : (await Promise.all([discover(client, { hosts: ["localhost"], timeoutMs }), findStudio(client, timeoutMs)]))
            .flat(),
    );
    const { before, after, existed, plan, configuration } = await mergeFound(home, found, { dryRun, env: io.env });
    let diff = "";
    if (dryRun && before !== after) {
      const { unifiedDiff } = await import("../../terminal/diff.ts");
      diff = unifiedDiff(existed ? hideKeys(before) : null, hideKeys(after), { name: "providers.yaml" });
    }
    const outcome = { path, dryRun, changed: before !== after, found, plan, diff, chosen: null };
    const servers = discoveryTable(found, { width: io.stdout.isTerminal ? io.stdout.columns() : Infinity });
    const lines = [servers, ...diff === "" ? [] : [diff], ...changeLines(outcome)];
    await print(context, { json: jsonReport(outcome), text: lines.join("\n") + "\n" });
    if (globals.json) return;
    const isAsked = !dryRun && !globals.yes && !globals.quiet && io.stdin.isTerminal && io.stderr.isTerminal;
    const chosen = isAsked ? await offerDefault(configuration, { found, plan, home, io }) : null;
    if (!globals.quiet) await io.stdout.write("\n" + nextSteps({ ...outcome, chosen }).join("\n") + "\n");
  });
}

/** The studio, where it runs at its usual address: it lists nothing without a key, but identifies itself. */
async function findStudio(client: HttpClient, timeoutMs: number): Promise<Discovered[]> {
  const runtimes = RUNTIMES.filter(({ id }) => id === STUDIO.id).map((studio) => ({ ...studio, probed: true }));
  const met = await discover(client, { hosts: ["localhost"], timeoutMs, runtimes });
  return met.filter(({ server }) => server?.server === "unsloth");
}

/** Adds the servers that answer on this machine; returns how many providers are configured then. */
export async function findLocalServers(io: Io): Promise<number> {
  const home = await openHome(io);
  return await withClient({ io }, async (client) => {
    const found = await discover(client, { hosts: ["localhost"], timeoutMs: TIMEOUT });
    const { configuration } = await mergeFound(home, found, io);
    return configuration.providers.length;
  });
}

/**
 * Adds what was found to providers.yaml. Planned inside the edit, from the file as it is under the lock: what another
 * process wrote meanwhile counts. Throws what {@link editProviders} throws.
 */
export async function mergeFound(
  home: Home,
  found: readonly Discovered[],
  options: { dryRun?: boolean } & Pick<Io, "env">,
): Promise<EditResult & { plan: Plan }> {
  const studioAsked = asksForStudio(options.env);
  let plan = planMerge([], []);
  const result = await editProviders(home, (document) => {
    plan = planMerge(configuredIn(document), found, { studioAsked });
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
  for (const block of plan.providers) {
    document.uncommentProvider({ name: block.name, provider: providerOf(block), note: STUDIO_NOTE });
    document.addProvider(block.name, providerOf(block));
  }
  const { commented } = plan;
  if (commented !== null) {
    const entry = { name: commented.name, provider: providerOf(commented), note: STUDIO_NOTE };
    if (!document.commentProvider(entry)) plan.commented = null;
  }
  for (const { provider, models } of plan.models) {
    for (const model of models) document.addModel(provider, recordOf(model));
  }
}

function providerOf({ baseUrl, apiKey, models }: PlannedProvider): ProviderRecord {
  return { type: "openai_compat", base_url: baseUrl, api_key: apiKey, models: models.map(recordOf) };
}

/** Most models that are listed; any other one can be named. */
const SHOWN = 20;
/** Number of meaningless answers after which the question is dropped. */
const TRIES = 3;

interface Choice {
  provider: string;
  model: string;
  /** For eyes. */
  label: string;
}

/** Makes a model the default. Throws what {@link editProviders} throws. */
export async function setDefaultModel(home: Home, choice: { provider: string; model: string }): Promise<void> {
  await editProviders(home, (document) => {
    document.setSetting("default_provider", choice.provider);
    document.setSetting("default_model", choice.model);
  });
}

/**
 * Offers the models that were found as the default, and writes the chosen one. Returns its selector; null where none
 * was chosen, one is set already, or there is none to choose.
 */
export async function offerDefault(
  { defaultProvider, defaultModel, roles, providers }: Configuration,
  { found, plan, home, io }: { found: readonly Discovered[]; plan: Plan; home: Home; io: Io },
): Promise<string | null> {
  if ((defaultProvider ?? defaultModel ?? roles.main) !== undefined) return null;
  const choices = found.flatMap((server): Choice[] => {
    const provider = providers.find(({ name }) => name === plan.names.get(server.baseUrl));
    if (server.state !== "serving" || provider === undefined) return [];
    const known = server.models.filter(({ id }) => provider.models.some((model) => model.id === id));
    const product = server.server === null ? "" : `${clean(server.server.label)}  `;
    return known.map((model) => ({
      provider: provider.name,
      model: model.id,
      label: `${product}${provider.name}:${modelText(model)}`,
    }));
  });
  if (choices.length === 0) return null;
  const shown = choices.slice(0, SHOWN).map(({ label }, at) => `  ${String(at + 1).padStart(2)}  ${label}\n`);
  const more = choices.length > SHOWN ? `      and ${choices.length - SHOWN} more, by name\n` : "";
  await io.stderr.write(`\nWhich model should be the default?\n${shown.join("")}${more}`);
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = (await askLine(io, "Number or name (Enter for none): "))?.trim() ?? "";
    if (answer === "") return null;
    const chosen = chosenBy(answer, choices);
    if (chosen !== null) {
      await setDefaultModel(home, chosen);
      const selector = `${chosen.provider}:${chosen.model}`;
      await io.stdout.write(`default model: ${clean(selector)}\n`);
      return selector;
    }
    await io.stderr.write(`${clean(answer)} is not in the list\n`);
  }
  return null;
}

/** The choice with that number, selector, or unique id. */
function chosenBy(answer: string, choices: readonly Choice[]): Choice | null {
  const numbered = /^\d+$/.test(answer) ? choices.slice(0, SHOWN)[Number(answer) - 1] : undefined;
  const named = choices.filter(({ provider, model }) => answer === `${provider}:${model}`);
  const alike = choices.filter(({ model }) => answer === model);
  return named[0] ?? (alike.length === 1 ? alike[0] : undefined) ?? numbered ?? null;
}
