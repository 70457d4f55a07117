/** Removes a model from the configuration of a provider; the server keeps it. */
import { editProviders } from "../../config/edit.ts";
import { findConfigured, unknownModel } from "../../config/find.ts";
import { loadConfiguration } from "../../config/load.ts";
import { openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import type { Invocation } from "../verb.ts";

/** Runs the verb. Throws `unknown_provider` and `unknown_model`. */
export async function run({ arguments: words, context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const [name = "", model = ""] = words;
  const home = await openHome(io);
  const provider = findConfigured(await loadConfiguration(home), name);
  let id = "";
  await editProviders(home, (document) => {
    const removed = document.removeModel(name, model);
    if (removed === null) {
      throw unknownModel(provider, { name: model, names: provider.models.flatMap((e) => [e.id, ...e.aliases]) });
    }
    id = removed;
  });
  await io.stdout.write(
    globals.json ? jsonText({ provider: name, id, change: "removed" }) : `removed ${name}:${clean(id)}\n`,
  );
}
