/** Walks the project for a snapshot: every entry that is not ignored, protected, or kept by version control. */
import { isUnchanged } from "../boundary/policy/identity.ts";
import { isOfSystem, type Listing, type Listings, NO_UTF8, within } from "../boundary/policy/listing.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { type FileStatus, lstatSync } from "../platform/files.ts";
import { quietly } from "../platform/real_path.ts";
import { pacer } from "../platform/sleep.ts";
import { type Chain, chainBelow, chainIn, ignoreRulesIn, isIgnored, NO_RULES } from "../tools/walk.ts";

/** Most entries of a project. */
export const MOST_ENTRIES = 10_000;
/** Left out whatever a `.gitignore` says. */
const NEVER_KEPT = new Set([".git", ".hg", ".svn", ".jj", "node_modules"]);
/** Two changes within this many milliseconds can leave the same times: clocks of file systems are coarse. */
export const RACY_MS = 2_000;

export interface WalkedProject {
  /** By absolute path, no link in it. */
  entries: ReadonlyMap<string, FileStatus>;
  /** Paths that were left out with all below them, and those of them that a rule protects. */
  leftOut: ReadonlyMap<string, "ignored" | "protected">;
}

/** Options of {@link walkProject}; `home` is never part of it, and `listings` are those of the walk before. */
interface WalkOptions {
  home: string;
  listings: Listings;
  signal?: AbortSignal | undefined;
}

/** Entries of a directory that are not ignored, as long as neither it nor its rules change. */
interface Judged {
  outer: Chain;
  /** Of its `.gitignore`; null where it has none. */
  rules: FileStatus | null;
  at: number;
  kept: readonly { path: string; isDirectory: boolean; isFile: boolean; chain: Chain }[];
  ignored: readonly string[];
}

const judgedListings = new WeakMap<Listing, Judged>();

/** Returns the entries of the roots; null for more than {@link MOST_ENTRIES}. Throws the signal's reason. */
export async function walkProject(workspace: Workspace, options: WalkOptions): Promise<WalkedProject | null> {
  const { protection } = workspace;
  protection.refresh();
  const isMet = protection.met;
  // Where no marker is known, what is ignored need not be walked. One that is found on the way can name earlier files.
  const walked = await walkRoots(workspace, { ...options, isMet });
  return isMet || !protection.met ? walked : await walkRoots(workspace, { ...options, isMet: true });
}

async function walkRoots(
  workspace: Workspace,
  { home, signal, listings, isMet }: WalkOptions & { isMet: boolean },
): Promise<WalkedProject | null> {
  const { protection, root, additional } = workspace;
  // Looks for copies and other names of protected files too, and lists open directories alone.
  const open = isMet
    ? new Map((await protection.hidden({ signal })).listings.map((one) => [one.directory, one]))
    : null;
  const entries = new Map<string, FileStatus>();
  const leftOut = new Map<string, "ignored" | "protected">();
  const waiting: { directory: string; chain: Chain }[] = [];
  for (const place of [root, ...additional]) {
    const status = quietly(() => lstatSync(place));
    if (status !== null) entries.set(place, status);
    waiting.push({ directory: place, chain: NO_RULES });
  }
  const pause = pacer(signal);
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { directory } = at;
    const listing = open === null ? listings.of(directory) : open.get(directory);
    if (listing === undefined || listing.entries === null || isOfSystem(directory)) {
      leftOut.set(directory, "protected");
      continue;
    }
    const { kept, ignored } = judge(listing, { outer: at.chain, workspace });
    for (const path of ignored) leftOut.set(path, "ignored");
    for (const { path, isDirectory, isFile, chain } of kept) {
      const status = path === home ? null : quietly(() => lstatSync(path));
      if (status === null) continue;
      const isOpen = isDirectory && open !== null
        ? open.has(path)
        : (isFile ? protection.ruleOfFile(status, path) : protection.rule(path)) === null;
      if (!isOpen) {
        leftOut.set(path, "protected");
        continue;
      }
      entries.set(path, status);
      if (entries.size > MOST_ENTRIES) return null;
      if (isDirectory) waiting.push({ directory: path, chain });
    }
    await pause();
  }
  return { entries, leftOut };
}

/** Parts the entries of a directory into those that are ignored and the others. */
function judge(listing: Listing, { outer, workspace }: { outer: Chain; workspace: Workspace }): Judged {
  const { directory, entries } = listing;
  const known = judgedListings.get(listing);
  const has = (name: string) => entries?.some((entry) => entry.name === name) === true;
  const hasRules = known === undefined ? has(".gitignore") : known.rules !== null;
  const rules = hasRules ? quietly(() => lstatSync(within(directory, ".gitignore"))) : null;
  if (known?.outer === outer && sameRules(known, rules)) return known;
  const at = Date.now();
  const own = hasRules ? ignoreRulesIn({ path: directory, real: directory, display: "." }, workspace) : null;
  const chain = chainIn(outer, { own, isRepository: has(".git") });
  const [kept, ignored]: [Judged["kept"][number][], string[]] = [[], []];
  for (const { name, isDirectory, isFile } of entries ?? []) {
    const path = within(directory, name);
    const isLeftOut = NEVER_KEPT.has(name) || name.includes(NO_UTF8) || isIgnored(chain, { name, isDirectory });
    if (isLeftOut) ignored.push(path);
    else kept.push({ path, isDirectory, isFile, chain: isDirectory ? chainBelow(chain, name) : NO_RULES });
  }
  const judged = { outer, rules, at, kept, ignored };
  judgedListings.set(listing, judged);
  return judged;
}

function sameRules({ rules, at }: Judged, now: FileStatus | null): boolean {
  if (rules === null || now === null) return rules === now;
  return isUnchanged(rules, now) && Math.max(now.modified, now.changed) + RACY_MS < at;
}
