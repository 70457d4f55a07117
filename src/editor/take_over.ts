/** Artifacts that others wrote, as artifacts of ours: the same bytes, noted in the ledger. No file changes by it. */
import { listInPlace, lstatInPlace } from "../platform/files_in_place.ts";
import { dirname, join } from "../platform/path.ts";
import { AgentcliError } from "../errors.ts";
import { type Artifact, encodeBase64, type Piece, sameArtifact } from "./artifact.ts";
import type { Dialect, Scope } from "./dialect.ts";
import { lookAt, readFound } from "./disk.ts";
import type { FoundArtifact } from "./found.ts";
import { scriptsOfHook } from "./inspect_hooks.ts";
import { canonical } from "./json_tree.ts";
import type { Ledger } from "./ledger.ts";
import { LIMITS } from "./limits.ts";
import { nameProblem } from "./names.ts";
import type { Places } from "./places.ts";
import { ownMarks, readSection, SectionProblem } from "./section.ts";
import { hideKeysOf } from "./server_keys.ts";

/** Something of others that could become ours. Hooks of one name are one. */
export interface Candidate {
  /** What was found, at least one. */
  found: FoundArtifact[];
  /** As it would be noted; null: it cannot be taken over. */
  artifact: Artifact | null;
  /** Why not. */
  reason?: string;
}

/** Where things are, and what is known already. */
export interface TakeOverScene {
  dialect: Dialect;
  ledger: Ledger;
  places(scope: Scope): Places;
}

/** What others wrote of what was found. Each has a name that no other artifact of its place has. */
export function candidatesOf(found: readonly FoundArtifact[], scene: TakeOverScene): Candidate[] {
  const artifacts: Artifact[] = [];
  return grouped(found.filter(({ ours }) => !ours)).map((group): Candidate => {
    const made = artifactOf(group, scene);
    if ("reason" in made) return { found: group, artifact: null, reason: made.reason };
    // What is noted and of which nothing is ours is the same thing: it stood there when it was added.
    const owned = scene.ledger.artifacts.filter(({ pieces }) => pieces.some(({ written }) => written !== null));
    const known = [...owned, ...artifacts];
    for (let count = 2, { name } = made; known.some((one) => sameArtifact(one, made)); count++) {
      made.name = `${name.slice(0, 60)}-${count}`;
    }
    artifacts.push(made);
    return { found: group, artifact: made };
  });
}

/** Hooks of one file and name go together, each event once; everything else stands alone. */
function grouped(found: readonly FoundArtifact[]): FoundArtifact[][] {
  const groups: FoundArtifact[][] = [];
  for (const one of found) {
    const group = one.kind === "hook" &&
      groups.find(([first, ...others]) =>
        first?.kind === "hook" && first.path === one.path && first.name === one.name &&
        [first, ...others].every(({ event }) => event !== one.event)
      );
    if (group) group.push(one);
    else groups.push([one]);
  }
  return groups;
}

type Refused = { reason: string };

function artifactOf(group: readonly FoundArtifact[], { dialect, places }: TakeOverScene): Artifact | Refused {
  const [first] = group;
  if (first === undefined) throw new AgentcliError("internal", "a group of nothing");
  const { base } = places(first.scope);
  const pieces = piecesOf(first, group, base);
  if ("reason" in pieces) return pieces;
  const name = nameProblem(first.name) === null
    ? first.name
    : first.name.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60).replace(/^-|-$/g, "");
  if (nameProblem(name) !== null) return { reason: "nothing can be made of its name" };
  return { kind: first.kind, name, scope: first.scope, dialect: dialect.id, base, pieces };
}

function piecesOf(first: FoundArtifact, group: readonly FoundArtifact[], base: string): Piece[] | Refused {
  const { kind, name, path, entry } = first;
  if (first.otherAgent) return { reason: "files of the editor's other agent are only read" };
  if (kind === "hook") {
    const items = group.map(({ event = "", entry: value }): Piece => ({
      kind: "item",
      path,
      at: ["hooks", event],
      value,
    }));
    const scripts = group.flatMap((one) => scriptsOfHook(one.entry, { hooksFile: path, base }));
    return [...[...new Set(scripts)].flatMap(filePiece), ...items];
  }
  if (kind === "mcp" && holdsLiteralKey(entry)) {
    return { reason: "it holds a key; write it as ${env:NAME}, which is noted nowhere else" };
  }
  if (kind === "mcp") return [{ kind: "member", path, at: ["mcpServers", name], value: entry }];
  if (kind === "instructions") return sectionPiece(first);
  if (kind === "skill") return folderPieces(dirname(path));
  const pieces = filePiece(path);
  return pieces.length === 0 ? { reason: "it cannot be read" } : pieces;
}

/** Whether a server has a key as it stands: what is noted of it would be a second place for it. */
function holdsLiteralKey(entry: unknown): boolean {
  return canonical(hideKeysOf(entry)) !== canonical(entry);
}

function sectionPiece({ name, path, scope, marks }: FoundArtifact): Piece[] | Refused {
  if (marks === undefined) return { reason: "text outside of marked sections stays its author's" };
  try {
    const content = readSection(lookAt(path) ?? "", marks);
    if (content === null) return { reason: "it cannot be read" };
    const { begin, end } = marks;
    const others = begin === ownMarks(name).begin ? {} : { marks: { begin, end } };
    return [{
      kind: "section",
      path,
      name,
      content,
      limit: scope === "user" ? LIMITS.globalRules : null,
      ...others,
    }];
  } catch (error) {
    if (error instanceof SectionProblem) return { reason: error.message };
    throw error;
  }
}

/** A file as a piece; nothing for one that is not there. */
function filePiece(path: string): Piece[] {
  try {
    const file = readFound(path);
    if (file === null) return [];
    const executable = file.mode !== null && (file.mode & 0o111) !== 0;
    return [{ kind: "file", path, content: encodeBase64(file.bytes), executable }];
  } catch (error) {
    if (error instanceof AgentcliError) return [];
    throw error;
  }
}

/** Most files of a skill that is taken over. */
const FILE_COUNT = 500;

function folderPieces(root: string): Piece[] | Refused {
  const pieces: Piece[] = [];
  const waiting = [root];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const { name, kind } of listInPlace(directory) ?? []) {
      const path = join(directory, name);
      if (kind === "directory") waiting.push(path);
      else if (kind !== "file") return { reason: "it bundles what is no plain file" };
      else {
        const [piece] = filePiece(path);
        if (piece === undefined || lstatInPlace(path) === null) return { reason: `${path} cannot be read` };
        pieces.push(piece);
        if (pieces.length > FILE_COUNT) return { reason: `it has more than ${FILE_COUNT} files` };
      }
    }
  }
  return pieces.sort((one, other) => one.path < other.path ? -1 : 1);
}
