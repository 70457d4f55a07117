/** Removes a provider and its stored key, after asking. */
import { editProviders } from "../../config/edit.ts";
import { findConfigured } from "../../config/find.ts";
import { loadConfiguration } from "../../config/load.ts";
import { splitSelector } from "../../config/selector.ts";
import type { Configuration } from "../../config/types.ts";
import { openHome } from "../../platform/home.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { confirm } from "../../terminal/prompt.ts";
import { notice, warn } from "../output.ts";
import type { Invocation } from "../verb.ts";
import { dropStoredKey } from "./drop_stored_key.ts";

/** Exit 1 when the person at the terminal said no. */
export async function run({ arguments: words, context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const home = await openHome(io);
  const provider = findConfigured(await loadConfiguration(home), words[0] ?? "");
  const { name } = provider;
  const models = provider.models.length === 1 ? "1 model" : `${provider.models.length} models`;
  if (!globals.yes && !await confirm(io, `Remove ${name} with ${models} from the configuration?`)) {
    await notice(context, "nothing changed");
    return 1;
  }
  const { configuration } = await editProviders(home, (document) => void document.removeProvider(name));
  await dropStoredKey(provider, context);
  await io.stdout.write(globals.json ? jsonText({ name, change: "removed" }) : `removed ${name}\n`);
  for (const setting of settingsNaming(name, configuration)) await warn(context, `${setting} still names ${name}`);
  return 0;
}

function settingsNaming(name: string, { defaultProvider, roles }: Configuration): string[] {
  const inRoles = Object.entries(roles).filter(([, selector]) => splitSelector(selector)?.provider === name);
  return [
    ...(defaultProvider === name ? ["default_provider"] : []),
    ...inRoles.map(([role]) => `roles.${role}`),
  ];
}
