/** The settings that `config` reads and writes: keys, values, defaults, and warnings about what is not configured. */
import { AgentcliError } from "../errors.ts";
import { parseJson } from "../platform/record.ts";
import { didYouMean } from "./suggest.ts";
import { type Configuration, type Role, ROLES } from "./types.ts";
import { configuredProvider, defaultSelector, DEMO, findModel, splitSelector } from "./find.ts";

export type SettingValue = string | boolean | readonly string[];

export interface Setting {
  key: string;
  brief: string;
  kind: "text" | "switch" | "list";
  /** All possible values; absent where the user chooses freely. */
  words?: readonly string[];
  /** The value in force; undefined for none. */
  current(configuration: Configuration): SettingValue | undefined;
}

type Current<T> = (configuration: Configuration) => T | undefined;

function text(key: string, brief: string, { current, words }: { current: Current<string>; words?: string[] }): Setting {
  return { key, brief, kind: "text", words, current };
}

function onOff(key: string, brief: string, current: Current<boolean>): Setting {
  return { key, brief, kind: "switch", words: ["true", "false"], current };
}

function list(key: string, brief: string, all: (configuration: Configuration) => readonly string[]): Setting {
  const current: Current<readonly string[]> = (configuration) => {
    const values = all(configuration);
    return values.length === 0 ? undefined : values;
  };
  return { key, brief, kind: "list", current };
}

/** Every setting, in the order of the file. */
export const SETTINGS: readonly Setting[] = [
  text("default_provider", "provider used without --model", { current: (c) => c.defaultProvider }),
  text("default_model", "model id, alias or <provider>:<model> used without --model", {
    current: (c) => c.defaultModel,
  }),
  ...ROLES.map((role) =>
    text(`roles.${role}`, `<provider>[:<model or alias>] for ${role}`, { current: (c) => c.roles[role] })
  ),
  text("check", "command that runs after a turn that changed files", { current: (c) => c.check?.command }),
  text(
    "notify",
    "how a chat tells you that a long turn ended or a question waits: bell, osc9 (a desktop notification) or off",
    { current: (c) => c.notify, words: ["bell", "osc9", "off"] },
  ),
  onOff(
    "acp.show_protected",
    "whether editors, which store them, get answers about protected content: true or false",
    (c) => c.acp?.showProtected,
  ),
  text("sandbox.mode", "auto, always, or never (outside of protected projects)", {
    current: (c) => c.sandbox.mode,
    words: ["auto", "always", "never"],
  }),
  onOff(
    "sandbox.network",
    "network in the sandbox; none for remote models where paths are protected: true or false",
    (c) => c.sandbox.network,
  ),
  list("sandbox.read", "directories that commands in the sandbox may read", (c) => c.sandbox.read),
  list("sandbox.write", "directories that commands in the sandbox may write", (c) => c.sandbox.write),
  list("sandbox.env", "names of variables that commands in the sandbox get", (c) => c.sandbox.env),
  list("permissions.allow", "rules that allow a call", (c) => c.permissions.allow),
  list("permissions.deny", "rules that deny a call", (c) => c.permissions.deny),
];

/** The setting of that key. An unknown one is `usage` with the nearest name; an unknown role is `unknown_role`. */
export function findSetting(key: string): Setting {
  const setting = SETTINGS.find((entry) => entry.key === key);
  if (setting) return setting;
  const role = /^roles\.(.*)$/.exec(key)?.[1];
  if (role !== undefined) readRole(role);
  const keys = SETTINGS.map((entry) => entry.key);
  throw new AgentcliError("usage", `unknown setting ${key}`, {
    hint: didYouMean(key, keys) ?? `settings: ${keys.join(", ")}`,
  });
}

/** A role by name; `unknown_role` with the list for any other word. */
export function readRole(word: string): Role {
  const role = ROLES.find((name) => name === word);
  if (role !== undefined) return role;
  throw new AgentcliError("unknown_role", `unknown role ${word}; roles: ${ROLES.join(", ")}`, {
    hint: didYouMean(word, ROLES) ?? "the roles are main, compact and subagent",
  });
}

/**
 * The value that a word on the command line means. A list is one entry, or a JSON list of them (rules hold commas, so
 * commas do not separate). `usage` for a switch that is neither true nor false, and for a broken list.
 */
export function parseSetting(setting: Setting, word: string): SettingValue {
  if (setting.kind === "text") return word;
  if (setting.kind === "switch") {
    if (["true", "yes"].includes(word)) return true;
    if (["false", "no"].includes(word)) return false;
    throw new AgentcliError("usage", `${setting.key}: expected true or false`);
  }
  if (!word.trimStart().startsWith("[")) return [word];
  const values = parseJson(word);
  if (Array.isArray(values) && values.every((value) => typeof value === "string")) return values;
  throw new AgentcliError("usage", `${setting.key}: expected one text or a JSON list of texts`, {
    hint: `for example agentcli config set ${setting.key} '["a", "b"]'`,
  });
}

/** A value as one line of text: lists as JSON, the rest as it is. */
export function settingText(value: SettingValue | undefined): string {
  if (value === undefined) return "(not set)";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** One sentence for each thing that the setting names and that is not configured. */
export function settingWarnings(key: string, configuration: Configuration): string[] {
  const { defaultProvider, defaultModel, roles } = configuration;
  if (key === "default_provider" && defaultProvider !== undefined) {
    return selectorWarnings(defaultProvider, configuration);
  }
  if (key === "default_model" && defaultModel !== undefined) {
    const usual = defaultSelector(configuration);
    if (usual !== null) return selectorWarnings(`${usual.provider}:${usual.model}`, configuration);
    const known = configuration.providers.some((provider) => findModel(provider, defaultModel) !== undefined);
    if (known) return [];
    const parts = splitSelector(defaultModel);
    const names = parts?.model !== undefined && configuredProvider(configuration, parts.provider) !== undefined;
    return names
      ? selectorWarnings(defaultModel, configuration)
      : [`no provider has a model ${defaultModel} configured`];
  }
  const role = /^roles\.(.*)$/.exec(key)?.[1] as Role | undefined;
  const selector = role === undefined ? undefined : roles[role];
  return selector === undefined ? [] : selectorWarnings(selector, configuration);
}

/** The same for a selector. */
export function selectorWarnings(selector: string, configuration: Configuration): string[] {
  const parts = splitSelector(selector);
  if (parts === null || parts.provider === DEMO) return [];
  const provider = configuredProvider(configuration, parts.provider);
  if (provider === undefined) return [`the provider ${parts.provider} is not configured`];
  if (parts.model === undefined || findModel(provider, parts.model) !== undefined) return [];
  return [`${parts.provider} has no model ${parts.model} configured; it works if the server has it`];
}
