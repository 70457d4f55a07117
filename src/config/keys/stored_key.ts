/**
 * Opens key stores, and reads the stored key of a provider, which is given out only for the address it was stored for.
 */
import { openHome } from "../../platform/home.ts";
import { openFileStore } from "./file_store.ts";
import { openKeyring } from "./keyring.ts";
import type { KeyStore, KeyStoreName, StoreOutside } from "./store.ts";
import { AgentcliError } from "../../errors.ts";
import { effectiveBaseUrl } from "../base_url.ts";
import { checkedKey, type ResolvedKey } from "../endpoint.ts";
import type { ProviderEntry } from "../types.ts";

/** Opens the store; so far it only checks the home. Throws `home_unusable`. */
export async function openKeyStore(name: KeyStoreName, outside: StoreOutside): Promise<KeyStore> {
  return name === "keyring" ? openKeyring(outside) : openFileStore(await openHome(outside));
}

/** Scheme, host and port that a key of this provider is bound to. */
export function boundOrigin(provider: Pick<ProviderEntry, "name" | "baseUrl">, env: StoreOutside["env"]): string {
  return new URL(effectiveBaseUrl(provider, env)).origin;
}

/**
 * Asks the store that `api_key` names. A key that was stored for another origin is not given out: the address of a
 * provider may have changed, and a key must not follow it (specification of keys; threat 110). What is wrong is
 * the `problem`; only bugs throw.
 */
export async function readStoredKey(
  provider: Pick<ProviderEntry, "name" | "baseUrl">,
  source: KeyStoreName,
  { outside }: { outside: StoreOutside },
): Promise<ResolvedKey> {
  try {
    const store = await openKeyStore(source, outside);
    const stored = await store.read(provider.name);
    if (stored === null) return { source, missing: true, problem: `the ${source} holds no key for ${provider.name}` };
    if (stored.origin === boundOrigin(provider, outside.env)) return checkedKey(source, stored.key);
    return { source, problem: `the key in the ${source} was stored for another address than the base URL has now` };
  } catch (error) {
    if (!(error instanceof AgentcliError)) throw error;
    return { source, problem: error.message };
  }
}
