/** Which of several things of one kind counts, and why: the editors differ. */
import type { ArtifactKind } from "./artifact.ts";
import type { Dialect, Scope } from "./dialect.ts";
import { join, relativeTo } from "../platform/path.ts";
import type { FoundArtifact } from "./found.ts";
import { liveHooksFile } from "./places.ts";

/** What holds for one kind, and the files of it that were found. */
export interface Source {
  kind: ArtifactKind;
  rule: string;
  files: { scope: Scope; path: string }[];
}

const ORDER: Readonly<Record<ArtifactKind, number>> = {
  instructions: 0,
  rule: 1,
  workflow: 2,
  skill: 3,
  hook: 4,
  mcp: 5,
};

/** Which hooks file of the project is read, where the editor looks for several. */
function liveRule(dialect: Dialect, root: string): string {
  if (dialect.projectHooks.length === 1) return "";
  const live = liveHooksFile(dialect, root);
  const others = dialect.projectHooks.filter((name) => join(root, name) !== live);
  const isFirst = join(root, dialect.projectHooks[0] ?? "") === live;
  const why = isFirst
    ? `while it holds a hook, ${others.join(", ")} is not read`
    : `${others.join(", ")} is absent or holds no hook`;
  return `; of the project ${relativeTo(root, live)} is read: ${why}`;
}

function ruleOf(kind: ArtifactKind, dialect: Dialect, { root }: { root: string }): string {
  const { precedence } = dialect;
  if (kind === "hook") {
    return "all levels count: the hooks of the system run first, then those of the user, then the project's" +
      liveRule(dialect, root);
  }
  if (kind === "mcp") return "the servers of this one file are read";
  if (kind === "instructions") return "all are read; one in a subdirectory holds below it";
  if (precedence === "override") return "of one name the system's counts, else the project's, else the user's";
  if (kind === "workflow") {
    return "of one name the system's counts, else the project's, else the user's, else the editor's own";
  }
  return "all levels count, and none overrides another";
}

/** What counts for each kind that was found. */
export function sourcesOf(
  found: readonly FoundArtifact[],
  dialect: Dialect,
  { root }: { root: string },
): Source[] {
  const kinds = [...new Set(found.map(({ kind }) => kind))].sort((one, other) => ORDER[one] - ORDER[other]);
  return kinds.map((kind) => {
    const files = new Map(found.filter((one) => one.kind === kind).map(({ scope, path }) => [path, { scope, path }]));
    return { kind, rule: ruleOf(kind, dialect, { root }), files: [...files.values()] };
  });
}

const LEVEL: Readonly<Record<Scope, number>> = { system: 0, project: 1, user: 2 };

/** Notes with each artifact that has others of its name whether it counts. */
export function tellPrecedence(found: readonly FoundArtifact[], { precedence }: Dialect): void {
  for (const one of found) {
    if (one.kind === "hook") {
      one.precedence = one.otherAgent
        ? "run by the editor's other agent, which does not run the hooks of hooks.json"
        : "all hooks of all levels run";
      continue;
    }
    if (one.kind === "instructions" || one.kind === "mcp") continue;
    if (precedence === "merge" && one.kind !== "workflow") continue;
    const others = found.filter((other) =>
      other.kind === one.kind && other.name === one.name && other.scope !== one.scope
    );
    const above = others.filter((other) => LEVEL[other.scope] < LEVEL[one.scope]);
    const [winner] = above.sort((left, right) => LEVEL[left.scope] - LEVEL[right.scope]);
    if (winner !== undefined) one.precedence = `not used: the one of the ${winner.scope} wins`;
    else if (others.length > 0) one.precedence = "wins over the others of that name";
  }
}
