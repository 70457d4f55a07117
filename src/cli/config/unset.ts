/** Removes one setting. */
import { editProviders } from "../../config/edit.ts";
import { loadConfiguration } from "../../config/load.ts";
import { findSetting, settingText } from "../../config/settings.ts";
import { openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice } from "../say.ts";
import type { Invocation } from "../verb.ts";

/** Runs the verb; a setting that was not set is no failure. Never asks. */
export async function run({ arguments: words, context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const setting = findSetting(words[0] ?? "");
  const home = await openHome(io);
  const before = await loadConfiguration(home);
  const old = setting.current(before);
  let removed = false;
  // Without a file there is nothing to remove, and no home to make.
  if (before.exists) await editProviders(home, (document) => void (removed = document.unsetSetting(setting.key)));
  if (globals.json) {
    await io.stdout.write(jsonText({ key: setting.key, old: removed ? old ?? null : null, changed: removed }));
  } else if (removed) await io.stdout.write(`${setting.key}: ${clean(settingText(old))} → (not set)\n`);
  else await notice(context, `${setting.key} is not set`);
}
