/** Runs `agentcli config …`: reads and changes the settings of providers.yaml. */
import { loadConfiguration, PROVIDERS_FILE } from "../../config/load.ts";
import {
  findSetting,
  parseSetting,
  type Setting,
  SETTINGS,
  settingText,
  type SettingValue,
  settingWarnings,
} from "../../config/settings.ts";
import { type Home, openHome } from "../../platform/home.ts";
import { clean, jsonText } from "../../terminal/clean.ts";
import { notice, warn } from "../output.ts";
import type { Invocation } from "../command.ts";
import { editProviders } from "../../config/edit.ts";
import { AgentcliError } from "../../errors.ts";
import { confirm } from "../../terminal/prompt.ts";
import type { SCHEMA_OPTIONS } from "./command.ts";

/** Prints the value of one setting. Returns 1 if it has no value and no default. */
export async function getSetting({ arguments: words, context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const setting = findSetting(words[0] ?? "");
  const value = setting.current(await loadConfiguration(await openHome(io)));
  if (globals.json) await io.stdout.write(jsonText({ key: setting.key, value: value ?? null }));
  else if (value === undefined) await notice(context, `${setting.key} is not set`);
  else await io.stdout.write(clean(settingText(value)) + "\n");
  return value === undefined ? 1 : 0;
}

/** Runs the command. Settings that nothing sets and that have no default are left out. */
export async function listSettings({ context }: Invocation): Promise<void> {
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

/** Returns 1 if the user declined. */
export async function setSetting({ arguments: words, context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const setting = findSetting(words[0] ?? "");
  const value = parseSetting(setting, words[1] ?? "");
  if (setting.key.startsWith("permissions.") && typeof value === "object") {
    // Loaded for these settings alone. The rules of the file are checked where they are used.
    const { readRules } = await import("../../tools/registry.ts");
    await readRules(value);
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

/** Runs the command; a setting that was not set is no failure. Never asks. */
export async function unsetSetting({ arguments: words, context }: Invocation): Promise<void> {
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

/** Runs the command; a file that is not there yet is no failure. */
export async function printPath({ context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const home = await openHome(io);
  const path = home.file(PROVIDERS_FILE);
  const exists = await home.status(PROVIDERS_FILE) !== null;
  // A program that reads the path needs its bytes; only an eye needs it cleaned.
  const shown = io.stdout.isTerminal ? clean(path) : path;
  await io.stdout.write(globals.json ? jsonText({ path, exists }) : shown + "\n");
}

/** Runs the command. */
export async function printSchema({ options, context }: Invocation<typeof SCHEMA_OPTIONS>): Promise<void> {
  await context.io.stdout.write(options.protocol ? await protocolSchema() : await providersSchema());
}

async function providersSchema(): Promise<string> {
  const { schemaText } = await import("../../config/edit.ts");
  return schemaText();
}

async function protocolSchema(): Promise<string> {
  const { eventJsonSchema } = await import("../../protocol/schema.ts");
  return JSON.stringify(eventJsonSchema(), null, 2) + "\n";
}
