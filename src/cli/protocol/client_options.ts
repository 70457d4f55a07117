/**
 * The options that clients of the protocol pass, and what each one means here. Source: the clients' own command lines
 * (docs/recipes.md names them).
 */
import { RUN_OPTIONS } from "../run/command.ts";
import { builtinTools } from "../../tools/registry.ts";
import { clean } from "../../terminal/clean.ts";
import { splitRules } from "../../runtime/tools_and_rules.ts";
import type { Option, Options } from "../command.ts";
import { kebabCase } from "../command_line.ts";

/** An option of clients. Without `means` it is accepted and ignored. */
export interface ClientOption {
  takes: "nothing" | "value";
  /** The option of ours that it stands for; `value` is what it then has, or a table of theirs to ours. */
  means?: { option: keyof typeof RUN_OPTIONS; value?: string | Readonly<Record<string, string>> };
}

/** Accepted, with their value, and ignored. */
const IGNORED_WITH_VALUE: readonly string[] = [
  "agent",
  "agents",
  "authType",
  "betas",
  "channels",
  "debugFile",
  "effort",
  "fallbackModel",
  "includeDirectories",
  "initializeFields",
  "jsonSchema",
  "managedSettings",
  "maxBudgetUsd",
  "maxThinkingTokens",
  "permissionPrompts",
  "pluginDir",
  "pluginDirNoMcp",
  "projectConfigRoot",
  "resumeDropsTurn",
  "resumeSessionAt",
  "sdkUrl",
  "settingSources",
  "settings",
  "taskBudget",
  "thinking",
  "thinkingDisplay",
];

/** Accepted and ignored. */
const IGNORED_ALONE: readonly string[] = [
  "allowDangerouslySkipPermissions",
  "awaitInitialize",
  "bare",
  "chrome",
  "debug",
  "debugToStderr",
  "disableSlashCommands",
  "hardFail",
  "ide",
  "includeHookEvents",
  "managedSettingsInInitialize",
  "noChrome",
  "print",
  "replayUserMessages",
  "sessionMirror",
  "strictMcpConfig",
];

/** Those that mean something. */
const MEANT: Readonly<Record<string, ClientOption>> = {
  dangerouslySkipPermissions: {
    takes: "nothing",
    means: { option: "permissionMode", value: "bypassPermissions" },
  },
  // A client that names itself so answers requests about calls.
  channel: { takes: "value", means: { option: "permissionPromptTool", value: { SDK: "stdio" } } },
  maxSessionTurns: { takes: "value", means: { option: "maxTurns" } },
  coreTools: { takes: "value", means: { option: "tools" } },
  excludeTools: { takes: "value", means: { option: "disallowedTools" } },
  approvalMode: {
    takes: "value",
    means: {
      option: "permissionMode",
      value: { default: "default", plan: "plan", "auto-edit": "acceptEdits", yolo: "bypassPermissions" },
    },
  },
};

/** The option of clients with this camelCase name; undefined for one that is not known. */
export function clientOption(name: string): ClientOption | undefined {
  if (Object.hasOwn(MEANT, name)) return MEANT[name];
  if (IGNORED_WITH_VALUE.includes(name)) return { takes: "value" };
  return IGNORED_ALONE.includes(name) ? { takes: "nothing" } : undefined;
}

/** All of them as they are typed, sorted. */
export function clientOptionNames(): string[] {
  return [...Object.keys(MEANT), ...IGNORED_WITH_VALUE, ...IGNORED_ALONE]
    .map(kebabCase).sort();
}

/** One-letter options of clients. */
export const CLIENT_LETTERS: Readonly<Record<string, string>> = {
  p: "print",
  c: "continue",
  r: "resume",
  m: "model",
  d: "debug",
};

/** `text` is the option in the form that the dispatcher reads. */
export type Meaning = { option: string; text: string } | { note: string } | { nothing: true };

const NOTHING: Meaning = { nothing: true };

/** The meaning of an option as it was given. Never throws. */
export function meaningOf({ name, typed, value }: { name: string; typed: string; value: string | undefined }): Meaning {
  const declared: Options = RUN_OPTIONS;
  const ours = Object.hasOwn(declared, name) ? declared[name] : undefined;
  if (ours !== undefined) return ourMeaning({ name, option: ours, value });
  const theirs = clientOption(name);
  if (theirs === undefined) return { note: `option --${clean(typed.slice(0, 100))} is unknown and ignored` };
  if (theirs.means === undefined) return NOTHING;
  const { option, value: meant } = theirs.means;
  const text = typeof meant === "string" ? meant : meant === undefined ? value : meant[value ?? ""];
  const target = declared[option];
  if (text === undefined || target === undefined) return unfit(typed, value);
  return ourMeaning({ name: option, option: target, value: text });
}

function unfit(name: string, value: string | undefined): Meaning {
  const shown = value === undefined ? "" : ` ${JSON.stringify(clean(value.slice(0, 100)))}`;
  return { note: `option --${clean(name.slice(0, 100))}${shown} is ignored: invalid value` };
}

function ourMeaning({ name, option, value }: { name: string; option: Option; value: string | undefined }): Meaning {
  if (option.kind === "flag") {
    return value === undefined || value === "true" ? { option: name, text: `--${name}` } : NOTHING;
  }
  if (name === "tools") return toolsMeaning(value ?? "");
  // `--k ""` and a missing value say that nothing was set.
  if (value === undefined || value === "") return NOTHING;
  if (option.kind === "text" && option.values !== undefined && !option.values.includes(value)) {
    return unfit(name, value);
  }
  if (option.kind === "number") {
    const fits = /^\d+(\.\d+)?$/.test(value) && Number(value) >= option.minimum && Number(value) <= option.maximum &&
      (!option.integer || Number.isInteger(Number(value)));
    if (!fits) return unfit(name, value);
  }
  if (name === "allowedTools" || name === "disallowedTools") return rulesMeaning(name, value);
  return { option: name, text: `--${name}=${value}` };
}

/** No names are no tools; `default` is what there is; tools that others have and we do not are left out. */
function toolsMeaning(value: string): Meaning {
  if (value.trim() === "default") return NOTHING;
  const names = splitRules([value]).filter((name) => isOurTool(name));
  return { option: "tools", text: `--tools=${names.length === 0 ? "none" : names.join(",")}` };
}

/** Rules about tools that we do not have allow and deny nothing. */
function rulesMeaning(name: string, value: string): Meaning {
  const rules = splitRules([value]).filter((rule) =>
    rule.startsWith("mcp__") || isOurTool(rule.split("(")[0] ?? "", { git: true })
  );
  return rules.length === 0 ? NOTHING : { option: name, text: `--${name}=${rules.join(",")}` };
}

function isOurTool(name: string, options: { git?: boolean } = {}): boolean {
  const wanted = name.trim().toLowerCase();
  return builtinTools(options).some((tool) => tool.name.toLowerCase() === wanted);
}
