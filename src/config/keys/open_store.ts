/** The store of a name. */
import { openHome } from "../../platform/home.ts";
import { openFileStore } from "./file_store.ts";
import { openKeyring } from "./keyring_store.ts";
import type { KeyStore, KeyStoreName, StoreOutside } from "./store.ts";

/** Opens the store; touches nothing yet but the facts of the home. Throws `home_unusable`. */
export async function openKeyStore(name: KeyStoreName, outside: StoreOutside): Promise<KeyStore> {
  return name === "keyring" ? openKeyring(outside) : openFileStore(await openHome(outside));
}
