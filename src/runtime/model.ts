/** The model and the server of a session. */
import { selectModel, type ServedModels, type WantedModel } from "../config/select.ts";
import type { Configuration, ModelEntry, ProviderEntry } from "../config/types.ts";
import type { Demo } from "../demo/server.ts";
import type { Io } from "../platform/io.ts";
import type { Endpoint } from "../provider/types.ts";
import { configuredProvider, DEMO, splitSelector } from "../config/find.ts";
import { assumedWindow, responseLimit } from "../agent/context/tokens.ts";
import type { SessionModel } from "../agent/session.ts";
import { protocolNamed, safest, type ToolProtocol } from "../agent/chat_request.ts";
import { type ModelMetadata, readModelMetadata, storeModelMetadata } from "../provider/backends/model_metadata.ts";
import type { SessionContext } from "../session/line.ts";
import type { Host } from "./host.ts";
import type { SessionOptions } from "./session_options.ts";
import { productOf } from "../config/base_url.ts";
import { isLocalProvider, resolveEndpoint } from "../config/endpoint.ts";
import type { HttpClient } from "../provider/http/client.ts";
import type { ModelFacts, ModelLocality } from "../provider/backends/backend.ts";
import { Localities, type LocatedModel } from "../provider/backends/localities.ts";
import { join } from "../platform/path.ts";
import { exists } from "../platform/real_path.ts";
import type { ProjectContext } from "./project_context.ts";
import type { ProtectedProjects } from "../boundary/policy/project.ts";
import { familyOf } from "../provider/profiles/families.ts";
import { plainProfile, type RequestProfile, requestProfile } from "../provider/profiles/profile.ts";
import type { Home } from "../platform/home.ts";

/** A model as a session is made for it. */
export interface ChosenModel extends SelectedModel {
  /** Where it counts as running. The address is for connections alone: it proves nothing. */
  place: ModelLocality;
}

/** The part of it that the project is opened for. */
export type PlacedModel = Pick<ChosenModel, "provider" | "endpoint" | "place">;

interface SelectedModel {
  provider: ProviderEntry;
  entry: ModelEntry;
  endpoint: Endpoint;
  /** The stand-in server; null for all others. */
  demo: Demo | null;
  /** For stderr. */
  notices: string[];
}

/**
 * The model of `--model`, else of `AGENTCLI_MODEL`, else of the configuration, else of the stored session. Throws what
 * {@link selectModel} and the key and certificates of its provider throw.
 */
export async function chooseModel(
  option: string | undefined,
  { host, configuration, models, opened, stored }: {
    host: Host;
    configuration: Configuration;
    models: ModelAccess;
    /** Closes the stand-in server. */
    opened: AsyncDisposableStack;
    /** The model that the stored session had; undefined for a new one. */
    stored: WantedModel["session"];
  },
): Promise<SelectedModel> {
  const wanted = { option, environment: host.io.env("AGENTCLI_MODEL"), session: stored };
  const { provider: selected, model, source, warning } = await selectModel(configuration, wanted, models.servedModels);
  const demo = selected.name === "demo" ? await (await import("../demo/server.ts")).startDemo() : null;
  if (demo !== null) opened.defer(() => demo.close());
  const provider = demo === null ? selected : { ...selected, baseUrl: demo.baseUrl };
  const endpoint = await models.endpointOf(provider);
  // Where nothing shows the model.
  const isUnnamed = host.isSingleTurn === true && source === "only provider" && !endpoint.local;
  const unnamed = `no model was named; using ${provider.name}:${model.id} at ${endpoint.baseUrl} (remote)`;
  return {
    provider,
    entry: model,
    endpoint,
    demo,
    notices: [...warning === undefined ? [] : [warning], ...isUnnamed ? [unnamed] : []],
  };
}

/** Returns a model as its place is asked for. */
export function locatedModel(
  { provider, entry, endpoint }: Pick<SelectedModel, "provider" | "entry" | "endpoint">,
): LocatedModel {
  return { endpoint, model: entry.id, trusted: provider.local };
}

/**
 * The selector for what a client calls a model: a selector of a provider there is stays as it is, anything else is a
 * model of the default provider. Undefined, for the usual model, where nothing or `default` is named.
 */
export function clientModel(name: string | undefined, configuration: Configuration): string | undefined {
  const wanted = name?.trim() ?? "";
  if (wanted === "" || wanted === "default") return undefined;
  const { providers, defaultProvider } = configuration;
  const selected = splitSelector(wanted)?.provider;
  const isProvider = selected !== undefined && configuredProvider(configuration, selected) !== undefined;
  if (selected === DEMO || isProvider) return wanted;
  const withModels = providers.filter((provider) => provider.models.length > 0);
  const usual = defaultProvider ?? (withModels.length === 1 ? withModels[0]?.name : undefined);
  return usual === undefined ? wanted : `${usual}:${wanted}`;
}

/**
 * Window and limits: what is configured unless the server refused it, else what is known of the server, else assumed.
 */
export function sessionModel(
  { provider, entry, endpoint, place }: ChosenModel,
  { known, options }: { known: ModelMetadata; options: Pick<SessionOptions, "maxTokens" | "temperature"> },
): SessionModel {
  const local = place.kind === "here";
  const { contextWindow, windowSource } = windowOf(entry.contextWindow, { known, local });
  return {
    provider: provider.name,
    baseUrl: endpoint.baseUrl,
    local,
    isInDoubt: place.kind === "remote" && place.inDoubt,
    keySource: endpoint.keySource,
    entry,
    contextWindow,
    windowSource,
    maxTokens: responseLimit(contextWindow, entry, options.maxTokens),
    askedMaxTokens: options.maxTokens,
    temperature: options.temperature,
  };
}

/**
 * Returns what people call the server of a provider that has an id of ours: as it was recognized, else as the id says.
 */
export async function serverName(provider: string, recognized: string | null | undefined): Promise<string | undefined> {
  const product = productOf(provider);
  if (product === "" || typeof recognized !== "string") return product === "" ? undefined : product;
  const { backendOf } = await import("../provider/backends/backends.ts");
  return backendOf(recognized)?.label ?? product;
}

function windowOf(
  configured: number | undefined,
  { known: { window, refusedWindow = Infinity }, local }: { known: ModelMetadata; local: boolean },
): Pick<SessionModel, "contextWindow" | "windowSource"> {
  if (configured === undefined) {
    const isFound = window !== undefined && window !== null;
    return { contextWindow: isFound ? window : assumedWindow({ local }), windowSource: isFound ? "found" : "assumed" };
  }
  return refusedWindow < configured
    ? { contextWindow: refusedWindow, windowSource: "learned" }
    : { contextWindow: configured, windowSource: "configured" };
}

/** Settings that a configured protocol leaves open and a server may need. */
const REFINED: Partial<Record<ToolProtocol, ToolProtocol>> = { native: "single", text: "no_system" };

/**
 * How tools are offered and calls sent back: what is configured, else as the stored session did and as the server is
 * known to need it.
 */
export function toolProtocolOf(
  { entry }: Pick<ChosenModel, "entry">,
  { known, before }: { known: ModelMetadata; before: SessionContext | null },
): ToolProtocol {
  const found = [protocolNamed(before?.toolProtocol), known.toolCalls, known.template];
  if (entry.toolCalls === undefined) return safest(found) ?? "native";
  const refined = REFINED[entry.toolCalls];
  return refined !== undefined && found.includes(refined) ? refined : entry.toolCalls;
}

/** Returns how requests to a model are made, by what is known of it and of its server. */
export async function profileOf(
  { entry, demo }: ChosenModel,
  { model, server, facts }: { model: SessionModel; server: string | null | undefined; facts: ModelFacts },
): Promise<RequestProfile> {
  if (demo !== null) return plainProfile(entry);
  // Known servers alone have something to add to what is the same everywhere.
  const { backendOf } = typeof server === "string"
    ? await import("../provider/backends/backends.ts")
    : { backendOf: () => undefined };
  const { local, temperature, contextWindow } = model;
  return requestProfile({ entry, temperature, local, contextWindow, backend: backendOf(server ?? null), facts });
}

/** How long a server's list of models is waited for when a model is not configured, in milliseconds. */
const LIST_TIMEOUT_MS = 5000;

/**
 * The providers of a configuration as they are seen from a project with these local endpoints. `endpointOf` throws what
 * {@link resolveEndpoint} throws.
 */
export function reachProviders(
  client: HttpClient,
  { io, localEndpoints }: { io: Io; localEndpoints: readonly string[] },
) {
  const endpointOf = async (provider: ProviderEntry) => {
    const local = isLocalProvider(provider, io, localEndpoints);
    return await resolveEndpoint(provider, { env: io.env, local, stores: io });
  };
  const servedModels: ServedModels = async (provider) => {
    try {
      const { listModels } = await import("../provider/backends/model_list.ts");
      const list = await listModels(client, await endpointOf(provider), { timeoutMs: LIST_TIMEOUT_MS });
      return list.models.map((model) => model.id);
    } catch {
      // Whatever is wrong with the server, the turn itself says it better than its list would.
      return null;
    }
  };
  return { endpointOf, servedModels };
}

interface MetadataSearch {
  host: Pick<Host, "io" | "waiting">;
  home: Home;
  client: HttpClient;
  endpoint: Endpoint;
  entry: ModelEntry;
  /** Called with writes that have to be done before the process ends. */
  later(work: Promise<unknown>): void;
}

/**
 * Finds the metadata of a model: what an earlier session found in the last half hour, otherwise what the server says.
 * With a configured window the server is asked only if it has refused a shorter prompt, or runs here and has a model
 * whose family is known to need special requests. What could not be found out is not cached. Never throws.
 */
export async function findModelMetadata(search: MetadataSearch): Promise<ModelMetadata> {
  const { host: { io }, home, endpoint, entry } = search;
  const address = { baseUrl: endpoint.baseUrl, model: entry.id };
  const known = await readModelMetadata(home, address, { now: io.clock.now() });
  const { contextWindow = Infinity } = entry;
  const { refusedWindow = Infinity } = known;
  const isProfiled = endpoint.local && known.server === undefined && familyOf(entry.id) !== undefined;
  if (contextWindow === Infinity ? known.window !== undefined : refusedWindow >= contextWindow && !isProfiled) {
    return known;
  }
  const { settled, ...found } = await askServer(search);
  // A server that refused the configured window and reports none is taken to be unchanged.
  const isRefused = contextWindow < Infinity && refusedWindow < contextWindow;
  if (!settled || (isRefused && found.window === null)) {
    return found.server === null ? known : { ...known, server: found.server, facts: found.facts };
  }
  const { formerWindow } = known;
  if (contextWindow === Infinity && found.window === null && formerWindow !== undefined) {
    // The window learned from a refusal is better than an assumed one.
    return { ...known, ...found, window: formerWindow };
  }
  // A server that was restarted with a larger window is believed.
  const isLess = found.window !== null && found.window < contextWindow && refusedWindow < contextWindow;
  const facts = { ...found, refusedWindow: isLess && found.window !== null ? found.window : undefined };
  search.later(storeModelMetadata(home, address, { facts, now: io.clock.now() }));
  return { ...known, ...facts };
}

async function askServer({ host, client, endpoint, entry }: MetadataSearch) {
  const { findServerWindow } = await import("../agent/context/window.ts");
  const stopping = new AbortController();
  const remove = host.io.onSignal(() => stopping.abort());
  let loaded: (() => Promise<void>) | undefined;
  try {
    return await findServerWindow(client, endpoint, {
      model: entry.id,
      signal: stopping.signal,
      ...(entry.contextWindow === undefined
        ? { load: { onLoading: () => void (loaded ??= host.waiting?.("loading the model")) } }
        : {}),
    });
  } finally {
    await loaded?.();
    remove();
  }
}

/** How the models of a session are reached, and where they count as running. */
export type ModelAccess = ReturnType<typeof accessModels>;

/** Returns how the models of a session are reached, through a client. */
export function accessModels(
  client: HttpClient,
  { options, io, project, projects }: {
    options: Pick<SessionOptions, "mcpServers">;
    io: Io;
    project: ProjectContext;
    projects: ProtectedProjects;
  },
) {
  const localities = new Localities(client, io);
  /** Returns whether anything may have to be kept from models elsewhere. */
  const mayHoldBack = async () =>
    project.isProtected || await projects.any() || await hasServersForLocal(options, project);
  return {
    client,
    localities,
    ...reachProviders(client, { io, localEndpoints: project.localEndpoints }),
    mayHoldBack,
    /**
     * Returns where a model counts as running: by its server's own word, or by its address and name alone where nothing
     * has to be kept from it, since that costs no request. One question, whose answer decides what the model gets from
     * the first moment; the server is asked when it is `ready`.
     */
    async placeOf(located: LocatedModel, ready: () => Promise<unknown> = () => Promise.resolve()) {
      const place = localities.byAddress(located);
      if (place.kind === "remote" || !await mayHoldBack()) return place;
      await ready();
      return await localities.of(located);
    },
  };
}

/** Returns whether the session has MCP servers whose data is for local models alone. */
async function hasServersForLocal(
  options: Pick<SessionOptions, "mcpServers">,
  project: ProjectContext,
): Promise<boolean> {
  if (!mayHaveServers(options, project)) return false;
  const { configuredServers } = await import("../mcp/configured.ts");
  const given = options.mcpServers ?? [];
  const { servers } = configuredServers(project.configuration, { root: project.projectRoot, given });
  return servers.some(({ enabled, label }) => enabled && label === "no-cloud");
}

/**
 * Returns whether the options, the configuration or the project name MCP servers: nothing of them is loaded before
 * that.
 */
export function mayHaveServers(
  { mcpServers = [] }: Pick<SessionOptions, "mcpServers">,
  { configuration, projectRoot }: ProjectContext,
): boolean {
  return mcpServers !== null &&
    (mcpServers.length > 0 || (configuration.mcpServers ?? []).length > 0 || exists(join(projectRoot, ".mcp.json")));
}
