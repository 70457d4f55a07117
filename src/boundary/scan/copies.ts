/**
 * Finds files with protected content, in their bytes or their name, that a command of a protected session left behind.
 * No label follows a process, so the files are scanned. Source: specification of the boundary, second design §4.
 */
import { type FileStatus, lstatSync, statSync } from "../../platform/files.ts";
import { basename, dirname, isWithin, join, relativeTo } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { shellWord } from "../../shell/quote.ts";
import { type Listing, within } from "../policy/listing.ts";
import { recordSeen } from "../policy/project.ts";
import type { ProjectRecord } from "../policy/project_record.ts";
import type { DerivedFile } from "../policy/project_record_files.ts";
import { ProtectedSet } from "../policy/protected.ts";
import { UNKNOWN_PATH } from "../policy/protection_rule.ts";
import { readRegularFile } from "../reader.ts";
import type { ScanHit } from "./fragment_finder.ts";
import { textsOf } from "./normalize.ts";
import type { LeakScanner } from "./leak_scanner.ts";

/** Bytes that are scanned after one command; files beyond are protected without a look. */
const SCAN_LIMIT = 128 * 1024 * 1024;
/** Files that a notice names. */
const MOST_NAMED = 20;
/** File system clocks are coarse, and change times come in whole seconds (measured with Deno 2.9.6). */
const SLACK_MS = 2_000;

/** The changes of a program that are judged. */
export interface ProgramChanges {
  /** When it started, in milliseconds since 1970. */
  since: number;
  /**
   * A protected path that it could see since a time: what changed then can hold it in a form that no scan finds.
   * `isFree`: no sandbox kept the program from anything.
   */
  exposed?: { path: string; since: number; isFree?: boolean | undefined } | undefined;
}

interface CopySearch extends ProgramChanges {
  /** Real paths of files and directories: only what is in them is searched. */
  roots: readonly string[];
  protection: ProtectedSet;
  /** Covers those of the roots that are outside of the project. */
  outside?: ProtectedSet | undefined;
  /** Null where nothing is protected. */
  scanner: Pick<LeakScanner, "check"> | null;
}

/**
 * Protects files in the roots that changed since then, are open when this session is over, and contain protected
 * content or could not be scanned. Returns a notice for the user with their names relative to the project, or null.
 * Throws `home_unusable` if they cannot be recorded.
 */
export async function protectCopies(search: CopySearch, records: readonly ProjectRecord[]): Promise<string | null> {
  const { protection, exposed } = search;
  protection.refresh();
  // A line that came meanwhile covers what it names for good once it is recorded.
  if (exposed !== undefined) await recordSeen(protection, records);
  const copies = await findCopies(search);
  if (copies.length === 0) return null;
  protection.protectCopies(copies);
  const names = copies.map(({ path }) => relativeTo(protection.roots[0] ?? "", path));
  for (const [index, record] of records.entries()) {
    await record.tighten({ derived: copies.filter(({ path }) => index === 0 || isWithin(record.root, path)) });
    if (record.problem !== null) throw record.problem;
  }
  protection.remember(records);
  const why = exposed === undefined
    ? "since they hold protected content"
    : `since ${exposed.path} became protected, was moved or was replaced meanwhile`;
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  const release = exposed !== undefined && more === ""
    ? `if none of them holds its content: agentcli secrets trust ${names.map(shellWord).join(" ")}`
    : "agentcli secrets list shows them, agentcli secrets trust releases them";
  return `protected from now on, ${why}: ${names.slice(0, MOST_NAMED).join(", ")}${more} (${release})`;
}

/** Returns what covers those places that are outside of the project, undefined without any; `before` if it is that. */
export function outsideOf(
  { roots }: ProtectedSet,
  places: readonly string[],
  before?: ProtectedSet,
): ProtectedSet | undefined {
  const outside = places.filter((place) => !roots.some((root) => isWithin(root, place)))
    .map((place) => quietly(() => statSync(place))?.kind === "directory" ? place : dirname(place));
  if (outside.length === 0) return undefined;
  return before?.isOf(outside) ? before : new ProtectedSet(outside);
}

/** Returns files, and directories that cannot be judged. Follows no links; skips `.git`: no command can change it. */
async function findCopies(search: CopySearch): Promise<DerivedFile[]> {
  const { roots, protection, outside, scanner, since, exposed } = search;
  const source = exposed?.path ?? [...protection.files()][0] ?? UNKNOWN_PATH;
  const started = performance.now();
  const holding = async (...texts: string[]) => await scanner?.check(texts, { once: true, since: started }) ?? null;
  const found: DerivedFile[] = [];
  let left = SCAN_LIMIT;
  outside?.refresh();
  const listings = [...protection.openDirectories, ...outside?.openDirectories ?? []];
  for (const listing of listings) {
    const base = baseOf(listing.directory, search);
    let above: Promise<ScanHit | null> | null = null;
    for (const { path, status } of changedFiles(listing, (exposed?.since ?? since) - SLACK_MS)) {
      if (!roots.some((root) => isWithin(root, path)) || protection.lasts(path)) continue;
      const { inode, born } = status;
      const nameHit = await (above ??= holding(relativeTo(base, listing.directory))) ?? await holding(basename(path));
      // Where its name holds protected content, a file is known and shown by its number alone.
      const copy = { path: nameHit === null ? path : join(base, `file number ${inode}`), inode, born };
      if (exposed !== undefined) {
        // The user just wrote it: no sandboxed program writes a marker that was there before it, and others need none.
        const isUsers = exposed.isFree === true || born !== 0 && born < since;
        if (isUsers && protection.markers.includes(path)) continue;
        found.push({ ...copy, source });
        continue;
      }
      left -= status.size;
      const read = left < 0 ? null : readRegularFile(path, { display: path });
      if (read === null || "refused" in read || read.more) {
        if (read === null || !("refused" in read) || read.refused !== "absent") found.push({ ...copy, source });
        continue;
      }
      const hit = nameHit ?? await holding(...textsOf(read.bytes));
      if (hit === null) continue;
      found.push({ ...copy, source: protection.named(hit.path)?.copyOf ?? hit.path });
    }
  }
  return found;
}

/** Returns the root or other place that a path is in: the names above it are not of a program. */
function baseOf(path: string, { roots, protection }: CopySearch): string {
  return [...protection.roots, ...roots].find((place) => isWithin(place, path)) ?? path;
}

function* changedFiles(
  { directory, entries, unjudged }: Listing,
  since: number,
): Generator<{ path: string; status: FileStatus }> {
  const names = (entries ?? []).filter(({ isFile }) => isFile).map(({ name }) => name);
  const files = names.filter((name) => name !== ".git").map((name) => within(directory, name));
  // What cannot be judged can hold anything, so the directory that can be named is protected.
  for (const path of new Set([...files, ...unjudged.map((place) => place.directory)])) {
    const status = quietly(() => lstatSync(path));
    if (status !== null && Math.max(status.modified, status.changed) >= since) yield { path, status };
  }
}
