/** Where the key of a provider comes from. A key is never printed, not even in part, and never in an error. */
import { isLocal } from "../boundary/policy/locality.ts";
import { STUDIO } from "./runtimes.ts";
import { effectiveBaseUrl } from "./base_url.ts";
import type { ProviderEntry } from "./types.ts";

/** The placeholder of servers that want no key (seed §5). */
const PLACEHOLDER = "local";

/** Which of the ways a provider's key comes, and why it cannot be used if it cannot. */
export interface KeySource {
  source: "local" | "none" | "literal" | "keyring" | "file" | "absent" | `env:${string}`;
  /** One clause without the key: `environment variable X is not set`. */
  problem?: string;
}

/** A key source with the key itself; `key` is absent for `none` and where there is a problem. */
export interface ResolvedKey extends KeySource {
  key?: string;
  /** Nothing was given at all, as against something that cannot be used. */
  missing?: true;
}

/** The variable that `$NAME` or `${NAME}` names; null for every other text, which is a literal. */
export function variableOf(apiKey: string): string | null {
  const parts = /^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})$/.exec(apiKey);
  return parts?.[1] ?? parts?.[2] ?? null;
}

/** Whether a value of `api_key` is the key itself, so that it should not stand on a command line. */
export function isLiteralKey(apiKey: string): boolean {
  return variableOf(apiKey) === null && !["", "local", "none", "keyring", "file"].includes(apiKey);
}

/** The problem of a key that is there and cannot be sent. */
export const UNUSABLE_KEY = "the key holds characters that a header cannot carry";

/** The key in `text`, trimmed; a problem when a header cannot carry it. */
export function checkedKey(source: KeySource["source"], text: string): ResolvedKey {
  const key = text.trim();
  // The HTTP stack quotes a header value that it refuses, so no such value may reach it.
  return /^[\x20-\x7e]+$/.test(key) ? { source, key } : { source, problem: UNUSABLE_KEY };
}

function fromEnvironment(name: string, env: (name: string) => string | undefined): ResolvedKey {
  const value = env(name);
  const source = `env:${name}` as const;
  if (value === undefined) return { source, missing: true, problem: `environment variable ${name} is not set` };
  if (value.trim() === "") return { source, missing: true, problem: `environment variable ${name} is empty` };
  return checkedKey(source, value);
}

/**
 * The key of a provider. The `api_key` field decides alone: a variable that is not set never falls back to anything.
 * Absent on a loopback address it is the placeholder `local`. A stored key is a problem here: {@link storeOf} names the
 * store to ask. Source: specification of keys; seed §5.
 */
export function resolveKey(
  provider: Pick<ProviderEntry, "name" | "baseUrl" | "apiKey">,
  env: (name: string) => string | undefined,
): ResolvedKey {
  const apiKey = provider.apiKey?.trim() ?? "";
  // Only the three names of loopback: an opted-in host may well want a real key.
  const loopback = isLocal(effectiveBaseUrl(provider, env), []);
  if (apiKey === "none") return { source: "none" };
  if (apiKey === "") {
    // The studio has no keyless placeholder (seed §5).
    if (loopback && provider.name !== STUDIO.id) return { source: "local", key: PLACEHOLDER };
    return { source: "absent", missing: true, problem: "no key is configured" };
  }
  if (apiKey === PLACEHOLDER && loopback) return { source: "local", key: PLACEHOLDER };
  if (apiKey === "keyring" || apiKey === "file") return { source: apiKey, problem: "the store was not asked" };
  const variable = variableOf(apiKey);
  if (variable !== null) return fromEnvironment(variable, env);
  return checkedKey("literal", apiKey.startsWith("$$") ? apiKey.slice(1) : apiKey);
}

/** The store that holds the key, from the `api_key` field; null when the key is not stored. */
export function storeOf(provider: Pick<ProviderEntry, "apiKey">): "keyring" | "file" | null {
  const apiKey = provider.apiKey?.trim();
  return apiKey === "keyring" || apiKey === "file" ? apiKey : null;
}

/** Where the key comes from, without the key and without asking a store: for `providers list`. */
export function keySource(
  provider: Pick<ProviderEntry, "name" | "baseUrl" | "apiKey">,
  env: (name: string) => string | undefined,
): KeySource {
  const { source, problem } = resolveKey(provider, env);
  if (storeOf(provider) !== null) return { source };
  return problem === undefined ? { source } : { source, problem };
}

/** Names of the variables that hold keys of these providers: children of the program never get them. */
export function keyVariables(providers: readonly Pick<ProviderEntry, "apiKey">[]): string[] {
  const names = providers.map((provider) => variableOf(provider.apiKey?.trim() ?? ""));
  return [...new Set(names.filter((name) => name !== null))];
}
