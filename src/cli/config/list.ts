/** Prints every setting that has a value, one `key=value` a line. */
import { loadConfiguration } from "../../config/load.ts";
import { SETTINGS, settingText } from "../../config/settings.ts";
import { openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { warn } from "../say.ts";
import type { Invocation } from "../verb.ts";

/** Runs the verb. Settings that nothing sets and that have no default are left out. */
export async function run({ context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const configuration = await loadConfiguration(await openHome(io));
  const values = SETTINGS.flatMap(({ key, current }) => {
    const value = current(configuration);
    return value === undefined ? [] : [[key, value] as const];
  });
  await io.stdout.write(
    globals.json
      ? jsonText({ path: configuration.path, settings: Object.fromEntries(values) })
      : values.map(([key, value]) => `${key}=${clean(settingText(value))}\n`).join(""),
  );
  for (const warning of configuration.warnings) await warn(context, warning);
}
