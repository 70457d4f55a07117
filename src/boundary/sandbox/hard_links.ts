/** Other names of protected files: a hard link or a bind mount is the same bytes under a path that no rule names. */
import { lstatSync, mountPoints } from "../../platform/files_sync.ts";
import { isWithin } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { lastingIdentityOf } from "../policy/inode_index.ts";
import { type Listing, Listings, within } from "../policy/listing.ts";

/** The files that are covered already: real paths, and protected files that none of them names. */
export interface CoveredFiles {
  files: readonly string[];
  directories?: readonly string[];
  /** Directories without protected files, such as git's: a file there is looked at again when its directory changes. */
  stores?: readonly string[];
  nameless?: readonly string[];
  /** Some of them cannot be looked at: a file of the own places that has a name which is found nowhere may be one. */
  blind?: boolean;
}

/** Where to look, real paths. `system` is looked through only for a file that has a name more than were found elsewhere. */
export interface SearchedPlaces {
  own: readonly string[];
  system?: readonly string[];
}

/** A file as it was found at a path: its number as `find` prints it, too. */
interface FoundFile {
  path: string;
  file: string;
  lasting: string;
  links: number;
}

function namesIn({ directory, entries }: Listing): string[] {
  return (entries ?? []).filter(({ isFile }) => isFile).map(({ name }) => within(directory, name));
}

function filesAt(paths: Iterable<string>): FoundFile[] {
  return [...paths].flatMap((path) => {
    const status = quietly(() => lstatSync(path));
    if (status?.kind !== "file") return [];
    const file = `${status.device}:${status.inode}`;
    return [{ path, file, lasting: lastingIdentityOf(status), links: status.links }];
  });
}

/** Searches for other names, again and again: in a directory that has not changed its names belong to the same files. */
export class HardLinkSearch {
  readonly #listings = new Listings();
  readonly #files = new WeakMap<Listing, readonly FoundFile[]>();

  /**
   * Returns the paths that are other names of covered files. Looks everywhere only where some covered file has more names
   * than are covered, is gone from its path, or cannot be looked at; costs one `lstat` for each covered file, and then one for each directory of
   * the places. A bind mount is no name more, so what is mounted below them is always looked into. Links are not followed.
   */
  find(
    { files, directories = [], stores = [], nameless = [], blind = false }: CoveredFiles,
    { own, system = [] }: SearchedPlaces,
  ): string[] {
    const gone = new Set(nameless);
    /** How many names of a file are not covered yet. */
    const missing = new Map<string, number>();
    const stored = stores.flatMap((directory) => [...this.#below(directory)].flatMap((one) => this.#filesIn(one)));
    const inside = directories.flatMap((directory) => [...this.#below(directory)].flatMap(namesIn));
    const present = filesAt(new Set([...files, ...inside]));
    for (const { file, links } of new Map([...stored, ...present].map((one) => [one.path, one])).values()) {
      missing.set(file, (missing.get(file) ?? links) - 1);
    }
    if (missing.size + gone.size === 0 && !blind) return [];
    const covered = new Set([...files, ...directories, ...stores]);
    const found = new Set<string>();
    /** Names of files that may be one which cannot be looked at. */
    const suspects = new Map<string, { links: number; paths: Set<string> }>();
    const check = ({ path, file, lasting, links }: FoundFile) => {
      if (covered.has(path) || found.has(path)) return;
      if (missing.has(file) || gone.has(lasting)) {
        found.add(path);
        missing.set(file, (missing.get(file) ?? 1) - 1);
      } else if (blind && links > 1 && own.some((place) => isWithin(place, path))) {
        if (!suspects.has(file)) suspects.set(file, { links, paths: new Set() });
        suspects.get(file)?.paths.add(path);
      }
    };
    const look = (place: string) => {
      if ([...directories, ...stores].some((directory) => isWithin(directory, place))) return;
      // What is mounted may be one file.
      filesAt([place]).forEach(check);
      for (const listing of this.#below(place, covered)) this.#filesIn(listing).forEach(check);
    };
    const unnamed = () => [...missing].filter(([, names]) => names > 0);
    if (blind || gone.size > 0 || unnamed().length > 0) own.forEach(look);
    const places = [...own, ...system];
    mountPoints().filter((point) => places.some((place) => point !== place && isWithin(place, point))).forEach(look);
    // What is gone from its path was moved by its owner, who does not own the system: there only names of what is there count.
    const devices = new Set(unnamed().map(([file]) => file.split(":")[0]));
    for (const place of system) {
      if (devices.has(String(quietly(() => lstatSync(place))?.device))) look(place);
    }
    const others = [...suspects.values()].flatMap(({ links, paths }) => paths.size < links ? [...paths] : []);
    return [...found, ...others];
  }

  /** Yields a directory and those below it that are not covered. */
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
    let found = this.#files.get(listing);
    if (found === undefined) {
      this.#files.set(listing, found = filesAt(namesIn(listing)));
    }
    return found;
  }
}
