/** The window in force of a session's model, asked of its server. Source: wire reference, §3. */
import { withDeadline } from "../../provider/http/fetch_json.ts";
import type { HttpClient } from "../../provider/http/client.ts";
import { fetchModelList } from "../../provider/backends/model_list.ts";
import type { Endpoint } from "../../provider/types.ts";
import type { Inquiry, ModelFacts } from "../../provider/backends/backend.ts";
import { backendOf } from "../../provider/backends/backends.ts";
import { findWindows, inquire } from "../../provider/backends/inquiry.ts";

/** For all questions together, in milliseconds: a slower server shows it in its responses. */
const SEARCH_MS = 1500;
/** Longest wait for a server to load the model, which the first request would wait for otherwise. Milliseconds. */
const LOADING_MS = 120_000;

/** Statuses of servers that have no list, or none for us; with others it may be there the next time. */
const NO_LIST: ReadonlySet<number> = new Set([401, 403, 404, 405, 501]);

export interface FoundServer {
  /** The id of a backend; null when it was not recognized. */
  server: string | null;
  /** Tokens; null when the server does not say. */
  window: number | null;
  /** Further facts about the model that it reports; null for none. */
  facts: ModelFacts | null;
  /** Whether asking again would give the same: false after a failure, or while the model may not be loaded. */
  settled: boolean;
}

interface WindowSearch {
  model: string;
  signal: AbortSignal;
  /** The model has answered: what is not reported now never is. */
  loaded?: boolean;
  /** Let a server load the model that reports the window only then (Ollama). `onLoading` is called before. */
  load?: { onLoading(): void };
}

/**
 * Recognizes the server and asks it for the window of a model, within 1.5 s; loading a model on Ollama takes as long as
 * it takes. No other server is made to load anything. Never throws: what cannot be found out is null.
 */
export async function findServerWindow(
  client: HttpClient,
  endpoint: Endpoint,
  search: WindowSearch,
): Promise<FoundServer> {
  const { model, signal } = search;
  const found: FoundServer = { server: null, window: null, facts: null, settled: false };
  const limits = { timeoutMs: SEARCH_MS, signal };
  try {
    await withDeadline(limits, async (within) => {
      const bounded = { timeoutMs: SEARCH_MS, signal: within };
      const answer = await fetchModelList(client, endpoint, bounded).catch(() => null);
      const inquiry = inquire(client, endpoint, { answer, limits: bounded });
      found.server = (await inquiry.recognize())?.server ?? null;
      const backend = backendOf(found.server);
      found.window = await windowOf(inquiry, found.server, model);
      found.facts = await backend?.facts?.(inquiry, model) ?? null;
      const isAnswered = inquiry.list !== null || (answer !== null && NO_LIST.has(answer.status));
      found.settled = isAnswered && (search.loaded === true || backend?.window === undefined);
    });
    if (found.window === null && search.load !== undefined) {
      const loading = inquire(client, endpoint, { limits: { timeoutMs: LOADING_MS, signal } });
      const { onLoading } = search.load;
      const loaded = await backendOf(found.server)?.loadModel?.(loading, model, onLoading) ?? false;
      found.window = loaded ? await windowOf(inquire(client, endpoint, { limits }), found.server, model) : null;
    }
  } catch {
    // Whatever is wrong with the server, the turn itself says it better.
  }
  return { ...found, settled: found.settled || found.window !== null };
}

async function windowOf(inquiry: Inquiry, server: string | null, model: string): Promise<number | null> {
  return (await findWindows(inquiry, server, [model])).get(model)?.tokens ?? null;
}
