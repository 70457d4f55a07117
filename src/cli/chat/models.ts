/** The models that can be chosen: what the configured servers really have. */
import { isLocal } from "../../boundary/policy/locality.ts";
import { effectiveBaseUrl } from "../../config/base_url.ts";
import { resolveEndpoint } from "../../config/endpoint.ts";
import type { ProviderEntry } from "../../config/types.ts";
import { asAgentcliError } from "../../errors.ts";
import { createHttpClient } from "../../provider/http/client.ts";
import { listModels } from "../../provider/backends/model_list.ts";
import { findProjectContext } from "../../runtime/project_context.ts";
import type { Context } from "../command.ts";

/** How long a server is waited for, in milliseconds. */
const TIMEOUT_MS = 3000;

/** One model, or a server that does not answer (`selector` null). */
export interface OfferedModel {
  selector: string | null;
  provider: string;
  local: boolean;
  /** Beside the name: how it is known, or what is wrong. */
  note: string;
}

/**
 * All providers are asked at the same time; configured models of a server that does not answer are listed too. Throws the
 * signal's reason.
 */
export async function offeredModels(context: Context, signal: AbortSignal): Promise<OfferedModel[]> {
  const { io } = context;
  const { configuration, markers } = await findProjectContext({ io: context.io, cwd: context.globals.cwd });
  const client = createHttpClient(io);
  const ask = async (provider: ProviderEntry): Promise<OfferedModel[]> => {
    const local = isLocal(effectiveBaseUrl(provider, io.env), markers.localEndpoints);
    const base = { provider: provider.name, local };
    const place = local ? "local" : "remote";
    try {
      const endpoint = await resolveEndpoint(provider, { env: io.env, local, stores: io });
      const { models } = await listModels(client, endpoint, { timeoutMs: TIMEOUT_MS, signal });
      return models.map(({ id }) => ({ ...base, selector: `${provider.name}:${id}`, note: place }));
    } catch (error) {
      signal.throwIfAborted();
      const reason = asAgentcliError(error).message;
      const configured = provider.models.map(({ id }) => ({
        ...base,
        selector: `${provider.name}:${id}`,
        note: `${place}, configured; ${reason}`,
      }));
      return configured.length > 0 ? configured : [{ ...base, selector: null, note: `${place}; ${reason}` }];
    }
  };
  try {
    return (await Promise.all(configuration.providers.map(ask))).flat();
  } finally {
    client.close();
  }
}
