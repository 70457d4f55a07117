/**
 * The leak scanner: finds content of protected files in texts that are about to leave, whichever way it came into them.
 * It stands below the labels. Source: specification of the boundary, "Letting out".
 */
import type { FileStatus } from "../../platform/files.ts";
import { lstatSync } from "../../platform/files_sync.ts";
import { isWithin, relativeTo } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { isUnchanged } from "../policy/inode_index.ts";
import type { RecordData } from "../policy/project_record_files.ts";
import { OtherProject } from "../policy/other_projects.ts";
import type { ProtectedSet } from "../policy/protected.ts";
import { describeRule } from "../policy/protection_rule.ts";
import { after } from "../../platform/sleep.ts";
import { READ_LIMIT, readRegularFile } from "../reader.ts";
import { type Fragment, FragmentFinder, type ScanHit } from "./fragment_finder.ts";

/** Most fragments that are looked up; a text with more shares too much to be let go. */
const FRAGMENT_LIMIT = 500;
/** It reads for so long at once, in milliseconds: signals are heard in between. */
const SLICE_MS = 50;

/**
 * Says which of some fragments (normalized) may leave: those that the user allowed, and those that stood in open files
 * when the project was first seen. Never anything that a session can write.
 */
export type AllowedFragments = (fragments: readonly Fragment[]) => Promise<ReadonlySet<string>>;

/** How {@link LeakScanner.check} looks. */
interface CheckOptions {
  once?: boolean;
  again?: boolean;
  signal?: AbortSignal | undefined;
}

type ScannedFiles = Pick<ProtectedSet, "rule"> & { files(): Iterable<string> };

/** Longest walk of other projects before a check, in milliseconds. */
const OTHERS_MS = 200;

/** Returns what finds content that other projects than those of `roots` protect, all that are known by then. */
export function scannerOfOthers(
  projects: () => Promise<readonly RecordData[]>,
  roots: readonly string[],
): Pick<LeakScanner, "check"> {
  let known: readonly RecordData[] = [];
  let others: readonly OtherProject[] = [];
  const files = () => {
    const until = performance.now() + OTHERS_MS;
    return new Set(others.flatMap((other) => other.files(until - performance.now())));
  };
  const scanner = new LeakScanner({ files, rule: () => null }, { root: "/" });
  const check: LeakScanner["check"] = async (texts, options) => {
    const now = await projects();
    if (now !== known) {
      known = now;
      others = now.filter(({ root, markers, derived, met }) =>
        markers.length + derived.length + met.length > 0 &&
        !roots.some((own) => isWithin(own, root) || isWithin(root, own))
      ).map((one) => new OtherProject(one));
    }
    return others.length > 0 ? await scanner.check(texts, { once: true, ...options }) : null;
  };
  return { check };
}

/**
 * Looks for the content of the protected files of a set. Nothing is read before the first check. Every check looks at size
 * and times of the protected files and reads what changed (10,000 files: about 50 ms). What a file held before stays known:
 * the session may have it already.
 */
export class LeakScanner {
  /** Asked about fragments from now on. */
  allowed: AllowedFragments;
  readonly #protection: ScannedFiles;
  readonly #root: string;
  readonly #limit: number | undefined;
  #finder: FragmentFinder;
  /** Path → what it was when it was read; null for what could not be looked at. */
  #read = new Map<string, FileStatus | null>();
  #unread = new Set<string>();
  #reading: Promise<void> = Promise.resolve();
  /** Texts without a hit. The session holds them anyway. */
  #passed = new Set<string>();
  readonly #harmless = new Set<string>();

  /** `root` is the project, for messages; `limit` is for the bytes kept of the files. */
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

  /** Protected files that could not be read, or were too much: their content is not found. Known after a check. */
  get notScanned(): readonly string[] {
    return [...new Set([...this.#unread, ...this.#finder.content.leftOut])];
  }

  /**
   * Returns the first fragment of a protected file in any of the texts, null when there is none. A text that passed is
   * kept and not looked at again; `once` says that nobody will ask for it again, `again` that the check before has looked
   * at the files just now. Throws the signal's reason.
   */
  async check(
    texts: Iterable<string>,
    { once = false, again = false, signal }: CheckOptions = {},
  ): Promise<ScanHit | null> {
    if (!again) await this.#upToDate(signal);
    // What another check reads meanwhile was not asked here: a text that passes has passed what was known.
    const passed = this.#passed;
    for (const text of texts) {
      if (passed.has(text)) continue;
      const hit = await this.#harmful(this.#finder.fragments(text, FRAGMENT_LIMIT));
      if (hit !== null) return hit;
      if (!once) passed.add(text);
    }
    return null;
  }

  /** One after another: reading pauses, and a second check must not take what is read for all of it. */
  async #upToDate(signal?: AbortSignal): Promise<void> {
    const reading = this.#reading.then(() => this.#readChanged(signal));
    this.#reading = reading.catch(() => {});
    await reading;
  }

  /** Returns a hit for messages, without the fragment: `line 2 of .env (.agentclisecret:1 no-cloud: .env), base64`. */
  describe(hit: ScanHit): string {
    const lines = hit.firstLine === hit.lastLine ? `line ${hit.firstLine}` : `lines ${hit.firstLine}-${hit.lastLine}`;
    const rule = this.#protection.rule(hit.path);
    const named = rule === null ? "" : ` (${describeRule(rule, this.#root)})`;
    return `${lines} of ${relativeTo(this.#root, hit.path)}${named}${hit.form === "plain" ? "" : `, ${hit.form}`}`;
  }

  async #readChanged(signal: AbortSignal | undefined): Promise<void> {
    const present = new Map<string, FileStatus | null>();
    const changed: string[] = [];
    for (const path of this.#protection.files()) {
      // What a copy holds of a file that has not changed since is known from that file; the rest of it is nobody's secret.
      const { copyOf = null, copiedAt = 0 } = this.#protection.rule(path) ?? {};
      const source = copyOf === null ? null : quietly(() => lstatSync(copyOf));
      if (source !== null && Math.max(source.modified, source.changed) <= copiedAt) continue;
      const status = quietly(() => lstatSync(path));
      present.set(path, status);
      const before = this.#read.get(path);
      const isKnown = before === null ? status === null : before !== undefined && isUnchanged(before, status);
      if (!isKnown) changed.push(path);
    }
    if (changed.length === 0) return void (this.#read = present);
    const isFirst = this.#read.size === 0;
    this.#passed = new Set();
    await this.#add(changed, { present, signal });
    if (this.#finder.content.leftOut.length > 0 && !isFirst) {
      // Former content must not take the room of what is there now.
      this.#finder = new FragmentFinder(this.#limit);
      await this.#add([...present.keys()], { present, signal });
    }
    // Broken off, it is read again: only what was read to its end is known.
    this.#read = present;
  }

  /** Small files first: a marker that came with a repository could name more than there is room for, and secrets are small. */
  async #add(
    paths: readonly string[],
    { present, signal }: { present: ReadonlyMap<string, FileStatus | null>; signal: AbortSignal | undefined },
  ): Promise<void> {
    const sizeOf = (path: string) => Math.min(present.get(path)?.size ?? 0, READ_LIMIT);
    let pauseAt = performance.now() + SLICE_MS;
    for (const path of paths.toSorted((one, other) => sizeOf(one) - sizeOf(other))) {
      if (!this.#finder.content.hasRoomFor(sizeOf(path))) {
        this.#finder.content.leftOut.push(path);
        continue;
      }
      const read = readRegularFile(path, { display: path });
      if ("refused" in read || read.more) this.#unread.add(path);
      else this.#unread.delete(path);
      if (!("refused" in read)) this.#finder.add(path, read.bytes);
      if (performance.now() < pauseAt) continue;
      await new Promise<void>((resolve) => void after(0, resolve));
      signal?.throwIfAborted();
      pauseAt = performance.now() + SLICE_MS;
    }
  }

  async #harmful(fragments: readonly Fragment[]): Promise<ScanHit | null> {
    const unknown = fragments.filter(({ normalized }) => !this.#harmless.has(normalized));
    if (unknown.length > 0 && fragments.length < FRAGMENT_LIMIT) {
      for (const normalized of await this.allowed(unknown)) this.#harmless.add(normalized);
    }
    return unknown.find(({ normalized }) => !this.#harmless.has(normalized))?.hit ?? null;
  }
}
