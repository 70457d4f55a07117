/** What is known of the session's server before the first request: remembered, or asked within a second and a half. */
import type { AskModel } from "../agent/turn.ts";
import type { SideModel } from "../agent/server.ts";
import { ASSUMED_WINDOW } from "../agent/context/tokens.ts";
import { selectForRole } from "../config/select.ts";
import type { ModelEntry, ProviderEntry } from "../config/types.ts";
import type { Home } from "../platform/home.ts";
import type { Io } from "../platform/io.ts";
import { chat } from "../provider/chat/chat.ts";
import { createChatCache } from "../provider/chat/request.ts";
import type { HttpClient } from "../provider/http/client.ts";
import { type ModelMetadata, readModelMetadata, storeModelMetadata } from "../provider/backends/model_metadata.ts";
import type { LocatedModel } from "../provider/backends/model_locality.ts";
import type { Endpoint } from "../provider/types.ts";
import type { Host } from "./host.ts";
import type { ProviderReach } from "./model.ts";
import type { ProjectContext } from "./project_context.ts";

/** Whom to ask, and how. */
export interface ServerSearch {
  host: Pick<Host, "io" | "loading">;
  home: Home;
  client: HttpClient;
  endpoint: Endpoint;
  entry: ModelEntry;
  /** Called with writing that shall be over before the process ends. */
  later(work: Promise<unknown>): void;
}

/**
 * What is known of the model on its server. A configured window costs no request, unless the server refused a prompt that
 * was shorter; one that an earlier session found is taken for half an hour; else the server is asked. What could not be
 * found out is not remembered. Never throws.
 */
export async function knowServer(search: ServerSearch): Promise<ModelMetadata> {
  const { host: { io }, home, endpoint, entry } = search;
  const address = { baseUrl: endpoint.baseUrl, model: entry.id };
  const known = await readModelMetadata(home, address, { now: io.clock.now() });
  const { contextWindow = Infinity } = entry;
  const { refusedWindow = Infinity } = known;
  if (contextWindow === Infinity ? known.window !== undefined : refusedWindow >= contextWindow) return known;
  const { settled, ...found } = await ask(search);
  if (!settled || (contextWindow < Infinity && found.window === null)) {
    // A server that was refused and tells nothing may well be as it was.
    return found.server === null ? known : { ...known, server: found.server };
  }
  // One that was started anew with more room is believed.
  const isLess = found.window !== null && found.window < contextWindow && refusedWindow < contextWindow;
  const facts = { ...found, refusedWindow: isLess && found.window !== null ? found.window : undefined };
  search.later(storeModelMetadata(home, address, { facts, now: io.clock.now() }));
  return { ...known, ...facts };
}

async function ask({ host, client, endpoint, entry }: ServerSearch) {
  const { findServerWindow } = await import("../agent/context/window.ts");
  const stopping = new AbortController();
  const remove = host.io.onSignal(() => stopping.abort());
  let loaded: (() => Promise<void>) | undefined;
  try {
    return await findServerWindow(client, endpoint, {
      model: entry.id,
      signal: stopping.signal,
      load: { onLoading: () => void (loaded ??= host.loading?.()) },
    });
  } finally {
    await loaded?.();
    remove();
  }
}

/** Where the model of role `compact` is looked for. */
export interface CompactSearch {
  io: Io;
  client: HttpClient;
  project: Pick<ProjectContext, "configuration">;
  /** The provider of the session's own model. */
  session: ProviderEntry;
  reach: ProviderReach;
  /** Asks before each request whether it may go there. */
  admit(ask: AskModel, located: LocatedModel, own: boolean): AskModel;
}

/** Returns the model of role `compact`, ready to be asked; null when the session's own model does the work. */
export async function findCompactModel(search: CompactSearch): Promise<SideModel | null> {
  const { io, client, project, session, reach } = search;
  const { servedModels } = reach;
  const chosen = await selectForRole(project.configuration, "compact", { session, servedModels });
  if (chosen === null) return null;
  const { provider, model } = chosen;
  const endpoint = await reach.endpointOf(provider);
  const cache = createChatCache();
  return {
    ask: search.admit(
      (request, asked) => chat(client, { endpoint, request }, { ...asked, cache, clock: io.clock }),
      { endpoint, model: model.id, trusted: provider.local },
      false,
    ),
    provider: provider.name,
    local: endpoint.local,
    id: model.id,
    contextWindow: model.contextWindow ?? await windowOf(model.id, endpoint, client) ?? ASSUMED_WINDOW,
    maxTokens: model.maxTokens,
    params: model.params,
  };
}

async function windowOf(model: string, endpoint: Endpoint, client: HttpClient): Promise<number | null> {
  const { findServerWindow } = await import("../agent/context/window.ts");
  return (await findServerWindow(client, endpoint, { model, signal: new AbortController().signal })).window;
}
