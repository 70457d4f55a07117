/**
 * Plans what a discovery adds to providers.yaml. Pure: from the configuration and the servers found to the additions.
 */
import { type Runtime, RUNTIMES, STUDIO } from "../../config/base_url.ts";
import type { ModelChange } from "../../config/edit.ts";
import { backendOf } from "../../provider/backends/backends.ts";
import type { Discovered, DiscoveredModel } from "../../provider/backends/discovery.ts";
import { portOf } from "../../platform/text.ts";

/** Models of a new provider that are written; the rest can still be named. */
const MODEL_LIMIT = 500;
/** Models that one run adds to an existing provider: each is a separate edit of the text (8 ms and more). */
const ADDED_LIMIT = 100;

/** Longest name of a model that is written; longer ones are not names. */
const ID_LIMIT = 200;

export interface PlannedProvider {
  name: string;
  baseUrl: string;
  apiKey: string;
  models: DiscoveredModel[];
}

/** The additions and the notes about them; nothing is ever removed. */
export interface Plan {
  providers: PlannedProvider[];
  /** To be written as a comment: it was not found, and nobody asked for it. */
  commented: PlannedProvider | null;
  /** Models to be added to existing providers. */
  models: { provider: string; models: DiscoveredModel[] }[];
  /** Models that are configured but no longer served. */
  gone: { provider: string; model: string }[];
  /** Base URL of what was found → name of the provider that has its address, or will have it. */
  names: Map<string, string>;
  /** Sentences for people. */
  notes: string[];
}

/** The part of a configured provider that counts here. */
export interface Configured {
  name: string;
  baseUrl: string;
  models: readonly { id: string; aliases: readonly string[] }[];
}

/** The note after the name of the studio in its comment. */
export const STUDIO_NOTE =
  `Unsloth Studio: init-providers removes the signs once it runs here or ${STUDIO.keyVariable} is set`;

/** Returns whether the environment asks for the studio: a probe without a key sees it only at its usual port. */
export function asksForStudio(env: (name: string) => string | undefined): boolean {
  return [STUDIO.keyVariable, STUDIO.baseUrlVariable].some((name) => (env(name) ?? "") !== "");
}

/**
 * Plans the merge. A server belongs to the provider with its address, whatever its name. The block of the studio is
 * always part of it: as a comment unless it was found or requested.
 */
export function planMerge(
  configured: readonly Configured[],
  found: readonly Discovered[],
  { studioAsked = false }: { studioAsked?: boolean } = {},
): Plan {
  const plan: Plan = { providers: [], commented: null, models: [], gone: [], names: new Map(), notes: [] };
  const handled = new Set<string>();
  for (const met of found) {
    const server = { ...met, models: met.models.filter(({ id }) => isName(id)) };
    const left = met.models.length - server.models.length;
    if (left > 0) {
      plan.notes.push(
        `${server.host}:${server.port} lists ${left === 1 ? "an invalid model name" : `${left} invalid model names`} ` +
          "(too long, or with control characters); skipped",
      );
    }
    const address = addressOf(server.baseUrl);
    const owner = configured.find((provider) => addressOf(provider.baseUrl) === address);
    if (owner !== undefined) plan.names.set(server.baseUrl, owner.name);
    if (server.state !== "serving" || handled.has(address)) continue;
    handled.add(address);
    if (owner === undefined) planProvider(plan, server, configured);
    else planModels(plan, server, owner);
  }
  planStudio(plan, found, { configured, asked: studioAsked });
  return plan;
}

function planStudio(
  plan: Plan,
  found: readonly Discovered[],
  { configured, asked }: { configured: readonly Configured[]; asked: boolean },
): void {
  const studio = RUNTIMES.find((runtime) => runtime.id === STUDIO.id);
  if (studio === undefined) return;
  const address = addressOf(studio.baseUrl);
  const known = [...configured, ...plan.providers];
  if (known.some(({ name, baseUrl }) => name === studio.id || addressOf(baseUrl) === address)) return;
  const met = found.filter(({ server, baseUrl }) => server?.server === "unsloth" && addressOf(baseUrl) === address);
  for (const { baseUrl } of met) plan.names.set(baseUrl, studio.id);
  if (asked || met.length > 0) plan.providers.push(blockOf(studio));
  else plan.commented = blockOf(studio);
}

/** Returns whether an id can be written and shown unchanged: no control or direction characters, not too long. */
function isName(id: string): boolean {
  // deno-lint-ignore no-control-regex -- control characters are what is searched for
  return id.length <= ID_LIMIT && !/[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/.test(id);
}

function blockOf(runtime: Runtime): PlannedProvider {
  return { name: runtime.id, baseUrl: runtime.baseUrl, apiKey: runtime.apiKey, models: [] };
}

function planProvider(plan: Plan, server: Discovered, configured: readonly Configured[]): void {
  const name = nameFor(server);
  if ([...configured, ...plan.providers].some((provider) => provider.name === name)) {
    plan.notes.push(
      `${name} is configured for another address and was not changed; to use the server at ${server.host}:${server.port}: agentcli providers add <name> --base-url ${server.baseUrl}`,
    );
    return;
  }
  // The placeholder key is for loopback; elsewhere it would be sent as a key.
  const apiKey = server.local ? RUNTIMES.find((one) => one.id === name)?.apiKey ?? "local" : "none";
  plan.names.set(server.baseUrl, name);
  plan.providers.push({
    name,
    baseUrl: server.baseUrl,
    apiKey,
    models: limited(plan, server.models, { provider: name, limit: MODEL_LIMIT }),
  });
}

function planModels(plan: Plan, server: Discovered, owner: Configured): void {
  const key = backendOf(server.server?.server ?? null)?.modelName ?? ((id: string) => id);
  const known = new Set(owner.models.map((model) => key(model.id)));
  const served = new Set(server.models.map((model) => key(model.id)));
  const aliases = new Set(owner.models.flatMap((model) => model.aliases));
  const added = server.models.filter((model) => !known.has(key(model.id)) && !aliases.has(model.id));
  for (const model of server.models) {
    // In the file it would mean two models.
    if (!known.has(key(model.id)) && aliases.has(model.id)) {
      plan.notes.push(`${owner.name} serves '${model.id}', which is already an alias; it was skipped`);
    }
  }
  if (added.length > 0) {
    plan.models.push({
      provider: owner.name,
      models: limited(plan, added, { provider: owner.name, limit: ADDED_LIMIT }),
    });
  }
  for (const model of owner.models) {
    if (!served.has(key(model.id))) plan.gone.push({ provider: owner.name, model: model.id });
  }
}

function limited(
  plan: Plan,
  models: readonly DiscoveredModel[],
  to: { provider: string; limit: number },
): DiscoveredModel[] {
  if (models.length > to.limit) {
    plan.notes.push(`${to.provider} serves ${models.length} new models; ${to.limit} were added; run again for more`);
  }
  return models.slice(0, to.limit);
}

/** The id of the runtime on this machine; elsewhere, and on other ports, a name that says where. */
function nameFor(server: Discovered): string {
  if (server.local && server.runtime !== null) return server.runtime;
  const kind = server.runtime ?? server.server?.server ?? "server";
  const place = server.local
    ? String(server.port)
    : server.runtime === null
    ? `${server.host}-${server.port}`
    : server.host;
  return `${kind}-${place}`.toLowerCase().replace(/[^a-z0-9_.-]+/g, "-").replace(/-+$/, "").slice(0, 64);
}

/** Returns a model as a provider's entry has it. */
export function recordOf({ id, contextWindow }: DiscoveredModel): ModelChange {
  return contextWindow === null ? { id } : { id, context_window: contextWindow };
}

/** Returns an address for comparing: the names of loopback are one host. */
export function addressOf(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  if (url === null) return baseUrl;
  const host = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname) ? "localhost" : url.hostname;
  return `${url.protocol}//${host}:${portOf(url)}${url.pathname.replace(/\/+$/, "")}`;
}
