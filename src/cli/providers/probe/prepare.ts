/** From the command line to the model under test: chosen, addressed, and the stand-in server started for the demo. */
import { resolveEndpoint } from "../../../config/endpoint.ts";
import { effectiveBaseUrl } from "../../../config/base_url.ts";
import { loadConfiguration } from "../../../config/load.ts";
import { selectModel } from "../../../config/select.ts";
import { DEMO } from "../../../config/selector.ts";
import type { ModelEntry, ProviderEntry } from "../../../config/types.ts";
import { openHome } from "../../../platform/home.ts";
import { createHttpClient, type HttpClient } from "../../../provider/http/client.ts";
import { listModels } from "../../../provider/backends/model_list.ts";
import type { Endpoint } from "../../../provider/types.ts";
import type { Context } from "../../verb.ts";
import { localityOf } from "../locality.ts";

/** How long the list of models is waited for when a model is not configured, in milliseconds. */
const LIST_TIMEOUT = 5000;

/** The model under test. */
export interface Prepared {
  client: HttpClient;
  endpoint: Endpoint;
  model: ModelEntry;
  /** A sentence about the choice, for stderr. */
  warning?: string;
  /** Ends connections and the demo server. */
  close(): Promise<void>;
}

/** Chooses and addresses the model. Throws configuration and key errors; leaves nothing open then. */
export async function prepare(selector: string, context: Context): Promise<Prepared> {
  const { io } = context;
  const configuration = await loadConfiguration(await openHome(io));
  const isLocal = await localityOf(context);
  const endpointOf = async (provider: ProviderEntry) =>
    await resolveEndpoint(provider, { env: io.env, local: isLocal(effectiveBaseUrl(provider, io.env)), stores: io });
  const client = createHttpClient(io);
  const opened: (() => Promise<void>)[] = [() => Promise.resolve(client.close())];
  const close = async () => {
    for (const end of opened.splice(0).reverse()) await end();
  };
  try {
    const { selection, warning } = await selectModel(configuration, { option: selector }, async (provider) => {
      try {
        const list = await listModels(client, await endpointOf(provider), { timeoutMs: LIST_TIMEOUT });
        return list.models.map(({ id }) => id);
      } catch {
        // Whatever is wrong with the server, the checks say it better than its list would.
        return null;
      }
    });
    let { provider } = selection;
    if (provider.name === DEMO) {
      const { startDemo } = await import("../../../demo/server.ts");
      const demo = await startDemo();
      opened.push(() => demo.close());
      provider = { ...provider, baseUrl: demo.baseUrl };
    }
    const endpoint = await endpointOf(provider);
    return { client, endpoint, model: selection.model, ...(warning === undefined ? {} : { warning }), close };
  } catch (error) {
    await close();
    throw error;
  }
}
