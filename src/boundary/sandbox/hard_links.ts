/** Other names of protected files: a hard link or a bind mount is the same bytes under a path that no rule names. */
import { AgentcliError } from "../../errors.ts";
import { entriesSync, lstatSync, mountPoints } from "../../platform/files_sync.ts";
import { isWithin } from "../../platform/path.ts";
import { runForOutput } from "../../platform/process.ts";
import { outermost, quietly } from "../../platform/real_path.ts";
import { identityOf, lastingIdentityOf, type NamelessFile } from "../policy/inode_index.ts";
import { NO_UTF8 } from "../policy/listing.ts";
import { trustedProgram } from "./backend.ts";

/** Times the length of a search in which its answer is used again. */
const REUSED_FOR = 20;
/** Files whose names are counted each time. */
const MOST_COUNTED = 1_000;
/** Longest wait for `find`, in milliseconds. */
const FIND_LIMIT_MS = 60_000;
/** A path that every `find` which understands the question names. */
const ANSWERS = "/dev/null";

/** The files that are covered already: real paths, and protected files that none of them names. */
export interface CoveredFiles {
  files: readonly string[];
  directories: readonly string[];
  nameless: readonly NamelessFile[];
  /** Directories in which this runtime cannot name everything. */
  unjudged: readonly string[];
}

/** Where to look, real paths. `system` is looked through only for a file that has a name more than were found elsewhere. */
export interface SearchedPlaces {
  own: readonly string[];
  system: readonly string[];
}

/** Searches for other names, again and again, at a bounded share of the time. */
export class HardLinkSearch {
  readonly #now: () => number;
  #last = { question: "", until: 0, answer: [] as string[], files: "" };

  /** `now` in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * The paths that are other names of covered files. An answer to the same question is given again for twenty times as
   * long as the search took, as long as every path of it is still the file that it was: no command in a sandbox can make
   * such a name, and with ten thousand protected files every search costs a tenth of a second.
   */
  async find(covered: CoveredFiles, places: SearchedPlaces): Promise<string[]> {
    const mounts = mountPoints().filter((point) =>
      [...places.own, ...places.system].some((place) => point !== place && isWithin(place, point))
    );
    const question = JSON.stringify([covered, places, mounts, linksOf(covered.files)]);
    const start = this.#now();
    if (
      question === this.#last.question && start < this.#last.until &&
      String(identitiesOf(this.#last.answer)) === this.#last.files
    ) {
      return this.#last.answer;
    }
    const answer = await otherNames(covered, { ...places, mounts });
    const end = this.#now();
    this.#last = { question, until: end + REUSED_FOR * (end - start), answer, files: String(identitiesOf(answer)) };
    return answer;
  }
}

/** How many names files have: the user may have given one of them another. Nothing of very many, whose look takes long. */
function linksOf(paths: readonly string[]): number[] {
  return paths.length > MOST_COUNTED ? [] : paths.map((path) => quietly(() => lstatSync(path))?.links ?? 0);
}

/** Returns which files stand at paths; null for what is gone. */
export function identitiesOf(paths: readonly string[]): (string | null)[] {
  return paths.map((path) => {
    const found = quietly(() => lstatSync(path));
    return found === null ? null : lastingIdentityOf(found);
  });
}

/**
 * Looks everywhere only where some covered file has more names than are covered, or is gone from its path; costs one
 * `lstat` for each covered file, and then one for each file of the places. A bind mount is no name more, so what is
 * mounted below them is always looked into. Links are not followed.
 */
async function otherNames(
  { files, directories, nameless, unjudged }: CoveredFiles,
  { own, system, mounts }: SearchedPlaces & { mounts: readonly string[] },
): Promise<string[]> {
  /** By identity, how many names are not covered yet. */
  const missing = new Map<string, number>();
  const blind = new Set(unjudged);
  const inside = directories.flatMap((directory) => [...filesBelow(directory, { blind: () => blind.add(directory) })]);
  for (const path of new Set([...files, ...inside])) {
    const status = quietly(() => lstatSync(path));
    if (status?.kind !== "file") continue;
    const key = identityOf(status);
    missing.set(key, (missing.get(key) ?? status.links) - 1);
  }
  for (const { identity, names } of nameless) {
    if (!missing.has(identity)) missing.set(identity, names);
  }
  for (const [identity, names] of await linkedBelow(outermost(blind))) missing.set(identity, names);
  if (missing.size === 0) return [];
  const covered = new Set([...files, ...directories]);
  const found = new Set<string>();
  const look = (place: string) => {
    if (directories.some((directory) => isWithin(directory, place))) return;
    for (const path of filesBelow(place, { covered })) {
      const status = covered.has(path) || found.has(path) ? null : quietly(() => lstatSync(path));
      if (status?.kind !== "file") continue;
      const key = identityOf(status);
      if (!missing.has(key) && !missing.has(lastingIdentityOf(status))) continue;
      found.add(path);
      missing.set(key, (missing.get(key) ?? 1) - 1);
    }
  };
  if ([...missing.values()].some((names) => names > 0)) own.forEach(look);
  mounts.forEach(look);
  // What is gone from its path was moved by its owner, who does not own the system: there only names of what is there count.
  const devices = new Set(
    [...missing].filter(([key, names]) => names > 0 && key.split(":").length === 2).map(([key]) => key.split(":")[0]),
  );
  for (const place of system) {
    if (devices.has(String(quietly(() => lstatSync(place))?.device))) look(place);
  }
  return [...found];
}

/**
 * The files below directories that have another name somewhere, whatever bytes their own names are, and how many: asked of
 * `find`, since this runtime has no words for them. Throws `policy_refused` where it gives no answer.
 */
async function linkedBelow(directories: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  if (directories.length === 0) return found;
  const find = await trustedProgram("find");
  const tests = ["(", "-type", "f", "-links", "+1", "-o", "-path", ANSWERS, ")", "-printf", "%D:%i %n\\n"];
  const options = { cwd: "/", env: { LC_ALL: "C" }, timeoutMs: FIND_LIMIT_MS, limit: Infinity };
  const answer = find === null
    ? null
    : await runForOutput({ argv: [find, ANSWERS, ...directories, "-xdev", ...tests], ...options });
  const lines = new TextDecoder().decode(answer?.bytes);
  if (answer?.ended !== "exit" || lines === "") {
    const problem = answer?.ended === "timeout" ? `took more than ${FIND_LIMIT_MS / 1000} seconds` : "is missing";
    throw new AgentcliError(
      "policy_refused",
      `other names of files below ${directories[0]} cannot be looked for: the program "find" ${problem}`,
      { hint: "rename what is not UTF-8 there, or install findutils" },
    );
  }
  for (const [, identity = "", links] of lines.matchAll(/^(\d+:\d+) (\d+)$/gm)) {
    found.set(identity, (found.get(identity) ?? Number(links)) - 1);
  }
  return found;
}

/**
 * Yields a place, which may be a file, and every file below it, links not followed and covered directories left out.
 * `blind` is told of an entry without a name.
 */
function* filesBelow(
  place: string,
  { covered, blind }: { covered?: ReadonlySet<string>; blind?: () => void },
): Generator<string> {
  yield place;
  const waiting = [place];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const directory = at;
    for (const { name, isFile, isDirectory } of quietly(() => entriesSync(directory)) ?? []) {
      if (name.includes(NO_UTF8)) blind?.();
      const path = `${at === "/" ? "" : at}/${name}`;
      if (isFile) yield path;
      else if (isDirectory && !covered?.has(path)) waiting.push(path);
    }
  }
}
