/** The models that can be chosen: what the configured servers really have. */
import { findMarkers } from "../../boundary/marker.ts";
import { findProjectRoot } from "../../boundary/project.ts";
import { isLocal } from "../../boundary/locality.ts";
import { effectiveBaseUrl, resolveEndpoint } from "../../config/endpoint.ts";
import { loadConfiguration } from "../../config/load.ts";
import type { ProviderEntry } from "../../config/types.ts";
import { asAgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import { openDoor } from "../../provider/http.ts";
import { listModels } from "../../provider/models.ts";
import type { Context } from "../verb.ts";

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

/** All providers are asked at the same time; configured models of a server that does not answer are listed too. */
export async function offeredModels({ io, globals }: Context): Promise<OfferedModel[]> {
  const configuration = await loadConfiguration(await openHome(io));
  const userHome = io.env(io.os === "windows" ? "USERPROFILE" : "HOME");
  const { localEndpoints } = await findMarkers(await findProjectRoot(globals.cwd, userHome));
  const door = openDoor(io);
  const ask = async (provider: ProviderEntry): Promise<OfferedModel[]> => {
    const local = isLocal(effectiveBaseUrl(provider, io.env), localEndpoints);
    const base = { provider: provider.name, local };
    const place = local ? "local" : "remote";
    try {
      const endpoint = await resolveEndpoint(provider, { env: io.env, local, stores: io });
      const { models } = await listModels(door, endpoint, { timeoutMs: TIMEOUT_MS });
      return models.map(({ id }) => ({ ...base, selector: `${provider.name}:${id}`, note: place }));
    } catch (error) {
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
    door.close();
  }
}
