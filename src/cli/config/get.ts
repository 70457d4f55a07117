/** Prints the value of one setting. */
import { loadConfiguration } from "../../config/load.ts";
import { findSetting, settingText } from "../../config/settings.ts";
import { openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice } from "../say.ts";
import type { Invocation } from "../verb.ts";

/** Exit 1 when the setting has no value and no default. */
export async function run({ arguments: words, context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const setting = findSetting(words[0] ?? "");
  const value = setting.current(await loadConfiguration(await openHome(io)));
  if (globals.json) await io.stdout.write(jsonText({ key: setting.key, value: value ?? null }));
  else if (value === undefined) await notice(context, `${setting.key} is not set`);
  else await io.stdout.write(clean(settingText(value)) + "\n");
  return value === undefined ? 1 : 0;
}
