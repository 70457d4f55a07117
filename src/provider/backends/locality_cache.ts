/** Keeps for a while what the servers said of where models run. */
import type { HttpClient } from "../http/client.ts";
import type { Endpoint } from "../types.ts";
import type { ModelLocality } from "./backend.ts";

/** Validity of a cached result, in milliseconds: enough for one request, since a server can be another one the next moment. */
const VALID_MS = 1_000;

export interface LocatedModel {
  endpoint: Endpoint;
  /** As the server knows it. */
  model: string;
  /** The provider entry says `local: true`: the user's word for a server that cannot tell. */
  trusted: boolean;
}

export interface LocalityCache {
  /**
   * Returns where the model runs. `here` takes an answer of the server to every question; no answer in time, or a
   * failure, is `remote` and is not kept. Throws only the signal's reason.
   */
  of(located: LocatedModel, signal?: AbortSignal): Promise<ModelLocality>;
}

/** Creates an empty cache. */
export function createLocalityCache(client: HttpClient, clock: { monotonic(): number }): LocalityCache {
  const known = new Map<string, { locality: ModelLocality; until: number }>();
  return {
    async of(located, signal) {
      const { endpoint, model, trusted } = located;
      if (!endpoint.local) return { kind: "remote", reason: `the address of ${endpoint.provider} is not local` };
      const name = JSON.stringify([endpoint.baseUrl, model, trusted]);
      const before = known.get(name);
      if (before !== undefined && before.until > clock.monotonic()) return before.locality;
      // Most sessions have nothing to protect, and never ask.
      const { locate } = await import("./model_locality.ts");
      const { locality, certain } = await locate(client, located, signal);
      if (certain) known.set(name, { locality, until: clock.monotonic() + VALID_MS });
      else known.delete(name);
      return locality;
    },
  };
}
