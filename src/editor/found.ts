/** What an editor finds on the disk, whoever wrote it. */
import type { ArtifactKind } from "./artifact.ts";
import type { Scope } from "./dialect.ts";
import type { Ledger } from "./ledger.ts";
import { sameHook } from "./hook_item.ts";
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

/** What was found, and what is to be said of places rather than of artifacts. */
export interface Inspection {
  found: FoundArtifact[];
  /** What is wrong. */
  problems: string[];
  /** What is good to know. */
  notes: string[];
}

/** The name by which the ledger knows something that was found; null when it does not. */
export function nameInLedger(found: FoundArtifact, { artifacts }: Pick<Ledger, "artifacts">): string | null {
  const { name, path, entry, event, marks } = found;
  const owner = artifacts.find((one) =>
    one.pieces.some(({ piece, written }) => {
      if (written === null || piece.path !== path) return false;
      if (piece.kind === "item") return event === piece.at.at(-1) && sameHook(piece.value, entry);
      if (piece.kind === "section") return marks !== undefined && piece.name === name;
      return piece.kind === "file" || piece.at.at(-1) === name;
    })
  );
  return owner?.name ?? null;
}
