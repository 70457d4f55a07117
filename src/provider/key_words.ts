/** What is said of the key that a server refused or wants: where it came from, and what to do. Never the key. */
import type { Endpoint } from "./types.ts";

type Given = Pick<Endpoint, "provider" | "key" | "keySource" | "configFile">;

/** Follows the provider's name: `refused the key (HTTP 401): literal in …/providers.yaml`. */
export function keyRefused(endpoint: Given, where: string): string {
  const { keySource, configFile } = endpoint;
  if (endpoint.key === undefined || endpoint.key === "") return `wants a key (${where})`;
  if (keySource === "local") return `wants a key (${where}): it was sent the local placeholder`;
  if (keySource === "literal") return `refused the key (${where}): literal in ${configFile ?? "providers.yaml"}`;
  return `refused the key (${where}): ${keySource}`;
}

/** What to do about it. */
export function keyHint(endpoint: Given): string {
  const { provider, keySource } = endpoint;
  const file = endpoint.configFile ?? "providers.yaml";
  if (keySource.startsWith("env:")) return `set ${keySource.slice("env:".length)} to a valid key`;
  if (keySource === "literal") {
    return `put a valid key in place of api_key of ${provider} there, or write api_key: $NAME and set that variable`;
  }
  if (keySource === "keyring" || keySource === "file") {
    return `store a valid one: agentcli providers set-key ${provider}`;
  }
  return `write api_key: $NAME for ${provider} in ${file}, and set that variable to its key`;
}
