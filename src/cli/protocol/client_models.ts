/** The models a client may choose from: those of the configuration, each by its selector. */
import { isLocalProvider } from "../../config/endpoint.ts";
import { splitSelector } from "../../config/find.ts";
import { selectModel, usualSelection } from "../../config/select.ts";
import type { Configuration } from "../../config/types.ts";
import type { Io } from "../../platform/io.ts";
import { clientModel, reachProviders } from "../../runtime/model.ts";
import { configured, withClient } from "../result.ts";

interface ClientModel {
  /** The value for `set_model` and `--model`. */
  value: string;
  displayName: string;
  description: string;
}

/** The default model as `default`, then all configured ones. Empty where there is no usable configuration. */
export async function clientModels(io: Io): Promise<ClientModel[]> {
  let configuration: Configuration;
  try {
    ({ configuration } = await configured({ io }));
  } catch {
    // The turn itself reports what is wrong; a client that only connects should not fail.
    return [];
  }
  const usual = splitSelector(await usualModel(configuration, io) ?? "");
  const description = usual === null ? "" : `${usual.model} at ${usual.provider}`;
  return [
    ...usual === null ? [] : [{ value: "default", displayName: "Default", description }],
    ...configuredModels(configuration, io),
  ];
}

export interface ConfiguredModel extends ClientModel {
  isLocal: boolean;
}

/** All models that are configured, in the order of the file. */
export function configuredModels({ providers }: Configuration, io: Io): ConfiguredModel[] {
  return providers.flatMap((provider) => {
    const here = isLocalProvider(provider, io);
    return provider.models.map((model) => ({
      value: `${provider.name}:${model.id}`,
      displayName: model.aliases[0] ?? model.id,
      description: `${model.id} at ${provider.name} (${here ? "local" : "remote"})`,
      isLocal: here,
    }));
  });
}

/**
 * The selector of the model that is used where none is named; null where the configuration leaves it open. Asks no
 * server.
 */
export async function usualModel(configuration: Configuration, io: Io): Promise<string | null> {
  try {
    const { provider, model } = await usualSelection(configuration, io);
    return `${provider.name}:${model.id}`;
  } catch {
    return null;
  }
}

/** Throws `unknown_provider`, `unknown_model` and the like for an unknown name. */
export async function checkModelName(name: string | undefined, io: Io): Promise<void> {
  const { configuration } = await configured({ io });
  const wanted = { option: clientModel(name, configuration), environment: io.env("AGENTCLI_MODEL") };
  await withClient({ io }, async (client) => {
    await selectModel(configuration, wanted, reachProviders(client, { io, localEndpoints: [] }).servedModels);
  });
}
