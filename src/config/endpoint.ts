/** Where the requests of a provider go: base URL, key, headers and certificates, resolved. */
import { AgentcliError } from "../errors.ts";
import { openFile, stat } from "../platform/files.ts";
import { effectiveBaseUrl } from "./base_url.ts";
import { type KeySource, keySource, type ResolvedKey, resolveKey, storeOf, UNUSABLE_KEY } from "./key.ts";
import type { StoreOutside } from "./keys/store.ts";
import { STUDIO } from "./runtimes.ts";
import type { ProviderEntry } from "./types.ts";

export { effectiveBaseUrl, keySource };
export type { KeySource };

/** Where requests of one provider go, after configuration, environment and keys are resolved. */
export interface Endpoint {
  /** Name in providers.yaml, for messages. */
  provider: string;
  /** With its path prefix, without a trailing slash: `http://localhost:11434/v1`. */
  baseUrl: string;
  /** The key to send; absent for keyless servers. Never printed. */
  key?: string;
  /** Where the key came from, for messages: `env:NAME`, `literal`, `local`, … */
  keySource: string;
  /** Absolute path of the providers.yaml that configures it, for messages; absent where none does. */
  configFile?: string | undefined;
  headers: Record<string, string>;
  /** Own certificate authorities (PEM texts), for https in the LAN. */
  caCerts: string[];
  /** Seconds. */
  timeout: { connect: number; firstByte: number; idle: number };
  /** As the boundary sees it: decides how the connection is made. */
  local: boolean;
}

/** What an endpoint depends on besides the provider entry. */
export interface EndpointOptions {
  env(name: string): string | undefined;
  /** As the boundary sees it. */
  local: boolean;
  /** What the stores of keys need; without it a stored key does not resolve. */
  stores?: StoreOutside;
}

/**
 * The key of a provider, from its store where `api_key` names one; nothing else asks a store. What is wrong is the
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

async function readCertificates(provider: ProviderEntry): Promise<string[]> {
  const path = provider.caFile;
  if (path === undefined) return [];
  const unusable = (reason: string) =>
    new AgentcliError("config_invalid", `ca_file of ${provider.name} (${path}) ${reason}`, {
      hint: "ca_file names a PEM file with the certificate of your own authority",
    });
  const status = await stat(path).catch(() => null);
  if (status?.kind !== "file") throw unusable("is not there, or is not a file");
  if (status.size > CERTIFICATE_LIMIT) throw unusable("is too large for a certificate");
  const handle = await openFile(path).catch(() => null);
  if (handle === null) throw unusable("cannot be read");
  try {
    const text = new TextDecoder().decode(await handle.read(status.size));
    if (!text.includes("-----BEGIN CERTIFICATE-----")) throw unusable("holds no PEM certificate");
    return [text];
  } finally {
    handle.close();
  }
}

/** The error for a key that does not resolve: names the variable, says what to do. */
function keyMissing(provider: ProviderEntry, resolved: KeySource): AgentcliError {
  const { source, problem } = resolved;
  if (problem === UNUSABLE_KEY) {
    const from = source === "literal" && provider.file !== undefined ? `literal in ${provider.file}` : source;
    return new AgentcliError(
      "key_missing",
      `the key of ${provider.name} (${from}) cannot be used: it holds characters that a header cannot carry`,
      { hint: "set it again: it may be cut, or hold a line break or a character that is not ASCII" },
    );
  }
  const hint = source.startsWith("env:")
    ? `set ${source.slice(4)}, or write \`api_key: none\` if the server wants no key`
    : source === "keyring" || source === "file"
    ? `store it (again): agentcli providers set-key ${provider.name}${source === "file" ? " --store file" : ""}`
    : `write \`api_key: $NAME\` for ${provider.name} and set that variable, or \`api_key: none\` if the server wants no key`;
  return new AgentcliError("key_missing", `no key for ${provider.name}: ${problem ?? "none resolves"}`, { hint });
}

async function connectionWith(
  provider: ProviderEntry,
  key: ResolvedKey,
  options: EndpointOptions,
): Promise<Endpoint> {
  return {
    provider: provider.name,
    baseUrl: effectiveBaseUrl(provider, options.env),
    key: key.key,
    keySource: key.source,
    configFile: provider.file,
    headers: provider.headers,
    caCerts: await readCertificates(provider),
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
  return await connectionWith(provider, key, options);
}

/** Like {@link resolveEndpoint} with a key found before; one that did not resolve is left out: for checks that report it. */
export async function endpointForCheck(
  provider: ProviderEntry,
  options: EndpointOptions & { key?: ResolvedKey },
): Promise<Endpoint> {
  return await connectionWith(provider, options.key ?? await findKey(provider, options), options);
}
