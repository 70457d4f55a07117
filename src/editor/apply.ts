/** Does what a plan says: all of it or nothing, with the ledger and the first originals kept. */
import { AgentcliError } from "../errors.ts";
import { lstat, makeDirectory, removeFile, writeAtomically } from "../platform/files.ts";
import type { Home } from "../platform/home.ts";
import { dirname, isWithin } from "../platform/path.ts";
import { linkOnTheWay, readFound, sha256 } from "./disk.ts";
import { dropOriginal, type FileRecord, keepOriginal, LEDGER, type Ledger, readLedger, writeLedger } from "./ledger.ts";
import { type Change, makePlan, type Plan, type Wanted } from "./plan.ts";

/** Reads the ledger and works out what has to be done. Nothing is written. */
export async function planChanges(home: Home, wanted: Wanted): Promise<Plan> {
  return await makePlan(await readLedger(home), wanted, { home });
}

/**
 * Works the plan out again and does it, while no other agentcli does. When `expected` is given and the disk has changed
 * since, nothing is done: `usage`. When one write fails, the others are undone and the failure is thrown.
 */
export async function applyChanges(home: Home, wanted: Wanted, options: { expected?: Plan } = {}): Promise<Plan> {
  return await home.locked(LEDGER, async () => {
    const ledger = await readLedger(home);
    const plan = await makePlan(ledger, wanted, { home });
    if (options.expected !== undefined && await fingerprint(plan) !== await fingerprint(options.expected)) {
      throw new AgentcliError("usage", "the files have changed since the plan was shown; nothing was written", {
        hint: "run it again",
      });
    }
    const next: Ledger = { version: 1, artifacts: plan.artifacts, files: { ...ledger.files }, directories: [] };
    next.directories = await directoriesAfter(ledger, plan);
    for (const change of plan.changes) await noteFile(next, change, home);
    const dropped = Object.keys(next.files).filter((path) => !isUsed(next, path));
    for (const path of dropped) delete next.files[path];
    if (JSON.stringify(next) === JSON.stringify(ledger)) return plan;
    // The ledger first: what is written and not noted would be foreign for ever.
    await writeLedger(home, next);
    const done: Change[] = [];
    try {
      for (const change of plan.changes) {
        await perform(change);
        done.push(change);
      }
    } catch (error) {
      await undo(done);
      await removeDirectories(next.directories.filter((directory) => !ledger.directories.includes(directory)));
      await writeLedger(home, ledger);
      throw failed(error);
    }
    const emptied = plan.changes.filter(({ after }) => after === null).map(({ path }) => path);
    await removeDirectories(next.directories.filter((directory) => emptied.some((path) => isWithin(directory, path))));
    for (const path of dropped) await dropOriginal(home, path);
    return plan;
  });
}

async function fingerprint({ changes }: Plan): Promise<string> {
  const parts = changes.map(async ({ path, before, after }) =>
    `${path} ${before && await sha256(before.bytes)} ${after && await sha256(after)}`
  );
  return (await Promise.all(parts)).join("\n");
}

function isUsed(ledger: Ledger, path: string): boolean {
  return ledger.artifacts.some(({ pieces }) => pieces.some(({ piece }) => piece.path === path));
}

async function noteFile(ledger: Ledger, change: Change, home: Home): Promise<void> {
  const { path, before, after } = change;
  const known = ledger.files[path];
  const written = after === null ? null : await sha256(after);
  if (known === undefined && before !== null) await keepOriginal(home, path, { found: before });
  const asWeLeftIt = known === undefined || known.written === (before === null ? null : await sha256(before.bytes));
  const record: FileRecord = {
    created: known?.created ?? before === null,
    written,
    untouched: (known?.untouched ?? true) && asWeLeftIt,
  };
  ledger.files[path] = record;
}

/** The directories that have to be made for a file, the innermost first; none above `base`. */
async function missingAbove(path: string, base: string): Promise<string[]> {
  const missing: string[] = [];
  for (let at = dirname(path); isWithin(base, at) && at !== base; at = dirname(at)) {
    if (await lstat(at) !== null) break;
    missing.push(at);
  }
  return missing;
}

async function perform({ path, base, before, after, mode }: Change): Promise<void> {
  const link = await linkOnTheWay(base, path);
  if (link !== null) throw new AgentcliError("usage", `${link} is a link; nothing is written through links`);
  const now = readFound(path);
  const changed = (now === null) !== (before === null) ||
    (now !== null && before !== null && await sha256(now.bytes) !== await sha256(before.bytes));
  if (changed) {
    throw new AgentcliError("usage", `${path} was changed by something else just now`, { hint: "run it again" });
  }
  if (before?.mode !== null && before !== null && (before.mode & 0o200) === 0) {
    throw new AgentcliError("usage", `${path} is read-only`, { hint: "make it writable, or leave it as it is" });
  }
  if (after === null) return await removeFile(path);
  await makeDirectory(dirname(path));
  await writeAtomically(path, after, { mode });
}

async function undo(done: readonly Change[]): Promise<void> {
  for (const { path, before } of done.toReversed()) {
    if (before === null) await removeFile(path);
    else await writeAtomically(path, before.bytes, { mode: before.mode ?? 0o644 });
  }
}

function failed(error: unknown): AgentcliError {
  if (error instanceof AgentcliError) {
    return new AgentcliError(error.code, `${error.message}; nothing was changed`, { hint: error.hint, cause: error });
  }
  return new AgentcliError("config_write_failed", "a file of the editor cannot be written; nothing was changed", {
    hint: "check owner, permissions and free space",
    cause: error,
  });
}

/** Those of the ledger that still stand, and those that will be made. */
async function directoriesAfter(ledger: Ledger, plan: Plan): Promise<string[]> {
  const found = new Set<string>();
  for (const directory of ledger.directories) if (await lstat(directory) !== null) found.add(directory);
  for (const { path, base, after } of plan.changes) {
    if (after !== null) { for (const directory of await missingAbove(path, base)) found.add(directory); }
  }
  return [...found].sort();
}

async function removeDirectories(directories: readonly string[]): Promise<void> {
  for (const directory of directories.toSorted((one, other) => other.length - one.length)) {
    // Where somebody else keeps something, the system refuses, and it stays.
    await removeFile(directory).catch(() => {});
  }
}
