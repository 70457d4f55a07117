/** The supported editors, as one table: where each looks for its files. All other code reads this table. */

import { dirname } from "../platform/path.ts";

/** The ids of the table, the default first. */
export const DIALECT_IDS = ["ide", "windsurf", "devin"] as const;

export type DialectId = (typeof DIALECT_IDS)[number];

/** Where an artifact is installed: for this project, for all of the user's projects, for all users of the machine. */
export type Scope = "project" | "user" | "system";

export const KINDS = ["rule", "workflow", "skill", "hook", "mcp", "instructions"] as const;

export type ArtifactKind = (typeof KINDS)[number];

/** The scopes, nearest first. */
export const SCOPES = ["project", "user", "system"] as const;

/**
 * A row of the table. Paths with `/`, relative to the project, to the user's home, or absolute for system directories.
 */
export interface Dialect {
  id: DialectId;
  /** The editor's directory in a project, which holds rules, workflows, skills and hook scripts. */
  projectDirectory: string;
  /** Files that hold the hooks of a project; the editor reads the first that exists and is not empty. */
  projectHooks: readonly string[];
  /**
   * Hooks of the editor's other agent in a project, with events of its own: read and reported, never written. It exists
   * beside the hooks file, and neither turns the other off.
   */
  otherHooks: string | null;
  /** The old single file of rules: read and reported. */
  legacyRules: string | null;
  /** Global rules, workflows, skills and hooks of the user. */
  userDirectory: string;
  /** MCP servers of the user; a project has none. */
  userMcp: string;
  /** Another path that looks like one of MCP servers, and is only reported. */
  otherMcp: string | null;
  /** Files of a project that look as if the editor read servers from them, and are only reported. */
  unreadMcp: readonly string[];
  /** Global rules of the editor's other agent, in the home: read and reported. */
  otherInstructions: string | null;
  /** Further directories where skills are found, in the project and in the home alike. */
  skillDirectories: readonly string[];
  /** Null: the name is not known, `--system-dir` must give it. `%ProgramData%` is replaced by that directory. */
  systemDirectories: Readonly<Record<"linux" | "darwin" | "windows", string | null>>;
  /**
   * `override`: only the file of the highest level counts. `merge`: all levels count, workflows of one name excepted.
   */
  precedence: "override" | "merge";
}

/** Sources: seed §2.4 and §9 for `ide`; the public pages of the two editors for the others. */
export const DIALECTS: Readonly<Record<DialectId, Dialect>> = {
  ide: {
    id: "ide",
    projectDirectory: ".ide",
    projectHooks: [".ide/hooks.json"],
    otherHooks: null,
    legacyRules: ".ide-rules",
    userDirectory: ".vendor/ide",
    userMcp: ".vendor/ide/mcp_config.json",
    otherMcp: ".vendor/mcp_config.json",
    unreadMcp: [".ide/mcp_config.json"],
    otherInstructions: null,
    skillDirectories: [".assistant-a/skills", ".agents/skills"],
    systemDirectories: { linux: null, darwin: null, windows: null },
    precedence: "override",
  },
  windsurf: {
    id: "windsurf",
    projectDirectory: ".windsurf",
    // The newer file turns the older one off: what is live decides, not what we would like.
    projectHooks: [".devin/hooks.json", ".windsurf/hooks.json"],
    otherHooks: ".devin/hooks.v1.json",
    legacyRules: ".windsurfrules",
    userDirectory: ".codeium/windsurf",
    userMcp: ".codeium/windsurf/mcp_config.json",
    otherMcp: ".codeium/mcp_config.json",
    unreadMcp: [".windsurf/mcp_config.json", ".devin/mcp_config.json"],
    otherInstructions: null,
    skillDirectories: [".claude/skills", ".agents/skills"],
    systemDirectories: {
      linux: "/etc/windsurf",
      darwin: "/Library/Application Support/Windsurf",
      windows: "%ProgramData%/Windsurf",
    },
    precedence: "merge",
  },
  devin: {
    id: "devin",
    projectDirectory: ".devin",
    projectHooks: [".devin/hooks.json", ".windsurf/hooks.json"],
    otherHooks: ".devin/hooks.v1.json",
    legacyRules: null,
    userDirectory: ".codeium/windsurf",
    userMcp: ".config/devin/mcp_config.json",
    otherMcp: ".codeium/windsurf/mcp_config.json",
    unreadMcp: [".devin/mcp_config.json", ".windsurf/mcp_config.json"],
    otherInstructions: ".config/devin/AGENTS.md",
    skillDirectories: [".claude/skills", ".agents/skills"],
    systemDirectories: {
      linux: "/etc/devin",
      darwin: "/Library/Application Support/Devin",
      windows: "%ProgramData%/Devin",
    },
    precedence: "merge",
  },
};

/** Directories of a project in which the editor looks for its files; the first is that of the dialect. */
export function editorDirectories({ projectDirectory, projectHooks }: Dialect): string[] {
  return [...new Set([projectDirectory, ...projectHooks.map(dirname)])];
}
