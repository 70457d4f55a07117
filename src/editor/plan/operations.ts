/** The operations of a plan, one for each resource that has to be there or has to go, and the index of who owns what. */
import { type Artifact, artifactKey, type Piece, pieceKey } from "../resources/artifact.ts";
import type { Installed, InstalledPiece, Ledger } from "./ledger.ts";
import { lookAt } from "./disk.ts";
import { type Draft, liveText } from "./draft.ts";
import { scriptsIn } from "../resources/hook_entry.ts";
import { canonical } from "../resources/json_tree.ts";

/** What is wanted. */
export interface Wanted {
  /** Installed anew or in a new version. */
  add: readonly Artifact[];
  /** Taken away. */
  remove: readonly Omit<Artifact, "pieces">[];
  /** Put in order again: of all that is installed, those that this says yes to. */
  keep(installed: Installed): boolean;
  /** Overwrites what is foreign or was changed by hand. */
  force: boolean;
  /** Takes what stands there as wanted for ours. */
  take?: boolean;
}

/** What has to happen to one piece. */
export interface Step {
  /** Where the outcome is noted. */
  artifact: Installed;
  /** As it should be; null: nothing. */
  next: Piece | null;
  /** Whether it is ours from then on; otherwise it is given back, or goes. */
  stays: boolean;
  /** As it was; null: it is new. */
  old: InstalledPiece | null;
}

/** The steps, and the artifacts as they will be once their pieces are noted. */
export function stepsOf(ledger: Ledger, wanted: Wanted): { steps: Step[]; artifacts: Installed[] } {
  const steps: Step[] = [];
  const artifacts: Installed[] = [];
  const [added, removed] = [new Map(wanted.add.map((one) => [artifactKey(one), one])), keysOf(wanted.remove)];
  for (const known of ledger.artifacts) {
    const next = added.get(artifactKey(known));
    if (removed.has(artifactKey(known))) {
      const left: Installed = { ...known, pieces: [] };
      artifacts.push(left);
      for (const old of known.pieces) steps.push(leave(left, old, wanted));
    } else if (next !== undefined) {
      const renewed: Installed = { ...headOf(next), pieces: [] };
      artifacts.push(renewed);
      steps.push(...renew(renewed, known, { next, wanted }));
    } else if (wanted.keep(known)) {
      const kept: Installed = { ...known, pieces: [] };
      artifacts.push(kept);
      for (const old of known.pieces) {
        // What was begun is brought to its end, a removal too.
        const isLeaving = old.leaving === true;
        steps.push(isLeaving ? leave(kept, old, wanted) : { artifact: kept, next: old.piece, stays: true, old });
      }
    } else artifacts.push(known);
  }
  const known = keysOf(ledger.artifacts);
  for (const next of wanted.add) {
    if (known.has(artifactKey(next))) continue;
    const artifact: Installed = { ...headOf(next), pieces: [] };
    artifacts.push(artifact);
    for (const piece of next.pieces) steps.push({ artifact, next: piece, stays: true, old: null });
  }
  return { steps, artifacts };
}

function keysOf(artifacts: readonly Omit<Artifact, "pieces">[]): Set<string> {
  return new Set(artifacts.map(artifactKey));
}

function headOf({ kind, name, scope, dialect, base }: Artifact): Omit<Artifact, "pieces"> {
  return { kind, name, scope, dialect, base };
}

/** Whether what was taken over goes for good: only when forced, since it was not written from here. */
export function discards({ taken }: Pick<InstalledPiece, "taken">, { force }: Wanted): boolean {
  return taken === true && force;
}

function leave(artifact: Installed, old: InstalledPiece, wanted: Wanted): Step {
  return { artifact, next: discards(old, wanted) ? null : old.instead ?? null, stays: false, old };
}

function renew(
  artifact: Installed,
  known: Installed,
  { next, wanted }: { next: Artifact; wanted: Wanted },
): Step[] {
  const keys = next.pieces.map(pieceKey);
  const gone = known.pieces.filter(({ piece }) => !keys.includes(pieceKey(piece)));
  const wantedPieces = next.pieces.map((piece): Step => {
    const old = known.pieces.find((one) => pieceKey(one.piece) === pieceKey(piece)) ?? null;
    return { artifact, next: piece, stays: true, old };
  });
  return [...gone.map((old) => leave(artifact, old, wanted)), ...wantedPieces];
}

/** What is asked of them. */
export interface KnownOthers {
  /** Whether an item of a list, in canonical form, is known to be that of another artifact than the step's. */
  isOther(step: Step, path: string, item: string): boolean;
  /** The hooks file of which a line that stays runs the script that a step takes away; null when there is none. */
  called(step: Step): string | null;
}

/** Reads the ledger. `drafts`: the files that are worked on, as they will be. */
export function knownOthers(ledger: Ledger, drafts: ReadonlyMap<string, Draft>): KnownOthers {
  return { isOther: itemsOfOthers(ledger), called: scriptsCalled(ledger, drafts) };
}

function itemsOfOthers({ artifacts }: Ledger): KnownOthers["isOther"] {
  const owners = new Map<string, Set<string>>();
  const placed = (path: string, item: string) => `${path} ${item}`;
  for (const artifact of artifacts) {
    for (const { piece } of artifact.pieces) {
      if (piece.kind !== "item") continue;
      const place = placed(piece.path, canonical(piece.value));
      owners.set(place, (owners.get(place) ?? new Set()).add(artifactKey(artifact)));
    }
  }
  return ({ artifact }, path, item) => {
    const found = owners.get(placed(path, item));
    return found !== undefined && (found.size > 1 || !found.has(artifactKey(artifact)));
  };
}

/** Asked only when nothing of the hooks files changes any more, so each is read once. */
function scriptsCalled({ artifacts }: Ledger, drafts: ReadonlyMap<string, Draft>): KnownOthers["called"] {
  const byKey = new Map(artifacts.map((one) => [artifactKey(one), one]));
  const scripts = new Map<string, ReadonlySet<string>>();
  const scriptsOf = (hooksFile: string, base: string) => {
    const key = JSON.stringify([hooksFile, base]);
    let found = scripts.get(key);
    if (found === undefined) {
      const draft = drafts.get(hooksFile);
      const text = draft === undefined ? lookAt(hooksFile) : liveText(draft)?.text ?? null;
      found = new Set(text === null ? [] : scriptsIn(text, { hooksFile, base }));
      scripts.set(key, found);
    }
    return found;
  };
  return ({ artifact, next, old }) => {
    if (artifact.kind !== "hook" || next !== null || old?.piece.kind !== "file") return null;
    const script = old.piece.path;
    const pieces = byKey.get(artifactKey(artifact))?.pieces ?? [];
    const hooksFiles = new Set(pieces.flatMap(({ piece }) => piece.kind === "item" ? [piece.path] : []));
    return [...hooksFiles].find((hooksFile) => scriptsOf(hooksFile, artifact.base).has(script)) ?? null;
  };
}
