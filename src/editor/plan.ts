/** What has to change on the disk so that it is as it should be. Looks only; `apply.ts` does it. */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { artifactId, encodeBase64, type Piece, pieceHash, sameArtifact } from "./artifact.ts";
import { type FoundFile, linkOnTheWay, lookAt, readFound, sameBytes, sha256 } from "./disk.ts";
import { scriptsIn } from "./inspect_hooks.ts";
import { canonical, JsonProblem } from "./json_tree.ts";
import { type Installed, type InstalledPiece, type Ledger, ownStates, readOriginal } from "./ledger.ts";
import { lengthProblem } from "./limits.ts";
import { bytesOf, isBare, type PlaceState, stateIn, textOfFile, withoutPiece, withPiece } from "./piece.ts";
import { SectionProblem } from "./section.ts";
import { discards, type Step, stepsOf, type Wanted } from "./steps.ts";

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

/** One file while it is worked on. */
interface Draft {
  path: string;
  /** The items of lists of the file that are known to belong to other artifacts than that of a step, canonical. */
  items(step: Step): ReadonlySet<string>;
  base: string;
  before: FoundFile | null;
  now: Uint8Array<ArrayBuffer> | null;
  executable: boolean;
  original: string | null;
  /** Something of ours goes out of it. */
  removed: boolean;
  /** Something of others comes back into it. */
  returned: boolean;
  /** What was taken over goes too: the first original must not come back. */
  discarded: boolean;
}

/** Works out the plan. Reads files and originals; a file that cannot be used becomes a problem of its pieces. */
export async function makePlan(ledger: Ledger, wanted: Wanted, { home }: { home: Home }): Promise<Plan> {
  const { steps, artifacts } = stepsOf(ledger, wanted);
  const drafts = new Map<string, Draft>();
  const problems: Problem[] = [];
  const givenBack = new Set<string>();
  for (const step of scriptsLast(steps)) {
    const piece = step.next ?? step.old?.piece;
    if (piece === undefined) continue;
    const { path } = piece;
    const report = (reason: Problem["reason"], message: string) => {
      problems.push({ path, artifact: artifactId(step.artifact), reason, message });
      // What we wrote stays ours to watch, even when it is not as it was.
      if (step.old !== null) step.artifact.pieces.push(step.old);
    };
    try {
      const draft = drafts.get(path) ?? await openDraft(path, step.artifact.base, { ledger, home });
      drafts.set(path, draft);
      const called = wanted.force ? null : callOfScript(step, ledger, drafts);
      if (called !== null) {
        report("changed", `a line of ${called} that is not as it was installed still runs it, so it stays`);
        continue;
      }
      const outcome = await take(step, draft, wanted);
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
  const changes: Change[] = [];
  for (const draft of drafts.values()) {
    const change = await finish(draft, { ledger, left, home });
    if (change !== null) changes.push(change);
  }
  return { changes, problems, givenBack: [...givenBack], artifacts: left };
}

/** The steps in their order, but what is to go for good as a file at the end: a line that stays may need it. */
function scriptsLast(steps: readonly Step[]): Step[] {
  const goes = ({ next, old }: Step) => next === null && old?.piece.kind === "file";
  return [...steps.filter((step) => !goes(step)), ...steps.filter(goes)];
}

/** The hooks file of which a line that stays runs the script that a step takes away; null when there is none. */
function callOfScript(
  { artifact, next, old }: Step,
  ledger: Ledger,
  drafts: ReadonlyMap<string, Draft>,
): string | null {
  if (artifact.kind !== "hook" || next !== null || old?.piece.kind !== "file") return null;
  const script = old.piece.path;
  const pieces = ledger.artifacts.find((one) => sameArtifact(one, artifact))?.pieces ?? [];
  const hooksFiles = new Set(pieces.flatMap(({ piece }) => piece.kind === "item" ? [piece.path] : []));
  for (const hooksFile of hooksFiles) {
    const draft = drafts.get(hooksFile);
    const text = draft === undefined ? lookAt(hooksFile) : textOfFile(draft.now);
    if (text !== null && scriptsIn(text, { hooksFile, base: artifact.base }).includes(script)) return hooksFile;
  }
  return null;
}

async function openDraft(
  path: string,
  base: string,
  { ledger, home }: { ledger: Ledger; home: Home },
): Promise<Draft> {
  const link = await linkOnTheWay(base, path);
  if (link !== null) throw new AgentcliError("usage", `${link} is a link; nothing is written through links`);
  const before = readFound(path);
  const kept = ledger.files[path] === undefined ? before : await readOriginal(home, path);
  const original = kept === null ? null : textOfFile(kept.bytes);
  const items = ({ artifact }: Step) => {
    const others = ledger.artifacts.filter((one) => !sameArtifact(one, artifact)).flatMap(({ pieces }) => pieces);
    return new Set(
      others.flatMap(({ piece }) => piece.kind === "item" && piece.path === path ? [canonical(piece.value)] : []),
    );
  };
  return {
    path,
    items,
    base,
    before,
    now: before?.bytes ?? null,
    executable: false,
    original,
    removed: false,
    returned: false,
    discarded: false,
  };
}

type Refused = { reason: Problem["reason"]; message: string };

/** The state of the place of a piece in the draft. */
async function stateOf(
  piece: Piece,
  draft: Draft,
  { old, others }: { old: InstalledPiece | null; others: ReadonlySet<string> },
): Promise<PlaceState | Refused> {
  if (piece.kind === "file") {
    if (draft.now === null) return { hash: null, index: 0, found: null };
    const found = { ...piece, content: encodeBase64(draft.now), executable: isExecutable(draft.before) };
    return { hash: await sha256(draft.now), index: 0, found };
  }
  const text = textOfFile(draft.now);
  if (text === null) return { reason: "unusable", message: "it is not UTF-8 text" };
  const versions = old === null ? [] : [old.piece, ...(old.earlier ?? [])];
  return await stateIn(text, piece, { versions, others, isKnown: old !== null && old.written !== null });
}

function isExecutable(file: FoundFile | null): boolean {
  return file !== null && file.mode !== null && (file.mode & RUN_BITS) !== 0;
}

/** Does one step in the draft: gives the piece as it is noted then, or why it was not done. */
async function take(step: Step, draft: Draft, wanted: Wanted): Promise<InstalledPiece | Refused> {
  const { next, old, stays } = step;
  const piece = next ?? old?.piece;
  if (piece === undefined) throw new AgentcliError("internal", "a step without a piece");
  const owned = old !== null && old.written !== null;
  const noted: InstalledPiece = { piece, written: null, ...notesOf(old) };
  // What was never ours is not ours to take away.
  if (!stays && !owned) return noted;
  const state = await stateOf(piece, draft, { old, others: draft.items(step) });
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
    draft.executable = next?.kind === "file" && next.executable;
    return noted;
  }
  const text = textOfFile(draft.now) ?? "";
  const changed = next === null
    ? withoutPiece(text, piece, { index: state.index, original: draft.original })
    : withPiece(text, piece, { index: state.index });
  if (next?.kind === "section" && next.limit !== null) {
    const problem = lengthProblem(changed, next.limit);
    if (problem !== null) return { reason: "unusable", message: problem };
  }
  draft.now = new TextEncoder().encode(changed);
  return noted;
}

const PLAIN_MODE = 0o644;
const RUN_BITS = 0o111;

async function finish(
  draft: Draft,
  { ledger, left, home }: { ledger: Ledger; left: readonly Installed[]; home: Home },
): Promise<Change | null> {
  const { path, base, before } = draft;
  const record = ledger.files[path];
  let after = draft.now;
  let mode = (before?.mode ?? PLAIN_MODE) | (draft.executable ? RUN_BITS : 0);
  const used = left.some(({ pieces }) => pieces.some(({ piece, written }) => piece.path === path && written !== null));
  if (draft.removed && !used) {
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
