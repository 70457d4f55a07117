/** Removing what a store holds for a provider that no longer needs it. */
import { storeOf } from "../../config/key.ts";
import { openKeyStore } from "../../config/keys/open_store.ts";
import type { ProviderEntry } from "../../config/types.ts";
import { AgentcliError } from "../../errors.ts";
import { warn } from "../output.ts";
import type { Context } from "../verb.ts";

/** Removes the stored key of `provider`, if its entry says that it has one; a store that cannot be used is a warning. */
export async function dropStoredKey(provider: ProviderEntry, context: Context): Promise<void> {
  const place = storeOf(provider);
  if (place === null) return;
  try {
    await (await openKeyStore(place, context.io)).remove(provider.name);
  } catch (error) {
    if (!(error instanceof AgentcliError)) throw error;
    await warn(context, `the key of ${provider.name} may still be in the ${place}: ${error.message}`);
  }
}
