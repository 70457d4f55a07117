/** Settings that name what is not configured: no error, for it may come later. */
import { findModel } from "../../config/find.ts";
import { DEMO, splitSelector } from "../../config/selector.ts";
import type { Configuration, Role } from "../../config/types.ts";

/** One sentence for each thing that the setting names and that is not configured. */
export function settingWarnings(key: string, configuration: Configuration): string[] {
  const { defaultProvider, defaultModel, roles } = configuration;
  if (key === "default_provider" && defaultProvider !== undefined) {
    return selectorWarnings(defaultProvider, configuration);
  }
  if (key === "default_model" && defaultModel !== undefined) {
    if (defaultProvider !== undefined) return selectorWarnings(`${defaultProvider}:${defaultModel}`, configuration);
    const known = configuration.providers.some((provider) => findModel(provider, defaultModel) !== undefined);
    return known ? [] : [`no provider has a model ${defaultModel} configured`];
  }
  const role = /^roles\.(.*)$/.exec(key)?.[1] as Role | undefined;
  const selector = role === undefined ? undefined : roles[role];
  return selector === undefined ? [] : selectorWarnings(selector, configuration);
}

/** The same for a selector. */
export function selectorWarnings(selector: string, configuration: Configuration): string[] {
  const parts = splitSelector(selector);
  if (parts === null || parts.provider === DEMO) return [];
  const provider = configuration.providers.find((entry) => entry.name === parts.provider);
  if (provider === undefined) return [`the provider ${parts.provider} is not configured`];
  if (parts.model === undefined || findModel(provider, parts.model) !== undefined) return [];
  return [`${parts.provider} has no model ${parts.model} configured`];
}
