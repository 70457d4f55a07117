/** Finds other names of protected files: a hard link or bind mount has the same bytes under a path without a rule. */
import { type FileStatus, lstatSync, mountPoints } from "../../platform/files.ts";
import { isWithin } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { lastingIdentityOf } from "../policy/identity.ts";
import { type Listing, Listings, within } from "../policy/listing.ts";
import type { ProtectedPlaces } from "../policy/protected_tree.ts";

/** A file found at a path, of which a link is not followed. */
interface FoundFile {
  path: string;
  status: FileStatus;
}

function namesIn({ directory, entries }: Listing): string[] {
  return (entries ?? []).filter(({ isFile }) => isFile).map(({ name }) => within(directory, name));
}

function filesAt(paths: Iterable<string>): FoundFile[] {
  return [...paths].flatMap((path) => {
    const status = quietly(() => lstatSync(path));
    return status?.kind === "file" ? [{ path, status }] : [];
  });
}

/** Searches for other names. Reuses results for unchanged directories, whose names still belong to the same files. */
export class HardLinkSearch {
  readonly #listings = new Listings();
  readonly #files = new WeakMap<Listing, readonly FoundFile[]>();

  /**
   * Returns the paths that are other names of covered files. Searches everywhere only if some covered file has more
   * names than are covered, is gone from its path, or cannot be examined. Costs one `lstat` for each covered file, and
   * then one for each directory. A bind mount does not add to the number of names, so mounts are always searched.
   * Places are real paths; `system` is searched only for a file with more names than were found elsewhere.
   */
  find(
    { files = [], directories = [], nameless = [], blind = false }: Partial<ProtectedPlaces>,
    { own, system = [] }: { own: readonly string[]; system?: readonly string[] },
  ): string[] {
    /** Identity of a file → its device and how many of its names are not covered yet; unknown if it is gone. */
    const missing = new Map<string, { device: number | null; names: number }>();
    for (const identity of nameless) missing.set(identity, { device: null, names: Infinity });
    const inside = directories.flatMap((directory) => [...this.#below(directory)].flatMap(namesIn));
    for (const { status } of filesAt(new Set([...files, ...inside]))) {
      const identity = lastingIdentityOf(status);
      missing.set(identity, { device: status.device, names: (missing.get(identity)?.names ?? status.links) - 1 });
    }
    if (missing.size === 0 && !blind) return [];
    const covered = new Set([...files, ...directories]);
    const found = new Set<string>();
    const check = ({ path, status }: FoundFile) => {
      if (covered.has(path) || found.has(path)) return;
      const known = missing.get(lastingIdentityOf(status));
      const isSuspect = blind && status.links > 1 && own.some((place) => isWithin(place, path));
      if (known === undefined && !isSuspect) return;
      found.add(path);
      if (known !== undefined) known.names--;
    };
    const look = (place: string) => {
      if (directories.some((directory) => isWithin(directory, place))) return;
      // A mount can be a single file.
      filesAt([place]).forEach(check);
      for (const listing of this.#below(place, covered)) this.#filesIn(listing).forEach(check);
    };
    const unnamed = () => [...missing.values()].filter(({ names }) => names > 0);
    if (blind || unnamed().length > 0) own.forEach(look);
    const places = [...own, ...system];
    mountPoints().filter((point) => places.some((place) => point !== place && isWithin(place, point))).forEach(look);
    // A file that is gone was moved by its owner, who cannot write to the system: search there only for present files.
    const devices = new Set(unnamed().map(({ device }) => device));
    for (const place of system) {
      const status = quietly(() => lstatSync(place));
      if (status !== null && devices.has(status.device)) look(place);
    }
    return [...found];
  }

  /** Yields a directory and its subdirectories that are not covered. */
  *#below(place: string, covered?: ReadonlySet<string>): Generator<Listing> {
    const waiting = [place];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const listing = this.#listings.of(at);
      yield listing;
      for (const { name, isDirectory } of listing.entries ?? []) {
        const path = within(at, name);
        if (isDirectory && !covered?.has(path)) waiting.push(path);
      }
    }
  }

  #filesIn(listing: Listing): readonly FoundFile[] {
    const found = this.#files.get(listing) ?? filesAt(namesIn(listing));
    this.#files.set(listing, found);
    return found;
  }
}
