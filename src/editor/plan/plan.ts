/** Plans what has to change on the disk to remove the drift. Only reads; `apply.ts` writes. */
import { AgentcliError } from "../../errors.ts";
import { sha256 } from "../../platform/digest.ts";
import type { Home } from "../../platform/home.ts";
import { artifactId, artifactKey, decodeBase64, resourceHash } from "../resources/artifact.ts";
import { type FoundFile, isExecutable, sameFile } from "./disk.ts";
import { bytesNow, type Draft, LiveText, liveText, openDraft } from "./draft.ts";
import {
  discards,
  type Operation,
  operationsOf,
  type OwnershipIndex,
  ownershipIndex,
  type Wanted,
} from "./operations.ts";
import { type Installed, type InstalledResource, type Ledger, ownStates, readOriginal } from "./ledger.ts";
import { lengthProblem, TextProblem } from "../limits.ts";
import {
  findIn,
  type FoundResource,
  isBare,
  isNeeded,
  putResource,
  takeResource,
  textOfFile,
} from "../resources/resource.ts";

/** A file before and after; null: not there. */
export interface Change {
  path: string;
  base: string;
  before: FoundFile | null;
  after: Uint8Array<ArrayBuffer> | null;
  mode: number;
}

/** Something that is not done, and why. */
export interface Problem {
  path: string;
  artifact: string;
  reason: "foreign" | "changed" | "unusable";
  message: string;
}

/** The changes to make, and the ledger's artifacts once they are made. */
export interface Plan {
  changes: Change[];
  problems: Problem[];
  /** Names of adopted artifacts that are given back: they stay, and are no longer ours. */
  givenBack: string[];
  artifacts: Installed[];
}

/**
 * Makes the plan. Reads files and originals; a file that cannot be used becomes a problem of its resources. A new
 * artifact that cannot be added as a whole is not added at all.
 */
export async function makePlan(ledger: Ledger, wanted: Wanted, options: { home: Home }): Promise<Plan> {
  const plan = await planOf(ledger, wanted, options);
  const known = new Set(ledger.artifacts.map(artifactKey));
  const { add = [] } = wanted;
  const halves = add.filter((one) =>
    plan.problems.some(({ artifact, reason }) =>
      artifact === artifactId(one) && (reason === "unusable" || !known.has(artifactKey(one)))
    )
  );
  if (halves.length === 0) return plan;
  const whole = await planOf(ledger, { ...wanted, add: add.filter((one) => !halves.includes(one)) }, options);
  return { ...whole, problems: plan.problems };
}

async function planOf(ledger: Ledger, wanted: Wanted, { home }: { home: Home }): Promise<Plan> {
  const { operations, artifacts } = operationsOf(ledger, wanted);
  const drafts = new Map<string, Draft>();
  const known = ownershipIndex(ledger, drafts);
  const problems = new Map<string, Problem>();
  const givenBack = new Set<string>();
  for (const operation of neededLast(operations)) {
    const { path } = operation.resource;
    const report = (reason: Problem["reason"], message: string) => {
      const problem: Problem = { path, artifact: artifactId(operation.artifact), reason, message };
      // Many resources in a file that cannot be used have one problem.
      problems.set(JSON.stringify(problem), problem);
      // We keep watching what we wrote, even when it has changed.
      if (operation.old !== null) operation.artifact.resources.push(operation.old);
    };
    try {
      const draft = drafts.get(path) ?? await openDraft(path, operation.artifact.base, { ledger, home });
      drafts.set(path, draft);
      const called = wanted.force ? null : known.called(operation);
      if (called !== null) {
        report("changed", `a line of ${called} that is not as it was installed still runs it, so it stays`);
        continue;
      }
      const outcome = await perform(operation, draft, { wanted, known });
      if ("reason" in outcome) report(outcome.reason, outcome.message);
      else if (operation.stays) operation.artifact.resources.push(outcome);
      else if (operation.old?.adopted && operation.puts) givenBack.add(artifactId(operation.artifact));
    } catch (error) {
      if (error instanceof TextProblem || error instanceof AgentcliError) report("unusable", error.message);
      else throw error;
    }
  }
  const left = artifacts.filter(({ resources }) => resources.length > 0);
  const used = new Set(
    left.flatMap(({ resources }) =>
      resources.flatMap(({ resource, written }) => written === null ? [] : resource.path)
    ),
  );
  const changes: Change[] = [];
  for (const draft of drafts.values()) {
    const change = await finish(draft, { ledger, isUsed: used.has(draft.path), home });
    if (change !== null) changes.push(change);
  }
  return { changes, problems: [...problems.values()], givenBack: [...givenBack], artifacts: left };
}

/**
 * Returns the operations in their order, but removals that others may need (scripts, headers) come last, and
 * whole files, which are compared when nothing else of ours is in them.
 */
function neededLast(operations: readonly Operation[]): Operation[] {
  const goes = ({ puts, stays, resource }: Operation) =>
    !stays && (resource.kind === "file" || (!puts && resource.kind === "member" && resource.header === true));
  return [...operations.filter((operation) => !goes(operation)), ...operations.filter(goes)];
}

type Refused = { reason: Problem["reason"]; message: string };

/** Returns what is in the place of an operation's resource in the draft. */
function placeIn(operation: Operation, draft: Draft, known: OwnershipIndex): FoundResource | null | Refused {
  const { resource, old } = operation;
  if (resource.kind === "file") {
    const now = bytesNow(draft);
    if (now === null) return null;
    return { found: { ...resource, content: now.toBase64(), executable: isExecutable(draft.before) }, index: 0 };
  }
  const file = liveText(draft);
  if (file === null) return { reason: "unusable", message: "it is not UTF-8 text" };
  const versions = old === null ? [] : [old.resource, ...(old.earlier ?? [])];
  const isOther = (item: string) => known.isOther(operation, resource.path, item);
  return findIn(file, resource, { versions, isOther, isKnown: old !== null && old.written !== null });
}

/** Applies one operation to the draft; returns the resource as it is recorded then, or why it was not done. */
async function perform(
  operation: Operation,
  draft: Draft,
  { wanted, known }: { wanted: Wanted; known: OwnershipIndex },
): Promise<InstalledResource | Refused> {
  const { resource, puts, old, stays } = operation;
  const owned = old !== null && old.written !== null;
  const noted: InstalledResource = { resource, written: null, ...notesOf(old) };
  // What was never ours is not ours to remove.
  if (!stays && !owned) return noted;
  const place = placeIn(operation, draft, known);
  if (place !== null && "reason" in place) return place;
  const now = place && await resourceHash(place.found);
  const goal = puts ? await resourceHash(resource) : null;
  if (!stays) {
    draft.removed = true;
    draft.returned ||= puts;
    draft.discarded ||= old !== null && discards(old, wanted);
  }
  if (now === goal) {
    if (resource.kind === "file" && resource.executable && goal !== null) draft.executable = true;
    if (owned) return { ...noted, written: goal };
    if (wanted.adopt === true) return { ...noted, written: goal, adopted: true, backup: place?.found ?? resource };
    return wanted.force ? { ...noted, written: goal } : noted;
  }
  // What somebody has removed is not restored only to be left there.
  if (!stays && now === null) return noted;
  const file = stays || resource.kind !== "member" ? null : liveText(draft);
  if (file !== null && resource.kind === "member" && isNeeded(file, resource)) return noted;
  const ours = owned && ownStates(old).includes(now);
  if (now !== null && !ours && !wanted.force) {
    return owned
      ? { reason: "changed", message: "it was changed by hand since it was installed" }
      : { reason: "foreign", message: "something else is there that agentcli did not install" };
  }
  const replaced = owned || place === null ? {} : { backup: place.found };
  return edit(operation, draft, { index: place?.index ?? -1, noted: { ...noted, written: goal, ...replaced } });
}

/** Returns what is known of a resource beside what was written. */
function notesOf(old: InstalledResource | null): Pick<InstalledResource, "backup" | "adopted"> {
  return {
    ...(old?.backup === undefined ? {} : { backup: old.backup }),
    ...(old?.adopted === undefined ? {} : { adopted: old.adopted }),
  };
}

function edit(
  { resource, puts }: Operation,
  draft: Draft,
  { index, noted }: { index: number; noted: InstalledResource },
): InstalledResource | Refused {
  if (resource.kind === "file") {
    draft.now = puts ? decodeBase64(resource.content) : null;
    draft.live = null;
    draft.executable = puts && resource.executable;
    return noted;
  }
  const file = liveText(draft);
  if (file === null) return { reason: "unusable", message: "it is not UTF-8 text" };
  if (!puts) takeResource(file, resource, { index, original: draft.original });
  else {
    if (resource.kind === "section" && resource.limit !== null) {
      const trial = new LiveText(file.text);
      putResource(trial, resource, { index });
      const problem = lengthProblem(trial.text, resource.limit);
      if (problem !== null) return { reason: "unusable", message: problem };
    }
    putResource(file, resource, { index });
  }
  return noted;
}

const PLAIN_MODE = 0o644;
const RUN_BITS = 0o111;

async function finish(
  draft: Draft,
  { ledger, isUsed, home }: { ledger: Ledger; isUsed: boolean; home: Home },
): Promise<Change | null> {
  const { path, base, before } = draft;
  const record = ledger.files[path];
  let after = bytesNow(draft);
  let mode = (before?.mode ?? PLAIN_MODE) | (draft.executable ? RUN_BITS : 0);
  if (draft.removed && !isUsed) {
    const untouched = record !== undefined && record.untouched && before !== null &&
      ownStates(record).includes(await sha256(before.bytes));
    const original = record?.created === false ? await readOriginal(home, path) : null;
    const isOurs = record?.created === true && !draft.returned;
    if (untouched && !draft.discarded && (isOurs || original !== null)) {
      after = original?.bytes ?? null;
      mode = original?.mode ?? mode;
    } else if (isOurs && after !== null && isBare(textOfFile(after) ?? "x")) after = null;
  }
  const sameMode = before?.mode === null || before?.mode === mode;
  if (sameFile(before?.bytes ?? null, after) && (after === null || sameMode)) return null;
  return { path, base, before, after, mode };
}
