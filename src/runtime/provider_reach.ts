/** Providers as they are reached from one project: its markers say which addresses count as local. */
import { isLocal } from "../boundary/policy/locality.ts";
import type { MarkerState } from "../boundary/policy/marker.ts";
import { effectiveBaseUrl, resolveEndpoint } from "../config/endpoint.ts";
import type { ServedModels } from "../config/select.ts";
import type { ProviderEntry } from "../config/types.ts";
import type { Io } from "../platform/io.ts";
import type { HttpClient } from "../provider/http/client.ts";
import { listModels } from "../provider/backends/model_list.ts";
import type { Endpoint } from "../provider/types.ts";

/** How long a server's list of models is waited for when a model is not configured, in milliseconds. */
const LIST_TIMEOUT_MS = 5000;

/** The way to providers. */
export interface ProviderReach {
  /** Throws what {@link resolveEndpoint} throws. */
  endpointOf(provider: ProviderEntry): Promise<Endpoint>;
  servedModels: ServedModels;
}

/** The providers of a configuration as they are seen from a project with these markers. */
export function reachProviders(client: HttpClient, { io, markers }: { io: Io; markers: MarkerState }): ProviderReach {
  const endpointOf = async (provider: ProviderEntry) => {
    const local = isLocal(effectiveBaseUrl(provider, io.env), markers.localEndpoints);
    return await resolveEndpoint(provider, { env: io.env, local, stores: io });
  };
  return {
    endpointOf,
    async servedModels(provider) {
      try {
        const list = await listModels(client, await endpointOf(provider), { timeoutMs: LIST_TIMEOUT_MS });
        return list.models.map((model) => model.id);
      } catch {
        // Whatever is wrong with the server, the turn itself says it better than its list would.
        return null;
      }
    },
  };
}
