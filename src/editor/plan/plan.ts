/** What has to change on the disk so that it is as it should be. Looks only; `apply.ts` does it. */
import { AgentcliError } from "../../errors.ts";
import type { Home } from "../../platform/home.ts";
import { artifactId, artifactKey, encodeBase64, type Piece, pieceHash } from "../resources/artifact.ts";
import { type FoundFile, sameBytes, sha256 } from "./disk.ts";
import { bytesNow, type Draft, LiveText, liveText, openDraft } from "./draft.ts";
import { JsonProblem } from "../resources/json_tree.ts";
import { discards, type KnownOthers, knownOthers, type Step, stepsOf, type Wanted } from "./operations.ts";
import { type Installed, type InstalledPiece, type Ledger, ownStates, readOriginal } from "./ledger.ts";
import { lengthProblem } from "../limits.ts";
import { bytesOf, isBare, type PlaceState, putPiece, stateIn, takePiece, textOfFile } from "../resources/resource.ts";
import { SectionProblem } from "../resources/section.ts";

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

/** What is to be done, and how the ledger's artifacts are afterwards. */
export interface Plan {
  changes: Change[];
  problems: Problem[];
  /** Words of artifacts that were taken over and are given back: they stay, and are not ours any more. */
  givenBack: string[];
  artifacts: Installed[];
}

/**
 * Works out the plan. Reads files and originals; a file that cannot be used becomes a problem of its pieces. Half a new
 * artifact is none: of one that cannot be added as a whole nothing is done.
 */
export async function makePlan(ledger: Ledger, wanted: Wanted, options: { home: Home }): Promise<Plan> {
  const plan = await planOf(ledger, wanted, options);
  const known = new Set(ledger.artifacts.map(artifactKey));
  const halves = wanted.add.filter((one) =>
    plan.problems.some(({ artifact, reason }) =>
      artifact === artifactId(one) && (reason === "unusable" || !known.has(artifactKey(one)))
    )
  );
  if (halves.length === 0) return plan;
  const whole = await planOf(ledger, { ...wanted, add: wanted.add.filter((one) => !halves.includes(one)) }, options);
  return { ...whole, problems: plan.problems };
}

async function planOf(ledger: Ledger, wanted: Wanted, { home }: { home: Home }): Promise<Plan> {
  const { steps, artifacts } = stepsOf(ledger, wanted);
  const drafts = new Map<string, Draft>();
  const known = knownOthers(ledger, drafts);
  const problems = new Map<string, Problem>();
  const givenBack = new Set<string>();
  for (const step of scriptsLast(steps)) {
    const piece = step.next ?? step.old?.piece;
    if (piece === undefined) continue;
    const { path } = piece;
    const report = (reason: Problem["reason"], message: string) => {
      const problem: Problem = { path, artifact: artifactId(step.artifact), reason, message };
      // Many pieces in a file that cannot be used have one problem.
      problems.set(JSON.stringify(problem), problem);
      // What we wrote stays ours to watch, even when it is not as it was.
      if (step.old !== null) step.artifact.pieces.push(step.old);
    };
    try {
      const draft = drafts.get(path) ?? await openDraft(path, step.artifact.base, { ledger, home });
      drafts.set(path, draft);
      const called = wanted.force ? null : known.called(step);
      if (called !== null) {
        report("changed", `a line of ${called} that is not as it was installed still runs it, so it stays`);
        continue;
      }
      const outcome = await take(step, draft, { wanted, known });
      if ("reason" in outcome) report(outcome.reason, outcome.message);
      else if (step.stays) step.artifact.pieces.push(outcome);
      else if (step.old?.taken && step.next !== null) givenBack.add(artifactId(step.artifact));
    } catch (error) {
      if (error instanceof JsonProblem || error instanceof SectionProblem) report("unusable", error.message);
      else if (error instanceof AgentcliError) report("unusable", error.message);
      else throw error;
    }
  }
  const left = artifacts.filter(({ pieces }) => pieces.length > 0);
  const used = new Set(
    left.flatMap(({ pieces }) => pieces.flatMap(({ piece, written }) => written === null ? [] : piece.path)),
  );
  const changes: Change[] = [];
  for (const draft of drafts.values()) {
    const change = await finish(draft, { ledger, isUsed: used.has(draft.path), home });
    if (change !== null) changes.push(change);
  }
  return { changes, problems: [...problems.values()], givenBack: [...givenBack], artifacts: left };
}

/** The steps in their order, but what is to go for good as a file at the end: a line that stays may need it. */
function scriptsLast(steps: readonly Step[]): Step[] {
  const goes = ({ next, old }: Step) => next === null && old?.piece.kind === "file";
  return [...steps.filter((step) => !goes(step)), ...steps.filter(goes)];
}

type Refused = { reason: Problem["reason"]; message: string };

/** The state of the place of a step's piece in the draft. */
async function stateOf(
  piece: Piece,
  draft: Draft,
  { step, known }: { step: Step; known: KnownOthers },
): Promise<PlaceState | Refused> {
  const { old } = step;
  if (piece.kind === "file") {
    const now = bytesNow(draft);
    if (now === null) return { hash: null, index: 0, found: null };
    const found = { ...piece, content: encodeBase64(now), executable: isExecutable(draft.before) };
    return { hash: await sha256(now), index: 0, found };
  }
  const file = liveText(draft);
  if (file === null) return { reason: "unusable", message: "it is not UTF-8 text" };
  const versions = old === null ? [] : [old.piece, ...(old.earlier ?? [])];
  const isOther = (item: string) => known.isOther(step, piece.path, item);
  return await stateIn(file, piece, { versions, isOther, isKnown: old !== null && old.written !== null });
}

function isExecutable(file: FoundFile | null): boolean {
  return file !== null && file.mode !== null && (file.mode & RUN_BITS) !== 0;
}

/** Does one step in the draft: gives the piece as it is noted then, or why it was not done. */
async function take(
  step: Step,
  draft: Draft,
  { wanted, known }: { wanted: Wanted; known: KnownOthers },
): Promise<InstalledPiece | Refused> {
  const { next, old, stays } = step;
  const piece = next ?? old?.piece;
  if (piece === undefined) throw new AgentcliError("internal", "a step without a piece");
  const owned = old !== null && old.written !== null;
  const noted: InstalledPiece = { piece, written: null, ...notesOf(old) };
  // What was never ours is not ours to take away.
  if (!stays && !owned) return noted;
  const state = await stateOf(piece, draft, { step, known });
  if ("reason" in state) return state;
  const goal = next === null ? null : await pieceHash(next);
  if (!stays) {
    draft.removed = true;
    draft.returned ||= next !== null;
    draft.discarded ||= old !== null && discards(old, wanted);
  }
  if (state.hash === goal) {
    if (piece.kind === "file" && piece.executable && goal !== null) draft.executable = true;
    if (owned) return { ...noted, written: goal };
    if (wanted.take === true) return { ...noted, written: goal, taken: true, instead: state.found ?? piece };
    return wanted.force ? { ...noted, written: goal } : noted;
  }
  // What somebody has taken away is not brought back only to leave it there.
  if (!stays && state.hash === null) return noted;
  const ours = owned && ownStates(old).includes(state.hash);
  if (state.hash !== null && !ours && !wanted.force) {
    return owned
      ? { reason: "changed", message: "it was changed by hand since it was installed" }
      : { reason: "foreign", message: "something else stands there that was not installed from here" };
  }
  const replaced = owned || state.found === null ? {} : { instead: state.found };
  return edit(step, draft, { state, noted: { ...noted, written: goal, ...replaced } });
}

/** What is known of a piece beside what was written. */
function notesOf(old: InstalledPiece | null): Pick<InstalledPiece, "instead" | "taken"> {
  return {
    ...(old?.instead === undefined ? {} : { instead: old.instead }),
    ...(old?.taken === undefined ? {} : { taken: old.taken }),
  };
}

function edit(
  { next, old }: Step,
  draft: Draft,
  { state, noted }: { state: PlaceState; noted: InstalledPiece },
): InstalledPiece | Refused {
  const piece = next ?? old?.piece;
  if (piece === undefined || piece.kind === "file") {
    draft.now = next?.kind === "file" ? bytesOf(next) : null;
    draft.live = null;
    draft.executable = next?.kind === "file" && next.executable;
    return noted;
  }
  const file = liveText(draft);
  if (file === null) return { reason: "unusable", message: "it is not UTF-8 text" };
  if (next === null) takePiece(file, piece, { index: state.index, original: draft.original });
  else {
    if (piece.kind === "section" && piece.limit !== null) {
      const trial = new LiveText(file.text);
      putPiece(trial, piece, { index: state.index });
      const problem = lengthProblem(trial.text, piece.limit);
      if (problem !== null) return { reason: "unusable", message: problem };
    }
    putPiece(file, piece, { index: state.index });
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
  if (sameBytes(before?.bytes ?? null, after) && (after === null || sameMode)) return null;
  return { path, base, before, after, mode };
}
