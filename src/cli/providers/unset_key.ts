/** Removes the stored key of a provider. */
import { editProviders } from "../../config/edit.ts";
import { findConfigured } from "../../config/find.ts";
import { storeOf } from "../../config/key.ts";
import { openKeyStore } from "../../config/keys/open_store.ts";
import { loadConfiguration } from "../../config/load.ts";
import { RUNTIMES, STUDIO } from "../../config/runtimes.ts";
import { openHome } from "../../platform/home.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice } from "../output.ts";
import type { Invocation } from "../verb.ts";

/** Runs the verb; a provider without a stored key is no failure. Throws `key_store_unusable`, and changes nothing then. */
export async function run({ arguments: words, context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const home = await openHome(io);
  const provider = findConfigured(await loadConfiguration(home), words[0] ?? "");
  const { name } = provider;
  const place = storeOf(provider);
  if (place === null) {
    if (globals.json) await io.stdout.write(jsonText({ name, store: null, change: "unchanged" }));
    else await notice(context, `${name} has no stored key`);
    return;
  }
  await (await openKeyStore(place, io)).remove(name);
  // The studio goes back to the variable it is shipped with; it has no keyless placeholder (seed §5).
  const value = name === STUDIO.id ? RUNTIMES.find(({ id }) => id === name)?.apiKey : undefined;
  await editProviders(home, (document) => document.setProviderField(name, { key: "api_key", value }));
  await io.stdout.write(
    globals.json
      ? jsonText({ name, store: place, change: "removed" })
      : `removed the key of ${name} from the ${place}\n`,
  );
}
