/** Changes one setting: shows old and new, asks, checks, writes. */
import { editProviders } from "../../config/edit.ts";
import { loadConfiguration } from "../../config/load.ts";
import { findSetting, parseSetting, type Setting, settingText, type SettingValue } from "../../config/settings.ts";
import { AgentcliError } from "../../errors.ts";
import { type Home, openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { confirm } from "../../terminal/prompt.ts";
import { notice, warn } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { settingWarnings } from "./warnings.ts";

/** Exit 1 when the person at the terminal said no. */
export async function run({ arguments: words, context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const setting = findSetting(words[0] ?? "");
  const value = parseSetting(setting, words[1] ?? "");
  if (setting.key.startsWith("permissions.") && typeof value === "object") {
    // Loaded for these settings alone. The rules of the file are checked where they are used.
    const { readRules } = await import("../../tools/registry.ts");
    readRules(value);
  }
  const home = await openHome(io);
  const old = setting.current(await loadConfiguration(home));
  await tryOut(home, { setting, value });
  const change = `${setting.key}: ${settingText(old)} → ${settingText(value)}`;
  const changes = settingText(old) !== settingText(value);
  if (changes && !globals.yes && !await confirm(io, `${clean(change)}. Change it?`)) {
    await notice(context, "nothing changed");
    return 1;
  }
  const { configuration } = await editProviders(home, (document) => document.setSetting(setting.key, value));
  await io.stdout.write(
    globals.json
      ? jsonText({ key: setting.key, old: old ?? null, new: value, changed: changes })
      : clean(change) + "\n",
  );
  for (const warning of settingWarnings(setting.key, configuration)) await warn(context, warning);
  return 0;
}

/** Refuses a value that the schema does not take before anybody is asked. */
async function tryOut(home: Home, { setting, value }: { setting: Setting; value: SettingValue }): Promise<void> {
  try {
    await editProviders(home, (document) => document.setSetting(setting.key, value), { dryRun: true });
  } catch (error) {
    if (!(error instanceof AgentcliError) || error.code !== "config_invalid") throw error;
    // The file itself was read without complaint, so it is the argument that is wrong.
    throw new AgentcliError("usage", error.message, { hint: `${setting.key}: ${setting.brief}` });
  }
}
