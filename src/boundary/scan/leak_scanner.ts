/**
 * The leak scanner: finds content of protected files in texts that are about to leave, however it got there. It is the
 * second line of defense behind labels. Source: specification of the boundary, "Letting out".
 */
import { type FileStatus, lstatSync } from "../../platform/files.ts";
import { isWithin, relativeTo } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { isUnchanged } from "../policy/inode_index.ts";
import type { RecordData } from "../policy/project_record_files.ts";
import type { ProtectedSet } from "../policy/protected.ts";
import { describeRule } from "../policy/protection_rule.ts";
import { pacer } from "../../platform/sleep.ts";
import { READ_LIMIT, readRegularFile } from "../reader.ts";
import { allowedByUnits } from "./allowed_fragments.ts";
import { type Fragment, FragmentFinder, type ScanHit } from "./fragment_finder.ts";

/** Fragments of a text that are checked against the allowed ones; a text with more new ones shares too much to leave. */
const FRAGMENT_LIMIT = 500;

/**
 * Returns which of some fragments (normalized) may leave: those that the user allowed, and those that were in open
 * files when the project was first seen. Nothing that a session can write has a say.
 */
export type AllowedFragments = (fragments: readonly Fragment[]) => Promise<ReadonlySet<string>>;

/** Judges whether texts hold protected content. */
export type Scans = Pick<LeakScanner, "check">;

/** `known` are paths that the home knows, the oldest first. */
type ScannedFiles = Pick<ProtectedSet, "named" | "version"> & {
  files(): Iterable<string>;
  readonly known?: Iterable<string>;
};

/**
 * Returns a scanner for the protected files of known projects outside of `roots`, as their records name them.
 * A fragment all of which the `own` one knows, too, is no hit.
 */
export function scannerOfOthers(
  projects: () => Promise<readonly RecordData[]>,
  roots: readonly string[],
  own: () => LeakScanner | null = () => null,
): Scans {
  let known: readonly RecordData[] = [];
  let files: readonly string[] = [];
  let version = 0;
  const allowed = allowedByUnits((unit) => own()?.holds(unit) ?? false);
  const named = {
    files: () => files,
    named: () => null,
    get known() {
      return files;
    },
    get version() {
      return version;
    },
  };
  const scanner = new LeakScanner(named, { root: "/", allowed });
  return {
    async check(texts, options) {
      const now = await projects();
      if (now === known) return await scanner.check(texts, options);
      known = now;
      version += 1;
      files = [...new Set(now.flatMap((project) => filesOf(project, roots)))];
      return await scanner.check(texts, { ...options, since: undefined });
    },
  };
}

/** Returns the recorded files of a project; of one around or inside the roots those outside of them. */
function filesOf({ root, met, derived }: RecordData, roots: readonly string[]): string[] {
  const isRelated = roots.some((at) => isWithin(at, root) || isWithin(root, at));
  const paths = [...met, ...derived].map(({ path }) => path);
  return isRelated ? paths.filter((path) => !roots.some((at) => isWithin(at, path))) : paths;
}

/** Returns a scanner for the content of all known projects and of this one, which need not be known. */
export function scannerOfAll(
  protection: ProtectedSet,
  { root, projects }: { root: string; projects: () => Promise<readonly RecordData[]> },
): Scans {
  return both(new LeakScanner(protection, { root }), scannerOfOthers(projects, [root]));
}

/** Returns what judges by one scanner, then by another. */
export function both(one: Scans | null, other: Scans): Scans {
  return {
    check: async (texts, options) => await one?.check(texts, options) ?? await other.check(texts, options),
  };
}

/**
 * Looks for the content of the protected files of a set. Reads nothing before the first check. Every check compares
 * size and times of the files and reads those that changed (10,000 files: about 50 ms). Former content stays known,
 * because the session may have it already.
 */
export class LeakScanner {
  /** Decides about fragments from now on. */
  allowed: AllowedFragments;
  readonly #protection: ScannedFiles;
  readonly #root: string;
  readonly #limit: number | undefined;
  #finder: FragmentFinder;
  /** Path → status when it was read; null if it could not be examined. */
  #read = new Map<string, FileStatus | null>();
  #unread = new Set<string>();
  #reading: Promise<void> = Promise.resolve();
  /** The start of the last look at the files, as `performance.now()` gives it. */
  #lookedAt = -Infinity;
  /**
   * By the rules of a version: texts without a hit (they cost no memory, because the session holds them anyway), and
   * fragments that may leave.
   */
  #judged = { version: NaN, passed: new Set<string>(), harmless: new Set<string>() };

  /** `root` is the project, for messages; `limit` is the most bytes of content to keep. */
  constructor(
    protection: ScannedFiles,
    { root, allowed, limit }: { root: string; allowed?: AllowedFragments | undefined; limit?: number | undefined },
  ) {
    this.#protection = protection;
    this.#root = root;
    this.allowed = allowed ?? (() => Promise.resolve(new Set()));
    this.#limit = limit;
    this.#finder = new FragmentFinder(limit);
  }

  /** Protected files that could not be read, or were too large: their content is not found. Set by a check. */
  get notScanned(): readonly string[] {
    return [...new Set([...this.#unread, ...this.#finder.content.leftOut])];
  }

  /**
   * Returns the first fragment of a protected file in any of the texts, or null. Texts that passed are remembered and
   * not scanned again, except with `once`. The files are looked at before, unless that was done since `since` (as
   * `performance.now()` gives it). Throws the signal's reason.
   */
  async check(
    texts: readonly string[],
    { once = false, since = Infinity, signal }: {
      once?: boolean;
      since?: number | undefined;
      signal?: AbortSignal | undefined;
    } = {},
  ): Promise<ScanHit | null> {
    if (this.#lookedAt < since) await this.#upToDate(signal);
    // A new rule can cover what passed before it.
    const { version } = this.#protection;
    if (this.#judged.version !== version) this.#judged = { version, passed: new Set(), harmless: new Set() };
    // A concurrent check can read more files; a text that passes here has passed only what was known so far.
    const { passed, harmless } = this.#judged;
    for (const text of texts) {
      if (passed.has(text)) continue;
      const hit = await this.#harmful(text, harmless);
      if (hit !== null) return hit;
      if (!once) passed.add(text);
    }
    return null;
  }

  /** Returns whether a normalized fragment is in the files, as of the last check. */
  holds(normalized: string): boolean {
    return this.#finder.holds(normalized);
  }

  /** Reads changed files, one check after another: reading has pauses, and a second check must not see half of it. */
  async #upToDate(signal?: AbortSignal): Promise<void> {
    const reading = this.#reading.then(() => this.#readChanged(signal));
    this.#reading = reading.catch(() => {});
    await reading;
  }

  /** Describes a hit without its fragment: `line 2 of .env (.agentclisecret:1 no-cloud: .env), base64`. */
  describe(hit: ScanHit): string {
    const lines = hit.firstLine === hit.lastLine ? `line ${hit.firstLine}` : `lines ${hit.firstLine}-${hit.lastLine}`;
    const rule = this.#protection.named(hit.path);
    const named = rule === null ? "" : ` (${describeRule(rule, this.#root)})`;
    return `${lines} of ${relativeTo(this.#root, hit.path)}${named}${hit.form === "plain" ? "" : `, ${hit.form}`}`;
  }

  async #readChanged(signal: AbortSignal | undefined): Promise<void> {
    const started = performance.now();
    const present = new Map<string, FileStatus | null>();
    const changed: string[] = [];
    for (const path of this.#protection.files()) {
      const status = quietly(() => lstatSync(path));
      present.set(path, status);
      const before = this.#read.get(path);
      const isKnown = before === null ? status === null : before !== undefined && isUnchanged(before, status);
      if (!isKnown) changed.push(path);
    }
    if (changed.length > 0) {
      const isFirst = this.#read.size === 0;
      await this.#add(changed, { present, signal });
      if (this.#finder.content.leftOut.length > 0 && !isFirst) {
        // Former content must not displace current content.
        this.#finder = new FragmentFinder(this.#limit);
        await this.#add([...present.keys()], { present, signal });
      }
      this.#judged.version = NaN;
    }
    // If reading is interrupted, this is not reached and all of it is read again.
    this.#read = present;
    this.#lookedAt = started;
  }

  /**
   * Reads those first that the home knows longest, up to three quarters of the room: a command can make any number of
   * others. Then small files first: a marker of a repository can cover more than fits, and secrets are small.
   */
  async #add(
    paths: readonly string[],
    { present, signal }: { present: ReadonlyMap<string, FileStatus | null>; signal: AbortSignal | undefined },
  ): Promise<void> {
    const sizeOf = (path: string) => Math.min(present.get(path)?.size ?? 0, READ_LIMIT);
    const pause = pacer(signal);
    const wanted = new Set(paths);
    let room = this.#finder.content.limit * 0.75;
    const oldest = [...new Set(this.#protection.known ?? [])].filter((path) => {
      const fits = wanted.has(path) && sizeOf(path) <= room;
      if (fits) room -= sizeOf(path);
      return fits;
    });
    for (const path of new Set([...oldest, ...paths.toSorted((one, other) => sizeOf(one) - sizeOf(other))])) {
      if (!this.#finder.content.hasRoomFor(sizeOf(path))) {
        this.#finder.content.leftOut.push(path);
        continue;
      }
      const read = readRegularFile(path, { display: path });
      if ("refused" in read || read.more) this.#unread.add(path);
      else this.#unread.delete(path);
      if (!("refused" in read)) this.#finder.add(path, read.bytes);
      await pause();
    }
  }

  async #harmful(text: string, harmless: Set<string>): Promise<ScanHit | null> {
    const isHarmless = (normalized: string) => harmless.has(normalized);
    const unknown = this.#finder.fragments(text, FRAGMENT_LIMIT, isHarmless)
      .filter(({ normalized }) => !isHarmless(normalized));
    if (unknown.length > 0 && unknown.length < FRAGMENT_LIMIT) {
      for (const normalized of await this.allowed(unknown)) harmless.add(normalized);
    }
    return unknown.find(({ normalized }) => !isHarmless(normalized))?.hit ?? null;
  }
}
