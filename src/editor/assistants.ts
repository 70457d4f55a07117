/**
 * The assistants that ask about protected files through the MCP server of this program, as one table: where each keeps
 * its servers, hooks and rules, and how it writes them. Checked against Claude Code 2.1 and Codex 0.169; of Cursor its
 * pages.
 */
import { join } from "../platform/path.ts";
import type { LookupOptions } from "./places.ts";

/** The ids of the table. Windsurf is one of the editors of `dialect.ts`. */
export const ASSISTANT_IDS = ["claude", "codex", "cursor"] as const;

export type AssistantId = (typeof ASSISTANT_IDS)[number];

/** For this project, or for all of the user's. */
export type AssistantScope = "project" | "user";

/** A row of the table. Files of the user's directory are relative to it, `~/` to the home. */
export interface Assistant {
  id: AssistantId;
  label: string;
  /** Its directory, in a project and in the home. */
  directory: string;
  /** The variable that names another directory of the user. */
  variable: string | null;
  /** Its MCP servers; `toml`: the tables `mcp_servers.*` of a file of settings. */
  servers: Readonly<Record<AssistantScope, string>> & {
    form: "json" | "toml";
    entry: Readonly<Record<string, string>>;
    /**
     * Words before those that start the server of a project: they say where it is, if the assistant starts it
     * elsewhere.
     */
    words: readonly string[];
  };
  /** Its hooks. `grouped`: lists of handlers with a matcher; `flat`: entries with a line each. */
  hooks: {
    file: string;
    form: "grouped" | "flat";
    /** Further members that the file needs. */
    header: Readonly<Record<string, unknown>>;
    /** Members of each handler: after how many seconds it is ended, and that a failure blocks. */
    handler: Readonly<Record<string, unknown>>;
    /** The name of the line for PowerShell beside that for bash; null: one line, for the system it is installed on. */
    powershell: string | null;
    /** The setting that turns all hooks off, and the files of its directories that may hold it. */
    off: { files: readonly string[]; pattern: RegExp } | null;
  };
  /** Where bash finds a script of the project from; null: it is started at the root. */
  root: string | null;
  /** The file of the rule. `section`: others write it too. Null: there is no file for it. */
  rule: Readonly<Record<AssistantScope, string | null>> & { form: "file" | "section"; frontmatter: string };
  /** Sentences that say what the user has to do or know once it is installed. */
  notes: Readonly<Record<AssistantScope, readonly string[]>>;
}

const CODEX_TRUST =
  "until you trust the hook, Codex does not run it and nothing is blocked: start codex and review it there (/hooks)";
const CURSOR_SWITCH =
  "Cursor starts the server once you switch it on under Settings, MCP; files in open tabs raise no hook";

/** Longer than the guard takes, which ends itself and blocks. */
const TIMEOUT = 60;

export const ASSISTANTS: Readonly<Record<AssistantId, Assistant>> = {
  claude: {
    id: "claude",
    label: "Claude Code",
    directory: ".claude",
    variable: "CLAUDE_CONFIG_DIR",
    servers: { project: ".mcp.json", user: "~/.claude.json", form: "json", entry: { type: "stdio" }, words: [] },
    hooks: {
      file: "settings.json",
      form: "grouped",
      header: {},
      handler: { timeout: TIMEOUT, onFailure: "block" },
      powershell: null,
      off: { files: ["settings.json", "settings.local.json"], pattern: /"disableAllHooks"\s*:\s*true/ },
    },
    root: '"${CLAUDE_PROJECT_DIR:-.}"/',
    rule: { project: "rules/agentcli-private.md", user: "rules/agentcli-private.md", form: "file", frontmatter: "" },
    notes: {
      project: [
        "Claude Code has these hooks where it is started at the top of the project, not below it: --user has them everywhere",
        "it asks once whether the project's server may start; sessions that run have to be started again",
      ],
      user: ["sessions of Claude Code that run have to be started again"],
    },
  },
  codex: {
    id: "codex",
    label: "Codex",
    directory: ".codex",
    variable: "CODEX_HOME",
    servers: { project: "config.toml", user: "config.toml", form: "toml", entry: {}, words: [] },
    hooks: {
      file: "hooks.json",
      form: "grouped",
      header: {},
      handler: { timeout: TIMEOUT },
      powershell: "commandWindows",
      off: { files: ["config.toml"], pattern: /^[ \t]*(?:features[ \t]*\.[ \t]*)?(?:codex_)?hooks[ \t]*=[ \t]*false/m },
    },
    root: '"$(git rev-parse --show-toplevel 2>/dev/null || pwd)"/',
    rule: { project: "../AGENTS.md", user: "AGENTS.md", form: "section", frontmatter: "" },
    notes: {
      project: [
        "Codex reads .codex only in a project that you trust; its own sandbox cannot contain that of agentcli (docs/private-mcp.md)",
        CODEX_TRUST,
      ],
      user: [CODEX_TRUST],
    },
  },
  cursor: {
    id: "cursor",
    label: "Cursor",
    directory: ".cursor",
    variable: null,
    servers: { project: "mcp.json", user: "mcp.json", form: "json", entry: {}, words: ["--cwd", "${workspaceFolder}"] },
    hooks: {
      file: "hooks.json",
      form: "flat",
      header: { version: 1 },
      handler: { timeout: TIMEOUT, failClosed: true },
      powershell: null,
      off: null,
    },
    root: null,
    rule: {
      project: "rules/agentcli-private.mdc",
      user: null,
      form: "file",
      frontmatter: "---\ndescription:\nglobs:\nalwaysApply: true\n---\n\n",
    },
    notes: {
      project: [CURSOR_SWITCH],
      user: [
        CURSOR_SWITCH,
        "Cursor has no file for rules of the user: install it in projects too, or write the rule under Settings, Rules",
      ],
    },
  },
};

/** Absolute paths of an assistant in one scope. */
export interface AssistantPlaces {
  scope: AssistantScope;
  /** The project or the home. */
  base: string;
  servers: string;
  hooks: string;
  /** The directory of the hooks' scripts. */
  scripts: string;
  rule: string | null;
}

/** Returns whether an id is one of the table. */
export function isAssistant(id: string): id is AssistantId {
  return (ASSISTANT_IDS as readonly string[]).includes(id);
}

/** Returns the places of a scope. `env`: the variables of the user, which may name another directory. */
export function assistantPlaces(
  { directory, variable, servers, hooks, rule }: Assistant,
  scope: AssistantScope,
  { root, userHome, env }: Pick<LookupOptions, "root" | "userHome"> & { env: (name: string) => string | undefined },
): AssistantPlaces {
  const base = scope === "project" ? root : userHome;
  const named = scope === "user" && variable !== null ? env(variable) || null : null;
  const own = named ?? join(base, directory);
  const inHome = servers[scope].startsWith("~/");
  const file = inHome ? servers[scope].slice(2) : servers[scope];
  const atRoot = scope === "project" && file.startsWith(".");
  const ruleFile = rule[scope];
  return {
    scope,
    base,
    // The file beside the user's directory is inside of it where a variable names the directory.
    servers: join(inHome && named === null ? userHome : atRoot ? base : own, file),
    hooks: join(own, hooks.file),
    scripts: join(own, "hooks"),
    rule: ruleFile === null ? null : join(own, ruleFile),
  };
}
