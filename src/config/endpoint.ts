/**
 * Resolves where the requests of a provider go: base URL, key, headers and certificates. A key is never printed, not
 * even in part, and never in an error.
 */
import { isLocal } from "../boundary/policy/locality.ts";
import { effectiveBaseUrl, STUDIO } from "./base_url.ts";
import type { ProviderEntry } from "./types.ts";
import { AgentcliError } from "../errors.ts";
import { openSync, statSync } from "../platform/files.ts";
import { quietly } from "../platform/real_path.ts";
import type { StoreOutside } from "./keys/store.ts";

/** The placeholder of servers that need no key (seed §5). */
const PLACEHOLDER = "local";

/** Where a provider's key comes from, and why it cannot be used if it cannot. */
export interface KeySource {
  source: "local" | "none" | "literal" | "keyring" | "file" | "absent" | `env:${string}`;
  /** One clause without the key: `environment variable X is not set`. */
  problem?: string;
}

/** A key source with the key itself; `key` is absent for `none` and where there is a problem. */
export interface ResolvedKey extends KeySource {
  key?: string;
  /** Nothing was given, as opposed to something that cannot be used. */
  missing?: true;
}

/** Returns whether a provider's address is on this machine, or one that `optedIn` names. */
export function isLocalProvider(
  provider: Pick<ProviderEntry, "name" | "baseUrl">,
  { env }: { env: (name: string) => string | undefined },
  optedIn: readonly string[] = [],
): boolean {
  return isLocal(effectiveBaseUrl(provider, env), optedIn);
}

/** The variable that `$NAME` or `${NAME}` names; null for every other text, which is a literal. */
export function variableOf(apiKey: string): string | null {
  const parts = /^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})$/.exec(apiKey);
  return parts?.[1] ?? parts?.[2] ?? null;
}

/** Returns whether a value of `api_key` is the key itself, which should not be on a command line. */
export function isLiteralKey(apiKey: string): boolean {
  return variableOf(apiKey) === null && !["", "local", "none", "keyring", "file"].includes(apiKey);
}

/** The problem of an existing key that cannot be sent. */
const UNUSABLE_KEY = "the key contains characters that are not valid in an HTTP header";

/** The key in `text`, trimmed; a problem when a header cannot carry it. */
export function checkedKey(source: KeySource["source"], text: string): ResolvedKey {
  const key = text.trim();
  // The HTTP stack quotes a header value that it refuses, so no invalid value may reach it.
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
function resolveKey(
  provider: Pick<ProviderEntry, "name" | "baseUrl" | "apiKey">,
  env: (name: string) => string | undefined,
): ResolvedKey {
  const apiKey = provider.apiKey?.trim() ?? "";
  // Only the three names of loopback: an opted-in host may well want a real key.
  const loopback = isLocalProvider(provider, { env });
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

/** Returns the source of the key, without the key and without reading a store: for `providers list`. */
export function keySource(
  provider: Pick<ProviderEntry, "name" | "baseUrl" | "apiKey">,
  env: (name: string) => string | undefined,
): KeySource {
  const { source, problem } = resolveKey(provider, env);
  if (storeOf(provider) !== null) return { source };
  return problem === undefined ? { source } : { source, problem };
}

/** Names of the variables that hold keys of these providers: child processes never get them. */
export function keyVariables(providers: readonly Pick<ProviderEntry, "apiKey">[]): string[] {
  const names = providers.map((provider) => variableOf(provider.apiKey?.trim() ?? ""));
  return [...new Set(names.filter((name) => name !== null))];
}

/** The target of requests of one provider, after configuration, environment and keys are resolved. */
export interface Endpoint {
  /** Name in providers.yaml, for messages. */
  provider: string;
  /** With its path prefix, without a trailing slash: `http://localhost:11434/v1`. */
  baseUrl: string;
  /** The key to send; absent for keyless servers. Never printed. */
  key?: string;
  /** The source of the key, for messages: `env:NAME`, `literal`, `local`, … */
  keySource: string;
  /** Absolute path of the providers.yaml that configures it, for messages; absent where none does. */
  configFile?: string | undefined;
  headers: Record<string, string>;
  /** Additional certificate authorities (PEM texts), for https in the LAN. */
  caCerts: string[];
  /** Seconds. */
  timeout: { connect: number; firstByte: number; idle: number };
  /** As the boundary sees it: decides how the connection is made. */
  local: boolean;
}

/** Inputs of an endpoint besides the provider entry. */
interface EndpointOptions {
  env(name: string): string | undefined;
  /** As the boundary sees it. */
  local: boolean;
  /** Dependencies of the key stores; without them, a stored key does not resolve. */
  stores?: StoreOutside;
}

/**
 * The key of a provider, from its store where `api_key` names one; nothing else asks a store. A failure is the
 * `problem`; a keyring that does not answer takes four seconds.
 */
export async function findKey(
  provider: ProviderEntry,
  { env, stores }: Pick<EndpointOptions, "env" | "stores">,
): Promise<ResolvedKey> {
  const store = storeOf(provider);
  if (store === null || stores === undefined) return resolveKey(provider, env);
  const { readStoredKey } = await import("./keys/stored_key.ts");
  return await readStoredKey(provider, store, { outside: stores });
}

/** Bytes of a certificate file; a bundle of every public authority has about 250 KB. */
const CERTIFICATE_LIMIT = 4 * 1024 * 1024;

function readCertificates(provider: ProviderEntry): string[] {
  const path = provider.caFile;
  if (path === undefined) return [];
  const unusable = (reason: string) =>
    new AgentcliError("config_invalid", `ca_file of ${provider.name} (${path}) ${reason}`, {
      hint: "ca_file names a PEM file with the certificate of your own authority",
    });
  const status = quietly(() => statSync(path));
  if (status?.kind !== "file") throw unusable("does not exist, or is not a file");
  if (status.size > CERTIFICATE_LIMIT) throw unusable("is too large for a certificate");
  const handle = quietly(() => openSync(path));
  if (handle === null) throw unusable("cannot be read");
  try {
    const text = new TextDecoder().decode(handle.read(status.size, 0));
    if (!text.includes("-----BEGIN CERTIFICATE-----")) throw unusable("holds no PEM certificate");
    return [text];
  } finally {
    handle.close();
  }
}

/** Returns what to do about the key of a provider, by its source: it is missing, or the server refused it. */
export function keyAdvice(name: string, source: string, { isRefused = false }: { isRefused?: boolean } = {}): string {
  const variable = source.startsWith("env:") ? source.slice("env:".length) : null;
  const stored = source === "file" ? " --store file" : "";
  const key = isRefused ? "a valid key" : "the key";
  const first = variable === null
    ? `store ${key} with \`agentcli providers set-key ${name}${stored}\``
    : `set ${variable}${isRefused ? " to a valid key" : ""}`;
  const isNeeded = isRefused || source === "keyring" || source === "file";
  return isNeeded ? first : `${first}, or write \`api_key: none\` if the server needs no key`;
}

/** The error for a key that does not resolve: names the variable, says what to do. */
function keyMissing(provider: ProviderEntry, resolved: KeySource): AgentcliError {
  const { source, problem } = resolved;
  if (problem === UNUSABLE_KEY) {
    const from = source === "literal" && provider.file !== undefined ? `literal in ${provider.file}` : source;
    return new AgentcliError(
      "key_missing",
      `the key of ${provider.name} (${from}) cannot be used: it contains characters that are not valid in an HTTP header`,
      { hint: "set it again: it may be truncated, or contain a line break or a non-ASCII character" },
    );
  }
  const hint = keyAdvice(provider.name, source);
  return new AgentcliError("key_missing", `no key for ${provider.name}: ${problem ?? "none resolves"}`, { hint });
}

function connectionWith(
  provider: ProviderEntry,
  key: ResolvedKey,
  options: EndpointOptions,
): Endpoint {
  return {
    provider: provider.name,
    baseUrl: effectiveBaseUrl(provider, options.env),
    key: key.key,
    keySource: key.source,
    configFile: provider.file,
    headers: provider.headers,
    caCerts: readCertificates(provider),
    timeout: provider.timeout,
    local: options.local,
  };
}

/**
 * The endpoint of a provider. A key that does not resolve is `key_missing` and names the variable; for `studio_f` the
 * request goes without a key instead, and its own authentication error is what the user sees (seed §7). A `ca_file`
 * that cannot be read is `config_invalid`.
 */
export async function resolveEndpoint(provider: ProviderEntry, options: EndpointOptions): Promise<Endpoint> {
  const key = await findKey(provider, options);
  const studioWithoutKey = provider.name === STUDIO.id && key.missing === true;
  if (key.problem !== undefined && !studioWithoutKey) throw keyMissing(provider, key);
  return connectionWith(provider, key, options);
}

/**
 * Like {@link resolveEndpoint} with a key found before; one that did not resolve is left out: for checks that report
 * it.
 */
export async function endpointForCheck(
  provider: ProviderEntry,
  options: EndpointOptions & { key?: ResolvedKey },
): Promise<Endpoint> {
  return connectionWith(provider, options.key ?? await findKey(provider, options), options);
}
