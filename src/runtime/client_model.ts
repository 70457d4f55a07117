/** Names of models as clients of the protocol give them (specification, stream-json §1). */
import { DEMO, splitSelector } from "../config/selector.ts";
import type { Configuration } from "../config/types.ts";

/**
 * The selector for what a client calls a model: a selector of a provider there is stays as it is, anything else is a
 * model of the default provider. Undefined, for the usual model, where nothing or `default` is named.
 */
export function clientModel(name: string | undefined, configuration: Configuration): string | undefined {
  const wanted = name?.trim() ?? "";
  if (wanted === "" || wanted === "default") return undefined;
  const { providers, defaultProvider } = configuration;
  const selected = splitSelector(wanted)?.provider;
  if (selected === DEMO || providers.some((provider) => provider.name === selected)) return wanted;
  const withModels = providers.filter((provider) => provider.models.length > 0);
  const usual = defaultProvider ?? (withModels.length === 1 ? withModels[0]?.name : undefined);
  return usual === undefined ? wanted : `${usual}:${wanted}`;
}
