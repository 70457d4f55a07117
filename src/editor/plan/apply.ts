/** Carries out a plan: all of it or nothing, keeping the ledger and the originals. */
import { AgentcliError } from "../../errors.ts";
import { sha256 } from "../../platform/digest.ts";
import { lstatSync, removeFile, removeLeftovers } from "../../platform/files.ts";
import type { Home } from "../../platform/home.ts";
import { dirname } from "../../platform/path.ts";
import { ancestors } from "../../platform/real_path.ts";
import { stringsOf } from "../../platform/record.ts";
import { DISK, type DiskAccess, perform, readFound, takeBack } from "./disk.ts";
import {
  betweenLedgers,
  dropOriginal,
  type FileRecord,
  interruptedPaths,
  keepOriginal,
  LEDGER,
  type Ledger,
  ownStates,
  readLedger,
  writeLedger,
} from "./ledger.ts";
import { type Change, makePlan, type Plan } from "./plan.ts";
import type { Wanted } from "./operations.ts";
import { decodeBase64, type Resource, resourceKey } from "../resources/artifact.ts";

/**
 * Reads the ledger and plans what has to be done. Nothing is written. Throws `policy_refused` where it would keep what
 * `mayKeep` forbids.
 */
export async function planChanges(home: Home, wanted: Wanted, mayKeep?: MayKeep): Promise<Plan> {
  const ledger = await readLedger(home);
  const plan = await makePlan(ledger, wanted, { home });
  if (mayKeep !== undefined) await refuseToKeep(ledger, plan, mayKeep);
  return plan;
}

interface ApplyOptions {
  /** The plan that was shown: when the disk has changed since, nothing is done. */
  expected?: Plan;
  /** Called with the plan before anything is written, while no other agentcli can write. */
  announce?(plan: Plan): Promise<void>;
  disk?: DiskAccess;
  /**
   * Whether the first original of a file may be kept in the home; by default it is. Otherwise our part is
   * removed again later, and what is around it stays as it is then. What could not be restored that way is refused.
   */
  mayKeep?: MayKeep;
}

/**
 * Makes the plan again and applies it, while no other agentcli does. Throws `usage` when it is not the expected one.
 * When one write fails, the others are undone and the failure is thrown. A kill at any moment leaves a ledger from
 * which the next run continues.
 */
export async function applyChanges(home: Home, wanted: Wanted, options: ApplyOptions = {}): Promise<Plan> {
  return await home.locked(LEDGER, async () => {
    const ledger = await readLedger(home);
    const interrupted = interruptedPaths(ledger);
    // In a project that can no longer be read they stay: that must not stop the others.
    for (const path of interrupted) await removeLeftovers(path).catch(() => {});
    if (interrupted.length > 0) await removeLeftovers(home.file(LEDGER));
    const plan = await makePlan(ledger, wanted, { home });
    if (options.expected !== undefined && await fingerprint(plan) !== await fingerprint(options.expected)) {
      throw new AgentcliError("usage", "the files have changed since the plan was shown; nothing was written", {
        hint: "run it again",
      });
    }
    if (options.mayKeep !== undefined) await refuseToKeep(ledger, plan, options.mayKeep);
    await options.announce?.(plan);
    const { next, records, dropped } = await ledgerAfter(ledger, plan, { home, mayKeep: options.mayKeep });
    if (plan.changes.length > 0) {
      // The ledger first: what is written and not recorded would be foreign forever.
      await writeLedger(home, betweenLedgers(ledger, next, { records }));
      await performAll({ home, ledger, next, plan, disk: options.disk ?? DISK });
    }
    const ours = directoriesOfOurs(next);
    await removeDirectories(next.directories.filter((directory) => !ours.has(directory)));
    next.directories = existing(next.directories);
    if (JSON.stringify(next) !== JSON.stringify(ledger)) await writeLedger(home, next);
    for (const path of dropped) await dropOriginal(home, path);
    return plan;
  });
}

interface Work {
  home: Home;
  ledger: Ledger;
  next: Ledger;
  plan: Plan;
  disk: DiskAccess;
}

async function performAll({ home, ledger, next, plan, disk }: Work): Promise<void> {
  const done: Change[] = [];
  try {
    for (const change of plan.changes) {
      await perform(change, disk);
      done.push(change);
    }
  } catch (error) {
    const stay = await takeBack(done, disk);
    const made = next.directories.filter((directory) => !ledger.directories.includes(directory));
    await removeDirectories(made);
    // If something is left, the ledger keeps the intermediate state: the next run finishes the change.
    if (stay.length === 0) {
      await writeLedger(home, ledger);
      for (const { path } of plan.changes) if (ledger.files[path] === undefined) await dropOriginal(home, path);
    }
    throw failed(error, stay);
  }
}

async function fingerprint({ changes }: Plan): Promise<string> {
  const parts = changes.map(async ({ path, before, after }) =>
    `${path} ${before && await sha256(before.bytes)} ${after && await sha256(after)}`
  );
  return (await Promise.all(parts)).join("\n");
}

/** Where first originals are kept, and which. */
type Keeping = { home: Home } & Pick<ApplyOptions, "mayKeep">;

/**
 * Returns the ledger once the plan is done; `records` are those of the files that it writes, `dropped` those it
 * forgets.
 */
async function ledgerAfter(
  ledger: Ledger,
  plan: Plan,
  keeping: Keeping,
): Promise<{ next: Ledger; records: Record<string, FileRecord>; dropped: string[] }> {
  const directories = directoriesAfter(ledger, plan);
  const next: Ledger = { version: 1, artifacts: plan.artifacts, files: { ...ledger.files }, directories };
  const records: Record<string, FileRecord> = {};
  for (const change of plan.changes) {
    const record = await recordAfter(ledger, change, keeping);
    next.files[change.path] = record;
    records[change.path] = { ...record, also: [change.before === null ? null : await sha256(change.before.bytes)] };
  }
  const waiting = new Set(interruptedPaths({ ...next, files: {} }));
  for (const [path, record] of Object.entries(next.files)) {
    if (record.also !== undefined && !waiting.has(path)) next.files[path] = await settled(path, record);
  }
  const used = new Set(pathsOf(next));
  const dropped = Object.keys(next.files).filter((path) => !used.has(path));
  for (const path of dropped) delete next.files[path];
  return { next, records, dropped };
}

/** Returns the record of a file with an unfinished change and nothing left to do. */
async function settled(path: string, record: FileRecord): Promise<FileRecord> {
  const { created, untouched } = record;
  const found = readFound(path);
  const written = found === null ? null : await sha256(found.bytes);
  return { created, written, untouched: untouched && ownStates(record).includes(written) };
}

function pathsOf({ artifacts }: Ledger): string[] {
  return artifacts.flatMap(({ resources }) => resources.map(({ resource }) => resource.path));
}

/** Returns the directories above what is installed. */
function directoriesOfOurs(ledger: Ledger): Set<string> {
  return new Set(pathsOf(ledger).flatMap((path) => ancestors(dirname(path))));
}

/** Returns the record of a file after a change; keeps the first original when it is our first. */
async function recordAfter(
  ledger: Ledger,
  { path, before, after }: Change,
  { home, mayKeep }: Keeping,
): Promise<FileRecord> {
  const known = ledger.files[path];
  if (known === undefined && before !== null && await mayKeep?.(path, before.bytes) !== false) {
    await keepOriginal(home, path, { found: before });
  }
  const asWeLeftIt = known === undefined ||
    ownStates(known).includes(before === null ? null : await sha256(before.bytes));
  return {
    created: known?.created ?? before === null,
    written: after === null ? null : await sha256(after),
    untouched: (known?.untouched ?? true) && asWeLeftIt,
  };
}

function failed(error: unknown, stay: readonly Change[]): AgentcliError {
  const { code, message, hint } = error instanceof AgentcliError
    ? error
    : { code: "config_write_failed" as const, message: "the files cannot be written", hint: undefined };
  if (stay.length === 0) return new AgentcliError(code, `${message}; nothing was changed`, { hint, cause: error });
  const paths = stay.map(({ path }) => path).join(", ");
  return new AgentcliError(code, `${message}; what was written before it could not be taken back: ${paths}`, {
    hint: "agentcli editor apply ends what was begun, agentcli editor remove takes it away",
    cause: error,
  });
}

/** Returns those of the ledger that still exist, and those that will be created. */
function directoriesAfter(ledger: Ledger, plan: Plan): string[] {
  const above = plan.changes.flatMap(({ path, after }) => after === null ? [] : ancestors(dirname(path)));
  const missing = [...new Set(above)].filter((directory) => lstatSync(directory) === null);
  return [...new Set([...existing(ledger.directories), ...missing])].sort();
}

function existing(directories: readonly string[]): string[] {
  return directories.filter((directory) => lstatSync(directory) !== null);
}

async function removeDirectories(directories: readonly string[]): Promise<void> {
  for (const directory of directories.toSorted((one, other) => other.length - one.length)) {
    // Where somebody else keeps something, the system refuses, and it stays.
    await removeFile(directory).catch(() => {});
  }
}

/** Whether bytes of a file may be kept in the home. */
type MayKeep = (path: string, bytes: Uint8Array) => Promise<boolean>;

function contentOf(resource: Resource): Uint8Array {
  if (resource.kind === "file") return decodeBase64(resource.content);
  const text = "content" in resource ? resource.content : [...stringsOf(resource.value)].join("\n");
  return new TextEncoder().encode(text);
}

/**
 * Throws `policy_refused` where a plan would keep what may not be kept. What the ledger already holds was checked
 * before.
 */
async function refuseToKeep(ledger: Ledger, { artifacts }: Plan, mayKeep: MayKeep): Promise<void> {
  const backups = (from: Ledger["artifacts"]) =>
    from.flatMap(({ resources }) => resources.flatMap(({ backup }) => backup === undefined ? [] : backup));
  const known = new Set(backups(ledger.artifacts).map(resourceKey));
  for (const resource of backups(artifacts)) {
    if (known.has(resourceKey(resource)) || await mayKeep(resource.path, contentOf(resource))) continue;
    throw new AgentcliError(
      "policy_refused",
      `${resource.path} holds protected content, which the home does not keep, so it could not be given back`,
      { hint: "move away what is there, then run it again" },
    );
  }
}
