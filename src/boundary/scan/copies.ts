/**
 * Finds files with protected content, in their bytes or their name, that a command of a protected session left behind.
 * No label follows a process, so the files are scanned. Source: specification of the boundary, second design §4.
 */
import type { FileStatus } from "../../platform/files.ts";
import { lstatSync } from "../../platform/files_sync.ts";
import { isWithin, relativeTo } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { type Listing, within } from "../policy/listing.ts";
import type { ProjectRecord } from "../policy/project_record.ts";
import type { DerivedFile } from "../policy/project_record_files.ts";
import { ProtectedSet } from "../policy/protected.ts";
import { readRegularFile } from "../reader.ts";
import type { LeakScanner } from "./leak_scanner.ts";

/** Bytes that are scanned after one command; files beyond are protected without a look. */
const SCAN_LIMIT = 128 * 1024 * 1024;
/** File system clocks are coarse, and change times come in whole seconds (measured with Deno 2.9.6). */
const SLACK_MS = 2_000;

export interface CopySearch {
  /** Real paths. */
  roots: readonly string[];
  protection: ProtectedSet;
  scanner: Pick<LeakScanner, "check">;
  /** When the command started, in milliseconds since 1970. */
  since: number;
  /** A protected path that the command could see: every changed file can hold its content in a form that no scan finds. */
  exposed?: string | undefined;
}

interface FoundCopy extends DerivedFile {
  /** Its name contains protected content, so it must not be shown or stored. */
  isNameProtected: boolean;
}

/**
 * Protects files below the roots that changed since then, are covered by no rule, and contain protected content or
 * could not be scanned. Returns a notice for the user with their names relative to the first root, or null. Throws
 * `home_unusable` if they cannot be recorded.
 */
export async function protectCopies(search: CopySearch, record: ProjectRecord | undefined): Promise<string | null> {
  const { roots, protection, exposed } = search;
  protection.refresh();
  const copies = await findCopies(search);
  if (copies.length === 0) return null;
  for (const copy of copies) protection.protectCopy(copy);
  // A name with protected content is stored nowhere; the leak scanner finds it in whatever would leave.
  const stored = copies.filter(({ isNameProtected }) => !isNameProtected);
  if (stored.length > 0) await record?.tighten({ derived: stored.map(({ isNameProtected: _, ...file }) => file) });
  if (record !== undefined && record.problem !== null) throw record.problem;
  const names = stored.map(({ path }) => relativeTo(roots[0] ?? "", path));
  if (copies.length > stored.length) names.push("a file whose name holds some");
  const why = exposed === undefined
    ? "since they hold protected content"
    : `since ${exposed} was created or replaced meanwhile`;
  return `protected from now on, ${why}: ${names.join(", ")} ` +
    "(agentcli secrets list shows them, agentcli secrets trust releases them)";
}

/** Returns files, and directories that cannot be listed. Does not follow links or enter `.git`, where commands cannot write. */
async function findCopies({ roots, protection, scanner, since, exposed }: CopySearch): Promise<FoundCopy[]> {
  const source = exposed ?? [...protection.files()][0];
  let again = false;
  const holding = async (text: string) => {
    const hit = await scanner.check([text], { once: true, again });
    again = true;
    return hit;
  };
  const found: FoundCopy[] = [];
  let left = SCAN_LIMIT;
  const at = Date.now();
  const places = roots.filter((place) => !protection.roots.some((root) => isWithin(root, place)));
  const sets = places.length === 0 ? [protection] : [protection, new ProtectedSet(places)];
  for (const listing of sets.flatMap(({ openDirectories }) => openDirectories)) {
    const root = roots.find((one) => isWithin(one, listing.directory)) ?? "/";
    for (const { path, status } of changedFiles(listing, since - SLACK_MS)) {
      if (protection.ruleOfFile(status, path) !== null) continue;
      const { device, inode, born } = status;
      const nameHit = await holding(relativeTo(root, path));
      const copy = { path, device, inode, born, at, isNameProtected: nameHit !== null };
      if (exposed !== undefined) {
        found.push({ ...copy, source: exposed });
        continue;
      }
      left -= status.size;
      const read = left < 0 ? null : readRegularFile(path, { display: path });
      if (read === null || "refused" in read || read.more) {
        if (read !== null && "refused" in read && read.refused === "absent") continue;
        if (source !== undefined) found.push({ ...copy, source });
        continue;
      }
      const hit = nameHit ?? await holding(new TextDecoder().decode(read.bytes));
      if (hit !== null) found.push({ ...copy, source: hit.path });
    }
  }
  return found;
}

function* changedFiles(
  { directory, entries }: Listing,
  since: number,
): Generator<{ path: string; status: FileStatus }> {
  const files = entries?.filter(({ isFile }) => isFile).map(({ name }) => within(directory, name));
  // A directory that cannot be listed can hold anything.
  for (const path of files ?? [directory]) {
    const status = quietly(() => lstatSync(path));
    if (status !== null && Math.max(status.modified, status.changed) >= since) yield { path, status };
  }
}
