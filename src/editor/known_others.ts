/** What the ledger knows of others than the artifact that is worked on, worked out once for all of them. */
import { artifactKey } from "./artifact.ts";
import { lookAt } from "./disk.ts";
import { type Draft, liveText } from "./draft.ts";
import { scriptsIn } from "./inspect_hooks.ts";
import { canonical } from "./json_tree.ts";
import type { Ledger } from "./ledger.ts";
import type { Step } from "./steps.ts";

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
