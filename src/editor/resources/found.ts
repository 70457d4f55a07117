/** Artifacts found on the disk, whoever wrote them, and which of several takes precedence. */
import type { Resource } from "./artifact.ts";
import type { ArtifactKind, Dialect, Scope } from "../dialect.ts";
import { keysOfHook } from "./hook_entry.ts";
import type { Ledger } from "../plan/ledger.ts";
import type { SectionMarks } from "./section.ts";
import { join, relativeTo } from "../../platform/path.ts";
import { liveHooksFile } from "../places.ts";

export interface FoundArtifact {
  kind: ArtifactKind;
  name: string;
  scope: Scope;
  path: string;
  /** Whether the ledger knows it. */
  ours: boolean;
  /** Why it would not load, or not as intended. */
  problems: readonly string[];
  /** Which one counts, and why, where there is a choice. */
  precedence?: string;
  /** Of a hook: its event. */
  event?: string;
  /** Of a hook or a server: the entry as it is there. */
  entry?: unknown;
  /** Of a section: its marks. */
  marks?: SectionMarks;
  /** Read by the editor's other agent, which has a format of its own. */
  otherAgent?: true;
}

/** A problem of a place rather than of an artifact. */
export interface PlaceProblem {
  path: string;
  message: string;
  /** The editor reads nothing of the file, and nothing can be written into it. */
  unusable?: true;
}

/** Returns a problem of a place as one text. */
export function problemText({ path, message }: PlaceProblem): string {
  return `${path}: ${message}`;
}

/** The artifacts found, and notes on places rather than artifacts. */
export interface Inspection {
  found: FoundArtifact[];
  problems: PlaceProblem[];
  notes: string[];
}

function placed(path: string, event: string | undefined, key: string): string {
  return `${JSON.stringify([path, event])} ${key}`;
}

/**
 * Finds the artifact of the ledger that a found one belongs to; null for an unknown one. Created once for everything
 * found: otherwise each of thousands of entries of a hooks file would be compared with each other.
 */
export function ledgerOwners(
  { artifacts }: Pick<Ledger, "artifacts">,
): (found: FoundArtifact) => Ledger["artifacts"][number] | null {
  // The first artifact that has it, by a hook's identity.
  const hooks = new Map<string, number>();
  const others = new Map<string, { resource: Resource; at: number }[]>();
  artifacts.forEach(({ resources }, at) => {
    for (const { resource, written } of resources) {
      if (written === null) continue;
      if (resource.kind === "item") {
        for (const key of keysOfHook(resource.value).own) {
          const place = placed(resource.path, resource.at.at(-1), key);
          if (!hooks.has(place)) hooks.set(place, at);
        }
      } else {
        const ofPath = others.get(resource.path) ?? [];
        ofPath.push({ resource, at });
        others.set(resource.path, ofPath);
      }
    }
  });
  return ({ path, name, event, entry, marks }) => {
    const owners = (others.get(path) ?? []).filter(({ resource }) =>
      resource.kind === "section"
        ? marks !== undefined && resource.name === name
        : resource.kind === "file" || (resource.kind === "member" && resource.at.at(-1) === name)
    ).map(({ at }) => at);
    if (event !== undefined) {
      owners.push(...keysOfHook(entry).sought.flatMap((key) => hooks.get(placed(path, event, key)) ?? []));
    }
    return artifacts[Math.min(...owners)] ?? null;
  };
}

/** The rule of precedence of one kind, and the files of it that were found. */
export interface Source {
  kind: ArtifactKind;
  rule: string;
  files: { scope: Scope; path: string }[];
}

const ORDER: readonly ArtifactKind[] = ["instructions", "rule", "workflow", "skill", "hook", "mcp"];

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

/** Returns what counts for each kind that was found. */
export function sourcesOf(
  found: readonly FoundArtifact[],
  dialect: Dialect,
  { root }: { root: string },
): Source[] {
  return ORDER.flatMap((kind) => {
    const ofKind = found.filter((one) => (one.marks === undefined ? one.kind : "instructions") === kind);
    const files = new Map(ofKind.map(({ scope, path }) => [path, { scope, path }]));
    return files.size === 0 ? [] : [{ kind, rule: ruleOf(kind, dialect, { root }), files: [...files.values()] }];
  });
}

const LEVEL: Readonly<Record<Scope, number>> = { system: 0, project: 1, user: 2 };

/** Records with each artifact that has others of its name whether it counts. */
export function markPrecedence(found: readonly FoundArtifact[], { precedence }: Dialect): void {
  for (const one of found) {
    if (one.kind === "hook") {
      one.precedence = one.otherAgent
        ? "run by the editor's other agent, which does not run the hooks of hooks.json"
        : "all hooks of all levels run";
      continue;
    }
    if (one.kind === "instructions" || one.marks !== undefined || one.kind === "mcp") continue;
    if (precedence === "merge" && one.kind !== "workflow") continue;
    const others = found.filter((other) =>
      other.kind === one.kind && other.marks === undefined && other.name === one.name && other.scope !== one.scope
    );
    const above = others.filter((other) => LEVEL[other.scope] < LEVEL[one.scope]);
    const [winner] = above.sort((left, right) => LEVEL[left.scope] - LEVEL[right.scope]);
    if (winner !== undefined) one.precedence = `not used: the one of the ${winner.scope} wins`;
    else if (others.length > 0) one.precedence = "wins over the others of that name";
  }
}
