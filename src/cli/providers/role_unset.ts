/** Takes a role away from the model that `roles:` gives it to. */
import { editProviders } from "../../config/edit.ts";
import { loadConfiguration } from "../../config/load.ts";
import { readRole, settingText } from "../../config/settings.ts";
import { openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice } from "../output.ts";
import type { Invocation } from "../verb.ts";

/** Runs the verb; a role that was not set is no failure. Throws `unknown_role`. */
export async function run({ arguments: words, context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const role = readRole(words[0] ?? "");
  const home = await openHome(io);
  const before = await loadConfiguration(home);
  const old = before.roles[role];
  let removed = false;
  // Without a file there is nothing to remove, and no home to make.
  if (before.exists) {
    await editProviders(home, (document) => void (removed = document.unsetRole(role)));
  }
  if (globals.json) await io.stdout.write(jsonText({ role, changed: removed }));
  else if (removed) await io.stdout.write(`${role}: ${clean(settingText(old))} → (not set)\n`);
  else await notice(context, `the role ${role} is not set`);
}
