/**
 * The leak scanner: finds content of protected files in texts that are about to leave, however it got there. It is the
 * second line of defense behind labels. Source: specification of the boundary, "Letting out".
 */
import { type FileStatus, lstatSync } from "../../platform/files.ts";
import { relativeTo } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { isUnchanged } from "../policy/identity.ts";
import type { ProtectedSet } from "../policy/protected.ts";
import { describeRule } from "../policy/protection_rule.ts";
import { pacer } from "../../platform/sleep.ts";
import { READ_LIMIT, readRegularFile } from "../reader.ts";
import type { ProjectRecord } from "../policy/project_record.ts";
import { type Fragment, FragmentFinder, type ScanHit } from "./fragment_finder.ts";
import { SHORTEST_FRAGMENT } from "./fragment_index.ts";
import { keyOf } from "./normalize.ts";
import { ProtectedContent } from "./protected_content.ts";

/** Fragments of a text that are checked against the allowed ones; with more new ones, it shares too much to leave. */
const FRAGMENT_LIMIT = 500;

/**
 * Returns which of some fragments (normalized) may leave: those that the user allowed, and those that were in open
 * files when the project was first seen. Nothing that a session can write has a say.
 */
export type AllowedFragments = (fragments: readonly Fragment[]) => Promise<ReadonlySet<string>>;

type ScannedFiles = Pick<ProtectedSet, "named" | "version"> & { files(): Iterable<string> };

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
    this.#finder = new FragmentFinder(limit);
  }

  /** Protected files that could not be read, or were too large: their content is not found. Set by a check. */
  get notScanned(): readonly string[] {
    return [...new Set([...this.#unread, ...this.#finder.leftOut])];
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
      if (this.#finder.leftOut.length > 0 && !isFirst) {
        // Former content must not displace current content.
        this.#finder = new FragmentFinder(this.#finder.limit);
        await this.#add([...present.keys()], { present, signal });
      }
      this.#judged.version = NaN;
    }
    // If reading is interrupted, this is not reached and all of it is read again.
    this.#read = present;
    this.#lookedAt = started;
  }

  /**
   * Reads the oldest files first, up to three quarters of the room: a command can make any number of new ones. Then
   * small files first: a marker of a repository can cover more than fits, and secrets are small.
   */
  async #add(
    paths: readonly string[],
    { present, signal }: { present: ReadonlyMap<string, FileStatus | null>; signal: AbortSignal | undefined },
  ): Promise<void> {
    const sizeOf = (path: string) => Math.min(present.get(path)?.size ?? 0, READ_LIMIT);
    const pause = pacer(signal);
    const bornOf = (path: string) => present.get(path)?.born || Infinity;
    let room = this.#finder.limit * 0.75;
    const oldest = paths.filter((path) => bornOf(path) < Infinity).sort((one, other) => bornOf(one) - bornOf(other));
    const first = oldest.filter((path) => {
      const fits = sizeOf(path) <= room;
      if (fits) room -= sizeOf(path);
      return fits;
    });
    for (const path of new Set([...first, ...paths.toSorted((one, other) => sizeOf(one) - sizeOf(other))])) {
      if (!this.#finder.hasRoomFor(sizeOf(path))) {
        this.#finder.leftOut.push(path);
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

/** Returns the stretches that the home remembers of an allowed fragment; another may leave if all its stretches may. */
function unitsOf(normalized: string): string[] {
  if (normalized.length <= SHORTEST_FRAGMENT) return [normalized];
  const count = normalized.length - SHORTEST_FRAGMENT + 1;
  return Array.from({ length: count }, (_, at) => normalized.slice(at, at + SHORTEST_FRAGMENT));
}

/** Returns what has to be remembered to let a text leave: its stretches and its whole values. */
export function unitsOfText(bytes: Uint8Array): string[] {
  const content = new ProtectedContent();
  content.add("", bytes);
  // Several forms are separated by a space, which no normalized text contains.
  const forms = keyOf(content.bytes).split(" ").filter((form) => form !== "");
  return [...new Set([...content.wholes.keys(), ...forms.flatMap(unitsOf)])];
}

/** Returns those of the fragments that the user allowed. */
export async function allowedByRecord(
  record: Pick<ProjectRecord, "allows">,
  fragments: readonly Fragment[],
): Promise<Set<string>> {
  const allowed = new Set<string>();
  for (const { normalized } of fragments) if (await record.allows(unitsOf(normalized))) allowed.add(normalized);
  return allowed;
}
