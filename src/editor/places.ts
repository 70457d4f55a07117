/** Where the artifacts of one scope are, for one dialect and one machine. */
import { orProblem } from "./limits.ts";
import { AgentcliError } from "../errors.ts";
import { statSync } from "../platform/files.ts";
import { join, relativeTo } from "../platform/path.ts";
import { type Dialect, DIALECT_IDS, type DialectId, DIALECTS, type Scope } from "./dialect.ts";
import { lookAt } from "./plan/disk.ts";
import type { PlaceProblem } from "./resources/found.ts";
import { nodeAt, parseJsonTree } from "./resources/json_tree.ts";

/** The paths that places are worked out from. All absolute. */
export interface LookupOptions {
  root: string;
  userHome: string;
  os: "linux" | "darwin" | "windows";
  /** `%ProgramData%`, on Windows. */
  programData?: string;
  /** `--system-dir`. */
  systemDirectory?: string;
}

/** Absolute paths of one scope. Null: the editor has no such place there. */
export interface Places {
  scope: Scope;
  /** Links are searched between it and a file. */
  base: string;
  rules: string | null;
  workflows: string;
  skills: string;
  /** The hooks file that is read now, or that will be created. */
  hooks: string;
  /** The directory of the hooks' scripts. */
  scripts: string;
  mcp: string | null;
  /** The file of which a marked section is ours. */
  instructions: string | null;
}

function hasContent(path: string): boolean {
  return (lookAt(path) ?? "").trim() !== "";
}

/** Returns whether the text of a hooks file holds a hook; one that cannot be read may. */
function holdsHook(path: string): boolean {
  const text = lookAt(path) ?? "";
  if (text.trim() === "") return false;
  return orProblem(() => {
    const hooks = nodeAt(parseJsonTree(text), ["hooks"]);
    return hooks?.kind === "object" &&
      hooks.children.some(({ value }) => value.kind === "array" && value.children.length > 0);
  }, () => true);
}

/**
 * Returns the hooks file of a project that the editor reads now: the first that holds hooks, else the first that has
 * content; where there is none yet, the one of the dialect's own directory. A hook in another one would turn those off.
 */
export function liveHooksFile(dialect: Dialect, root: string): string {
  const candidates = dialect.projectHooks.map((name) => join(root, name));
  const own = join(root, dialect.projectDirectory, "hooks.json");
  return candidates.find(holdsHook) ?? candidates.find(hasContent) ?? own;
}

/**
 * Returns what is wrong with the hooks files of a project beside the live one. The editor reads a later one where an
 * earlier one is absent or empty; whether one without hooks is empty it does not say, so such a one has to go.
 */
export function hooksFileProblems(dialect: Dialect, root: string): PlaceProblem[] {
  const candidates = dialect.projectHooks.map((name) => join(root, name));
  const live = liveHooksFile(dialect, root);
  const at = candidates.indexOf(live);
  const before = candidates.slice(0, at).filter(hasContent).map((path) => ({
    path,
    message: `it holds no hook, but while it is there the editor may pass over the hooks of ${
      relativeTo(root, live)
    }: delete it`,
  }));
  const after = candidates.slice(at + 1).filter((path) => path !== live && holdsHook(path)).map((path) => ({
    path,
    message: "it is not read: another hooks file of the project goes before it",
  }));
  return [...before, ...after];
}

/** Returns the directory of the system scope; null where it is not known. */
export function systemDirectory(dialect: Dialect, { os, programData, systemDirectory }: LookupOptions): string | null {
  const named = systemDirectory ?? dialect.systemDirectories[os];
  if (systemDirectory !== undefined || !named?.startsWith("%")) return named;
  return programData === undefined ? null : named.replace("%ProgramData%", programData);
}

/** Returns the places of a scope. Throws `usage` for a system directory that is not known. */
export function placesOf(dialect: Dialect, scope: Scope, around: LookupOptions): Places {
  const inside = (own: string) => ({
    scope,
    rules: join(own, "rules"),
    workflows: join(own, "workflows"),
    skills: join(own, "skills"),
    hooks: join(own, "hooks.json"),
    scripts: join(own, "hooks"),
    mcp: null,
  });
  if (scope === "project") {
    return {
      ...inside(join(around.root, dialect.projectDirectory)),
      base: around.root,
      hooks: liveHooksFile(dialect, around.root),
      instructions: join(around.root, "AGENTS.md"),
    };
  }
  if (scope === "user") {
    const own = join(around.userHome, dialect.userDirectory);
    return {
      ...inside(own),
      base: around.userHome,
      rules: null,
      workflows: join(own, "global_workflows"),
      mcp: join(around.userHome, dialect.userMcp),
      instructions: join(own, "memories", "global_rules.md"),
    };
  }
  const own = systemDirectory(dialect, around);
  if (own === null) {
    throw new AgentcliError("usage", `the system directory of the dialect ${dialect.id} is not known here`, {
      hint: "name it with --system-dir",
    });
  }
  return { ...inside(own), base: own, instructions: null };
}

/** Editors of which the project has files that only they have; those with a live file before those with a directory. */
export function dialectsHere({ root }: Pick<LookupOptions, "root">): DialectId[] {
  const withFile = DIALECT_IDS.filter((id) => {
    const { projectDirectory, legacyRules } = DIALECTS[id];
    const signs = ["hooks.json", "hooks.v1.json", "mcp_config.json"].map((name) => join(projectDirectory, name));
    return [...signs, ...(legacyRules === null ? [] : [legacyRules])].some((name) => hasContent(join(root, name)));
  });
  const withDirectory = DIALECT_IDS.filter((id) =>
    ["rules", "workflows", "skills"].some((kind) =>
      statSync(join(root, DIALECTS[id].projectDirectory, kind))?.kind === "directory"
    )
  );
  return [...new Set([...withFile, ...withDirectory])];
}

/**
 * Returns the dialect that was named; else the one that was used in this project before, when it was always the same
 * (`used`); else the one whose files the project has, an older file that is live before a newer directory; else `ide`.
 */
export function chooseDialect(
  named: DialectId | undefined,
  around: Pick<LookupOptions, "root">,
  { used = [] }: { used?: readonly DialectId[] } = {},
): Dialect {
  const [first, ...others] = [...new Set(used)];
  const before = others.length === 0 ? first : undefined;
  return DIALECTS[named ?? before ?? dialectsHere(around)[0] ?? "ide"];
}
