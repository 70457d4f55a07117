/** The operations of a plan, one for each resource to add or remove, and the index of who owns what. */
import { type Artifact, artifactKey, type Resource, resourceKey } from "../resources/artifact.ts";
import type { Installed, InstalledResource, Ledger } from "./ledger.ts";
import { lookAt } from "./disk.ts";
import { type Draft, liveText } from "./draft.ts";
import { scriptsIn } from "../resources/hook_entry.ts";
import { canonical } from "../resources/json_tree.ts";

/** The state that a command asks for; everything else that is installed stays. */
export interface Wanted {
  /** Installed, or upgraded to a new version. */
  add?: readonly Artifact[];
  /** Removed. */
  remove?: readonly Omit<Artifact, "resources">[];
  /** Restored: returns whether an installed artifact is. */
  keep?(installed: Installed): boolean;
  /** Overwrites what is foreign or was changed by hand. */
  force?: boolean;
  /** Adopts what is there and matches. */
  adopt?: boolean;
}

export interface Operation {
  /** Where the outcome is recorded. */
  artifact: Installed;
  /** As it should be, or as it was where it is removed. */
  resource: Resource;
  /** It is added; otherwise it is removed. */
  puts: boolean;
  /** Whether it is ours afterwards; otherwise it is given back, or removed. */
  stays: boolean;
  /** As it was; null: it is new. */
  old: InstalledResource | null;
}

/** Returns the operations, and the artifacts as they will be once their resources are recorded. */
export function operationsOf(ledger: Ledger, wanted: Wanted): { operations: Operation[]; artifacts: Installed[] } {
  const { add = [], remove = [] } = wanted;
  const operations: Operation[] = [];
  const artifacts: Installed[] = [];
  const [added, removed] = [new Map(add.map((one) => [artifactKey(one), one])), keysOf(remove)];
  for (const known of ledger.artifacts) {
    const next = added.get(artifactKey(known));
    if (removed.has(artifactKey(known))) {
      const left: Installed = { ...known, resources: [] };
      artifacts.push(left);
      for (const old of known.resources) operations.push(removal(left, old, wanted));
    } else if (next !== undefined) {
      const upgraded: Installed = { ...headOf(next), resources: [] };
      artifacts.push(upgraded);
      operations.push(...upgrade(upgraded, known, { next, wanted }));
    } else if (wanted.keep?.(known)) {
      const kept: Installed = { ...known, resources: [] };
      artifacts.push(kept);
      // An unfinished change is finished, even a removal.
      operations.push(
        ...known.resources.map((old) =>
          old.removing === true ? removal(kept, old, wanted) : put(kept, old.resource, old)
        ),
      );
    } else artifacts.push(known);
  }
  const known = keysOf(ledger.artifacts);
  for (const next of add) {
    if (known.has(artifactKey(next))) continue;
    const artifact: Installed = { ...headOf(next), resources: [] };
    artifacts.push(artifact);
    for (const resource of next.resources) operations.push(put(artifact, resource, null));
  }
  return { operations, artifacts };
}

function keysOf(artifacts: readonly Omit<Artifact, "resources">[]): Set<string> {
  return new Set(artifacts.map(artifactKey));
}

function headOf({ kind, name, scope, dialect, base }: Artifact): Omit<Artifact, "resources"> {
  return { kind, name, scope, dialect, base };
}

/** Returns whether an adopted artifact is deleted: only when forced, since it was not written from here. */
export function discards({ adopted }: Pick<InstalledResource, "adopted">, { force }: Wanted): boolean {
  return adopted === true && force === true;
}

function put(artifact: Installed, resource: Resource, old: InstalledResource | null): Operation {
  return { artifact, resource, puts: true, stays: true, old };
}

function removal(artifact: Installed, old: InstalledResource, wanted: Wanted): Operation {
  const backup = discards(old, wanted) ? undefined : old.backup;
  return { artifact, resource: backup ?? old.resource, puts: backup !== undefined, stays: false, old };
}

function upgrade(
  artifact: Installed,
  known: Installed,
  { next, wanted }: { next: Artifact; wanted: Wanted },
): Operation[] {
  const keys = next.resources.map(resourceKey);
  const gone = known.resources.filter(({ resource }) => !keys.includes(resourceKey(resource)));
  const wantedResources = next.resources.map((resource) => {
    const old = known.resources.find((one) => resourceKey(one.resource) === resourceKey(resource)) ?? null;
    return put(artifact, resource, old);
  });
  return [...gone.map((old) => removal(artifact, old, wanted)), ...wantedResources];
}

/** Finds the owner of an entry or a script. */
export interface OwnershipIndex {
  /** Whether an item of a list, in canonical form, is known to be that of another artifact than the operation's. */
  isOther(operation: Operation, path: string, item: string): boolean;
  /** The hooks file with a remaining line that runs the script an operation removes; null when there is none. */
  called(operation: Operation): string | null;
}

/** Reads the ledger. `drafts`: the files being changed, as they will be. */
export function ownershipIndex(ledger: Ledger, drafts: ReadonlyMap<string, Draft>): OwnershipIndex {
  return { isOther: itemsOfOthers(ledger), called: scriptsCalled(ledger, drafts) };
}

function itemsOfOthers({ artifacts }: Ledger): OwnershipIndex["isOther"] {
  const owners = new Map<string, Set<string>>();
  const placed = (path: string, item: string) => `${path} ${item}`;
  for (const artifact of artifacts) {
    for (const { resource } of artifact.resources) {
      if (resource.kind !== "item") continue;
      const place = placed(resource.path, canonical(resource.value));
      owners.set(place, (owners.get(place) ?? new Set()).add(artifactKey(artifact)));
    }
  }
  return ({ artifact }, path, item) => {
    const found = owners.get(placed(path, item));
    return found !== undefined && (found.size > 1 || !found.has(artifactKey(artifact)));
  };
}

/** Asked only when the hooks files no longer change, so each is read once. */
function scriptsCalled({ artifacts }: Ledger, drafts: ReadonlyMap<string, Draft>): OwnershipIndex["called"] {
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
  return ({ artifact, resource: { kind, path: script }, puts }) => {
    if (artifact.kind !== "hook" || puts || kind !== "file") return null;
    const resources = byKey.get(artifactKey(artifact))?.resources ?? [];
    const hooksFiles = new Set(resources.flatMap(({ resource }) => resource.kind === "item" ? [resource.path] : []));
    return [...hooksFiles].find((hooksFile) => scriptsOf(hooksFile, artifact.base).has(script)) ?? null;
  };
}
