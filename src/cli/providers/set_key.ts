/** Stores the key of a provider, and writes to its entry where it is. */
import { editProviders } from "../../config/edit.ts";
import { findConfigured } from "../../config/find.ts";
import { storeOf } from "../../config/key.ts";
import { openKeyStore } from "../../config/keys/open_store.ts";
import { boundOrigin } from "../../config/keys/stored_key.ts";
import type { KeyStoreName } from "../../config/keys/store.ts";
import { loadConfiguration } from "../../config/load.ts";
import { AgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice } from "../output.ts";
import type { Invocation } from "../verb.ts";
import { dropStoredKey } from "./drop_stored_key.ts";
import { readKey } from "./read_key.ts";
import type { SET_KEY_OPTIONS } from "./verb.ts";

const PLACES: Record<KeyStoreName, string> = { keyring: "the keyring of the system", file: "credentials.json" };

/** Runs the verb. A store that cannot be used is `key_store_unusable`: there is no other place it would fall back to. */
export async function run(
  { options, arguments: words, context }: Invocation<typeof SET_KEY_OPTIONS>,
): Promise<void> {
  const { io, globals } = context;
  const home = await openHome(io);
  const provider = findConfigured(await loadConfiguration(home), words[0] ?? "");
  const { name } = provider;
  const place = options.store ?? "keyring";
  const store = await openKeyStore(place, io);
  // Before the key is asked for: nobody should type one that cannot be kept.
  await told(name, () => store.read(name).catch((error) => ignoreUnreadable(error, place)));
  const key = await readKey(io, name);
  const origin = boundOrigin(provider, io.env);
  await told(name, () => store.write(name, { origin, key }));
  const before = storeOf(provider);
  try {
    await editProviders(home, (document) => document.setProviderField(name, { key: "api_key", value: place }));
  } catch (error) {
    // What no entry points to would lie there for ever.
    if (before !== place) await store.remove(name).catch(() => {});
    throw error;
  }
  if (before !== null && before !== place) await dropStoredKey(provider, context);
  await io.stdout.write(
    globals.json
      ? jsonText({ name, store: place, origin, change: "stored" })
      : `stored the key of ${name} in ${PLACES[place]}, for ${origin}\n`,
  );
  if (place === "file") {
    await notice(context, "the file only hides the key from a casual look: who can read the home can read it");
  }
}

/** An entry of the file that does not open is what a new key is the cure for; writing tells about everything else. */
function ignoreUnreadable(error: unknown, place: KeyStoreName): null {
  if (place === "file" && error instanceof AgentcliError && error.code === "key_store_unusable") return null;
  throw error;
}

/** Puts the provider's name into the advice. */
async function told<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AgentcliError) || error.hint === undefined) throw error;
    throw new AgentcliError(error.code, error.message, { hint: error.hint.replace("<name>", name), cause: error });
  }
}
