/**
 * Options that existing clients of the protocol pass at the root and that are none of ours: how many values they take,
 * and what they mean to us. Read from the clients' own command lines (docs/recipes.md names them).
 */
import type { RUN_OPTIONS } from "../run/verb.ts";

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
  // A client that names itself so answers questions about calls.
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
    .map((name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)).sort();
}

/** One-letter options of clients. */
export const CLIENT_LETTERS: Readonly<Record<string, string>> = { p: "print", c: "continue", r: "resume", d: "debug" };
