/** The keyring of the system as a store: one entry for each provider, every operation bounded in time. */
import type { KeyringProgram } from "./keyring_program.ts";
import { type KeyStore, readStoredText, storedText, type StoreOutside, storeUnusable } from "./store.ts";

/** Longest time for one operation, in milliseconds; ending a program that hangs comes on top (specification: 5 s). */
const OPERATION_MS = 3_000;
/** What is left for the last call of an operation at the least, in milliseconds. */
const LEAST_MS = 200;

/** The keyring of this system. */
export function openKeyring(outside: StoreOutside): KeyStore {
  return {
    async read(provider) {
      const program = await programOf(outside);
      const text = await program.find(provider);
      return text === null ? null : readStoredText(text);
    },
    async write(provider, stored) {
      const program = await programOf(outside);
      const text = storedText(stored);
      await program.keep(provider, text);
      // Not every program tells by its exit code that it failed.
      if ((await program.find(provider))?.trim() !== text) throw storeUnusable("keyring", "it did not keep the key");
    },
    remove: async (provider) => await (await programOf(outside)).drop(provider),
  };
}

async function programOf(outside: StoreOutside): Promise<KeyringProgram> {
  const end = outside.clock.monotonic() + OPERATION_MS;
  const timeoutMs = () => Math.max(LEAST_MS, end - outside.clock.monotonic());
  if (outside.os === "windows") return (await import("./keyring_windows.ts")).windowsKeyring(outside, { timeoutMs });
  if (outside.os === "darwin") return (await import("./keyring_macos.ts")).macosKeyring(outside, { timeoutMs });
  return (await import("./keyring_linux.ts")).linuxKeyring(outside, { timeoutMs });
}
