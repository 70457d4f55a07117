/** What an editor finds on the disk, whoever wrote it. */
import type { ArtifactKind, Piece } from "./artifact.ts";
import type { Scope } from "./dialect.ts";
import { keysOfHook, keysOfSameHook } from "./hook_item.ts";
import type { Ledger } from "./ledger.ts";
import type { SectionMarks } from "./section.ts";

/** Something that an editor finds. */
export interface FoundArtifact {
  kind: ArtifactKind;
  name: string;
  scope: Scope;
  path: string;
  /** Whether the ledger knows it. */
  ours: boolean;
  /** Why it would not load, or not as it is meant. */
  problems: readonly string[];
  /** Which one counts, and why, where there is a choice. */
  precedence?: string;
  /** Of a hook: its event. */
  event?: string;
  /** Of a hook or a server: the entry as it stands there. */
  entry?: unknown;
  /** Of a section: what it stands between. */
  marks?: SectionMarks;
  /** Read by the editor's other agent, which has a format of its own. */
  otherAgent?: true;
}

/** Something that is wrong with a place rather than with an artifact. */
export interface PlaceProblem {
  path: string;
  message: string;
  /** The editor reads nothing of the file, and nothing can be written into it. */
  unusable?: true;
}

/** A problem of a place as one text. */
export function problemText({ path, message }: PlaceProblem): string {
  return `${path}: ${message}`;
}

/** What was found, and what is to be said of places rather than of artifacts. */
export interface Inspection {
  found: FoundArtifact[];
  /** What is wrong. */
  problems: PlaceProblem[];
  /** What is good to know. */
  notes: string[];
}

/** The first of the artifacts whose hooks have this; by what a hook is known by. */
type Owners = Map<string, number>;

/** A key of a hook in its place. */
function placed(path: string, event: string | undefined, key: string): string {
  return `${JSON.stringify([path, event])} ${key}`;
}

/**
 * Looks up the names by which the ledger knows what is found; null for what it does not know. Made once for all that is
 * found: of a hooks file with thousands of entries each would be compared with each otherwise.
 */
export function ledgerNames({ artifacts }: Pick<Ledger, "artifacts">): (found: FoundArtifact) => string | null {
  const hooks: Owners = new Map();
  const others = new Map<string, { piece: Piece; at: number }[]>();
  artifacts.forEach(({ pieces }, at) => {
    for (const { piece, written } of pieces) {
      if (written === null) continue;
      if (piece.kind === "item") {
        for (const key of keysOfHook(piece.value)) {
          const place = placed(piece.path, piece.at.at(-1), key);
          if (!hooks.has(place)) hooks.set(place, at);
        }
      } else {
        const ofPath = others.get(piece.path) ?? [];
        ofPath.push({ piece, at });
        others.set(piece.path, ofPath);
      }
    }
  });
  return ({ path, name, event, entry, marks }) => {
    const owners = (others.get(path) ?? []).filter(({ piece }) =>
      piece.kind === "section"
        ? marks !== undefined && piece.name === name
        : piece.kind === "file" || (piece.kind === "member" && piece.at.at(-1) === name)
    ).map(({ at }) => at);
    if (event !== undefined) {
      owners.push(...keysOfSameHook(entry).flatMap((key) => hooks.get(placed(path, event, key)) ?? []));
    }
    return owners.length === 0 ? null : artifacts[Math.min(...owners)]?.name ?? null;
  };
}
