/** The interface of a key store, and its entries. */
import { AgentcliError } from "../../errors.ts";
import type { Io } from "../../platform/io.ts";
import { quietly } from "../../platform/real_path.ts";
import { fieldsOf, parseJson } from "../../platform/record.ts";

/** The kinds: the keyring of the system, or a file of the home. */
export const KEY_STORES = ["keyring", "file"] as const;
export type KeyStoreName = typeof KEY_STORES[number];

/** The dependencies of key stores. */
export type StoreOutside = Pick<Io, "env" | "os" | "clock">;

export interface StoredKey {
  /** Scheme, host and port of the base URL. */
  origin: string;
  key: string;
}

/** A store of keys: one for each provider name. */
export interface KeyStore {
  /** Null when there is none for that provider. Throws `key_store_unusable`. */
  read(provider: string): Promise<StoredKey | null>;
  /** Replaces what was there. Throws `key_store_unusable`. */
  write(provider: string, stored: StoredKey): Promise<void>;
  /** Returns whether there was one. Throws `key_store_unusable`. */
  remove(provider: string): Promise<boolean>;
}

/** `key_store_unusable`; `reason` is a clause that holds nothing of a key. */
export function storeUnusable(name: KeyStoreName, reason: string, more: { hint?: string } = {}): AgentcliError {
  const place = name === "keyring" ? "the system keyring" : "the key file";
  return new AgentcliError("key_store_unusable", `${place} cannot be used: ${reason}`, {
    hint: more.hint ?? "store the key in a file instead: agentcli providers set-key <name> --store file",
  });
}

/** The text that a keyring keeps: one word of ASCII, so that no program on the way can read it as anything else. */
export function storedText(stored: StoredKey): string {
  return btoa(JSON.stringify({ origin: stored.origin, key: stored.key }));
}

/** Reads {@link storedText} back; null for every other text. The key is ASCII (it was checked before it was stored). */
export function readStoredText(text: string): StoredKey | null {
  const { origin, key } = fieldsOf(parseJson(quietly(() => atob(text.trim())) ?? ""));
  return typeof origin === "string" && typeof key === "string" ? { origin, key } : null;
}
