/** Runs `agentcli config …`: reads and changes the settings of providers.yaml. */
import { PROVIDERS_FILE } from "../config/load.ts";
import {
  findSetting,
  parseSetting,
  type Setting,
  SETTINGS,
  settingText,
  type SettingValue,
  settingWarnings,
} from "../config/settings.ts";
import { openHome } from "../platform/home.ts";
import { clean } from "../terminal/clean.ts";
import { configured, confirmed, edit, print, warn } from "./result.ts";
import type { Context, Invocation } from "./command.ts";
import { schemaText } from "../config/edit.ts";
import { AgentcliError } from "../errors.ts";
import type { SCHEMA_OPTIONS } from "./program_commands.ts";

/** Prints the value of one setting. Returns 1 if it has no value and no default. */
export async function getSetting({ arguments: words, context }: Invocation): Promise<number> {
  const { key, current } = findSetting(words[0] ?? "");
  const value = current((await configured(context)).configuration);
  const shown = value === undefined ? { message: `${key} is not set` } : { text: clean(settingText(value)) + "\n" };
  await print(context, { json: { key, value: value ?? null }, ...shown });
  return value === undefined ? 1 : 0;
}

/** Runs the command. Settings that nothing sets and that have no default are left out. */
export async function listSettings({ context }: Invocation): Promise<void> {
  const { configuration } = await configured(context);
  const values = SETTINGS.flatMap(({ key, current }) => {
    const value = current(configuration);
    return value === undefined ? [] : [[key, value] as const];
  });
  await print(context, {
    json: { path: configuration.path, settings: Object.fromEntries(values) },
    text: values.map(([key, value]) => `${key}=${clean(settingText(value))}\n`).join(""),
  });
  for (const warning of configuration.warnings) await warn(context, warning);
}

/** Returns 1 if the user declined. */
export async function setSetting({ arguments: words, context }: Invocation): Promise<number> {
  const setting = findSetting(words[0] ?? "");
  const value = parseSetting(setting, words[1] ?? "");
  if (setting.key.startsWith("permissions.") && typeof value === "object") {
    // Loaded for these settings alone. The rules of the file are checked where they are used.
    const { readRules } = await import("../tools/registry.ts");
    await readRules(value);
  }
  const old = setting.current((await configured(context)).configuration);
  await tryOut(context, { setting, value });
  const change = `${setting.key}: ${settingText(old)} → ${settingText(value)}`;
  const changes = settingText(old) !== settingText(value);
  if (changes && !await confirmed(context, `${clean(change)}. Change it?`)) return 1;
  const { configuration } = await edit(context, (document) => document.setSetting(setting.key, value));
  const json = { key: setting.key, old: old ?? null, new: value, changed: changes };
  await print(context, { json, text: clean(change) + "\n" });
  for (const warning of settingWarnings(setting.key, configuration)) await warn(context, warning);
  return 0;
}

/** Refuses a value that the schema rejects before anybody is asked. */
async function tryOut(context: Context, { setting, value }: { setting: Setting; value: SettingValue }): Promise<void> {
  try {
    await edit(context, (document) => document.setSetting(setting.key, value), { dryRun: true });
  } catch (error) {
    if (!(error instanceof AgentcliError) || error.code !== "config_invalid") throw error;
    // The file itself was read without errors, so it is the argument that is wrong.
    throw new AgentcliError("usage", error.message, { hint: `${setting.key}: ${setting.brief}` });
  }
}

/** Runs the command; a setting that was not set is no failure. Never asks. */
export async function unsetSetting({ arguments: words, context }: Invocation): Promise<void> {
  const { key, current } = findSetting(words[0] ?? "");
  const { configuration: before } = await configured(context);
  const old = current(before);
  let removed = false;
  // Without a file there is nothing to remove, and no home to create.
  if (before.exists) await edit(context, (document) => void (removed = document.unsetSetting(key)));
  const shown = removed
    ? { text: `${key}: ${clean(settingText(old))} → (not set)\n` }
    : { message: `${key} is not set` };
  await print(context, { json: { key, old: removed ? old ?? null : null, changed: removed }, ...shown });
}

/** Runs the command; a missing file is no failure. */
export async function printPath({ context }: Invocation): Promise<void> {
  const { io } = context;
  const home = await openHome(io);
  const path = home.file(PROVIDERS_FILE);
  const exists = await home.status(PROVIDERS_FILE) !== null;
  // A program that reads the path needs its bytes; only a person needs it cleaned.
  const shown = io.stdout.isTerminal ? clean(path) : path;
  await print(context, { json: { path, exists }, text: shown + "\n" });
}

/** Runs the command. */
export async function printSchema({ options, context }: Invocation<typeof SCHEMA_OPTIONS>): Promise<void> {
  const { eventJsonSchema } = await import("../protocol/schema.ts");
  const text = options.protocol ? JSON.stringify(eventJsonSchema(), null, 2) + "\n" : schemaText();
  await context.io.stdout.write(text);
}
