/** Turns artifacts that others wrote into ours: the same bytes, recorded in the ledger. No file changes. */
import { listSync, lstatSync } from "../../platform/files.ts";
import { dirname, join } from "../../platform/path.ts";
import { AgentcliError } from "../../errors.ts";
import { type Artifact, artifactKey, hookItem, type Resource } from "../resources/artifact.ts";
import type { Dialect, Scope } from "../dialect.ts";
import { isExecutable, lookAt, readFound } from "./disk.ts";
import type { FoundArtifact } from "../resources/found.ts";
import { scriptsOfHook } from "../resources/hook_entry.ts";
import { canonical } from "../resources/json_tree.ts";
import type { Ledger } from "./ledger.ts";
import { LIMITS, nameProblem, orProblem } from "../limits.ts";
import type { Places } from "../places.ts";
import { ownMarks, readSection } from "../resources/section.ts";
import { hideKeysOf } from "../resources/servers.ts";

/** An artifact of others that could be adopted. Hooks of one name count as one. */
export interface Candidate {
  /** The resources that were found, at least one. */
  found: FoundArtifact[];
  /** As it would be recorded; null: it cannot be adopted. */
  artifact: Artifact | null;
  /** Why not. */
  reason?: string;
}

/** Returns the artifacts found that others wrote. Each has a unique name in its place. */
export function candidatesOf(
  found: readonly FoundArtifact[],
  context: { dialect: Dialect; ledger: Ledger; places(scope: Scope): Places },
): Candidate[] {
  // A recorded artifact with nothing of ours is the same: it was already there when it was added.
  const owned = context.ledger.artifacts.filter(({ resources }) => resources.some(({ written }) => written !== null));
  const known = new Set(owned.map(artifactKey));
  const counts = new Map<string, number>();
  const bases = new Map<Scope, string>();
  for (const { scope } of found) if (!bases.has(scope)) bases.set(scope, context.places(scope).base);
  return grouped(found.filter(({ ours }) => !ours)).map((group): Candidate => {
    const made = artifactOf(group, { dialect: context.dialect, bases });
    if ("reason" in made) return { found: group, artifact: null, reason: made.reason };
    const first = artifactKey(made);
    const name = made.name.slice(0, 60);
    let count = counts.get(first) ?? 2;
    for (; known.has(artifactKey(made)); count++) made.name = `${name}-${count}`;
    counts.set(first, count);
    known.add(artifactKey(made));
    return { found: group, artifact: made };
  });
}

/**
 * Hooks of one file and name go together, each event once; everything else is separate. Equal entries are one,
 * however often they occur.
 */
function grouped(found: readonly FoundArtifact[]): FoundArtifact[][] {
  const groups: FoundArtifact[][] = [];
  const byName = new Map<string, FoundArtifact[][]>();
  const byEvent = new Map<string, string[]>();
  for (const one of found) {
    if (one.kind !== "hook") {
      groups.push([one]);
      continue;
    }
    const { path, name, event, entry } = one;
    // The first entry of an event goes into the first group of that name, the second into the second.
    const [named, placed] = [JSON.stringify([path, name]), JSON.stringify([path, name, event])];
    const entries = byEvent.get(placed) ?? [];
    byEvent.set(placed, entries);
    const known = entries.indexOf(canonical(entry));
    const place = known < 0 ? entries.push(canonical(entry)) - 1 : known;
    const ofName = byName.get(named) ?? [];
    byName.set(named, ofName);
    if (ofName[place] === undefined) groups.push(ofName[place] = []);
    ofName[place].push(one);
  }
  return groups;
}

type Refused = { reason: string };

function artifactOf(
  group: readonly FoundArtifact[],
  { dialect, bases }: { dialect: Dialect; bases: ReadonlyMap<Scope, string> },
): Artifact | Refused {
  const [first] = group;
  if (first === undefined) throw new AgentcliError("internal", "a group of nothing");
  const base = bases.get(first.scope) ?? dirname(first.path);
  const resources = resourcesOf(first, group, base);
  if ("reason" in resources) return resources;
  const name = nameProblem(first.name) === null
    ? first.name
    : first.name.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60).replace(/^-|-$/g, "");
  if (nameProblem(name) !== null) return { reason: "nothing can be made of its name" };
  return { kind: first.kind, name, scope: first.scope, dialect: dialect.id, base, resources };
}

function resourcesOf(first: FoundArtifact, group: readonly FoundArtifact[], base: string): Resource[] | Refused {
  const { kind, name, path, entry } = first;
  if (first.otherAgent) return { reason: "files of the editor's other agent are only read" };
  if (kind === "hook") {
    const different = [...new Map(group.map((one) => [one.event, one])).values()];
    const items = different.map(({ event = "", entry: value }) => hookItem(path, event, value));
    const scripts = different.flatMap((one) => scriptsOfHook(one.entry, { hooksFile: path, base }));
    return [...[...new Set(scripts)].flatMap(fileResource), ...items];
  }
  if (kind === "mcp" && holdsLiteralKey(entry)) {
    return { reason: "it holds a key; write it as ${env:NAME}, which is noted nowhere else" };
  }
  if (kind === "mcp") return [{ kind: "member", path, at: ["mcpServers", name], value: entry }];
  if (kind === "instructions") return sectionResource(first);
  if (kind === "skill") return folderResources(dirname(path));
  const resources = fileResource(path);
  return resources.length === 0 ? { reason: "it cannot be read" } : resources;
}

/** Returns whether a server has a literal key: the record of it would be a second copy. */
function holdsLiteralKey(entry: unknown): boolean {
  return canonical(hideKeysOf(entry)) !== canonical(entry);
}

function sectionResource({ name, path, scope, marks }: FoundArtifact): Resource[] | Refused {
  if (marks === undefined) {
    return {
      reason: "text outside of sections stays its author's, until lines such as <!-- BEGIN name --> stand around it",
    };
  }
  return orProblem(() => {
    const content = readSection(lookAt(path) ?? "", marks);
    if (content === null) return { reason: "it cannot be read" };
    const { begin, end } = marks;
    const others = begin === ownMarks(name).begin ? {} : { marks: { begin, end } };
    const limit = scope === "user" ? LIMITS.globalRules : null;
    return [{ kind: "section", path, name, content, limit, ...others }];
  }, ({ message }) => ({ reason: message }));
}

/** Returns a file as a resource; nothing for a missing one. */
function fileResource(path: string): Resource[] {
  try {
    const file = readFound(path);
    if (file === null) return [];
    return [{ kind: "file", path, content: file.bytes.toBase64(), executable: isExecutable(file) }];
  } catch (error) {
    if (error instanceof AgentcliError) return [];
    throw error;
  }
}

/** Most files of a skill that is adopted. */
const FILE_COUNT = 500;

function folderResources(root: string): Resource[] | Refused {
  const resources: Resource[] = [];
  const waiting = [root];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const { name, kind } of listSync(directory) ?? []) {
      const path = join(directory, name);
      if (kind === "directory") waiting.push(path);
      else if (kind !== "file") return { reason: "it bundles what is no plain file" };
      else {
        const [resource] = fileResource(path);
        if (resource === undefined || lstatSync(path) === null) return { reason: `${path} cannot be read` };
        resources.push(resource);
        if (resources.length > FILE_COUNT) return { reason: `it has more than ${FILE_COUNT} files` };
      }
    }
  }
  return resources.sort((one, other) => one.path < other.path ? -1 : 1);
}
