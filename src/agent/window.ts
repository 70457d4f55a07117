/** The window in force of a session's model, asked of its server. Source: wire reference, §3. */
import { withDeadline } from "../provider/ask.ts";
import type { HttpDoor } from "../provider/http.ts";
import { askForModels, type ModelAnswer } from "../provider/models.ts";
import { recognise } from "../provider/recognise.ts";
import type { Endpoint } from "../provider/types.ts";
import { findWindow, preloadOllama } from "../provider/window.ts";

/** For all questions together, in milliseconds: a server that is slower tells it through its replies. */
const SEARCH_MS = 1500;
/** Longest wait for Ollama to load the model, which the first request would wait for otherwise. Milliseconds. */
const LOADING_MS = 120_000;

/** What was found out. */
export interface FoundServer {
  /** A row of the table of fingerprints; null when it was not recognised. */
  server: string | null;
  /** Tokens; null when the server does not tell. */
  window: number | null;
}

/** What a search is given. */
export interface WindowSearch {
  model: string;
  signal: AbortSignal;
  /** Let Ollama load the model: only then it tells the window. `onLoading` is called before. */
  load?: { onLoading(): void };
}

/**
 * Recognises the server and asks it for the window of a model, within 1.5 s; loading a model on Ollama takes as long as
 * it takes. No other server is made to load anything. Never throws: what cannot be found out is null.
 */
export async function findServerWindow(
  door: HttpDoor,
  endpoint: Endpoint,
  search: WindowSearch,
): Promise<FoundServer> {
  const { model, signal } = search;
  const found: FoundServer = { server: null, window: null };
  const limits = { timeoutMs: SEARCH_MS, signal };
  try {
    await withDeadline(limits, async (within) => {
      const bounded = { timeoutMs: SEARCH_MS, signal: within };
      const answer = await askForModels(door, endpoint, bounded).catch((): ModelAnswer | null => null);
      const list = answer?.kind === "list" ? answer.list : null;
      const refused = answer?.kind === "refused" ? { refused: answer.answer } : {};
      const known = await recognise(door, endpoint, { ...bounded, list, ...refused });
      found.server = known?.server ?? null;
      const window = await findWindow(door, endpoint, { ...bounded, server: found.server, list, model });
      found.window = window?.tokens ?? null;
    });
    if (found.server === "ollama" && found.window === null && search.load !== undefined && !isCloudModel(model)) {
      search.load.onLoading();
      const loaded = await preloadOllama(door, { endpoint, model }, { timeoutMs: LOADING_MS, signal });
      if (!loaded) return found;
      const window = await findWindow(door, endpoint, { ...limits, server: found.server, list: null, model });
      found.window = window?.tokens ?? null;
    }
  } catch {
    // Whatever is wrong with the server, the turn itself says it better.
  }
  return found;
}

/** Ollama sends these on to its maker's servers: there is nothing to load. Source: wire reference, §4. */
function isCloudModel(model: string): boolean {
  return /[:-]cloud$/i.test(model);
}
