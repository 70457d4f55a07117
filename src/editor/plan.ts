/** What has to change on the disk so that it is as it should be. Looks only; `apply.ts` does it. */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { type Artifact, artifactId, type Piece, pieceHash, pieceKey, sameArtifact } from "./artifact.ts";
import { type FoundFile, linkOnTheWay, readFound, sha256 } from "./disk.ts";
import { JsonProblem } from "./json_tree.ts";
import { type Installed, type Ledger, readOriginal } from "./ledger.ts";
import { lengthProblem } from "./limits.ts";
import { bytesOf, isBare, stateIn, textOfFile, withoutPiece, withPiece } from "./piece.ts";
import { SectionProblem } from "./section.ts";

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
  artifacts: Installed[];
}

/** What is wanted. */
export interface Wanted {
  /** Installed anew or in a new version. */
  add: readonly Artifact[];
  /** Taken away. */
  remove: readonly Omit<Artifact, "pieces">[];
  /** Put in order again: of all that is installed, those that this says yes to. */
  keep(installed: Installed): boolean;
  /** Overwrites what is foreign or was changed by hand. */
  force: boolean;
  /** Takes what stands there as wanted for ours. */
  take?: boolean;
}

interface Step {
  artifact: Installed;
  /** As it should be; null: it goes away. */
  next: Piece | null;
  /** As it was written; null: it is new. */
  old: { piece: Piece; written: string | null } | null;
}

function stepsOf(ledger: Ledger, wanted: Wanted): { steps: Step[]; artifacts: Installed[] } {
  const steps: Step[] = [];
  const artifacts: Installed[] = [];
  for (const known of ledger.artifacts) {
    const next = wanted.add.find((one) => sameArtifact(one, known));
    if (wanted.remove.some((one) => sameArtifact(one, known))) {
      const left: Installed = { ...known, pieces: [] };
      artifacts.push(left);
      for (const old of known.pieces) steps.push({ artifact: left, next: null, old });
    } else if (next === undefined) {
      if (!wanted.keep(known)) artifacts.push(known);
      else {
        const kept: Installed = { ...known, pieces: [] };
        artifacts.push(kept);
        for (const old of known.pieces) steps.push({ artifact: kept, next: old.piece, old });
      }
    } else {
      const renewed: Installed = { ...headOf(next), pieces: [] };
      artifacts.push(renewed);
      const keys = next.pieces.map(pieceKey);
      for (const old of known.pieces) {
        if (!keys.includes(pieceKey(old.piece))) steps.push({ artifact: renewed, next: null, old });
      }
      for (const piece of next.pieces) {
        const old = known.pieces.find((one) => pieceKey(one.piece) === pieceKey(piece)) ?? null;
        steps.push({ artifact: renewed, next: piece, old });
      }
    }
  }
  for (const next of wanted.add) {
    if (ledger.artifacts.some((known) => sameArtifact(known, next))) continue;
    const added: Installed = { ...headOf(next), pieces: [] };
    artifacts.push(added);
    for (const piece of next.pieces) steps.push({ artifact: added, next: piece, old: null });
  }
  return { steps, artifacts };
}

function headOf({ kind, name, scope, dialect, base }: Artifact): Omit<Artifact, "pieces"> {
  return { kind, name, scope, dialect, base };
}

/** One file while it is worked on. */
interface Draft {
  path: string;
  base: string;
  before: FoundFile | null;
  now: Uint8Array<ArrayBuffer> | null;
  executable: boolean;
  original: string | null;
  /** It was ours to take something out of. */
  removed: boolean;
}

/** Works out the plan. Reads files and originals; a file that cannot be used becomes a problem of its pieces. */
export async function makePlan(ledger: Ledger, wanted: Wanted, { home }: { home: Home }): Promise<Plan> {
  const { steps, artifacts } = stepsOf(ledger, wanted);
  const drafts = new Map<string, Draft>();
  const problems: Problem[] = [];
  for (const step of steps) {
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
      const written = await take(step, draft, wanted);
      if (typeof written === "object" && written !== null) report(written.reason, written.message);
      else if (step.next !== null) step.artifact.pieces.push({ piece: step.next, written });
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
  return { changes, problems, artifacts: left };
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
  return { path, base, before, now: before?.bytes ?? null, executable: false, original, removed: false };
}

type Refused = { reason: Problem["reason"]; message: string };

/** Does one step in the draft: gives the hash of what is ours there now (null: it is not ours), or why it was not done. */
async function take({ next, old }: Step, draft: Draft, wanted: Wanted): Promise<string | null | Refused> {
  const piece = next ?? old?.piece;
  if (piece === undefined) return null;
  if (next === null && old?.written === null) return null;
  const text = piece.kind === "file" ? null : textOfFile(draft.now);
  if (piece.kind !== "file" && text === null) return { reason: "unusable", message: "it is not UTF-8 text" };
  const state = piece.kind === "file"
    ? { hash: draft.now === null ? null : await sha256(draft.now), index: 0 }
    : await stateIn(text ?? "", piece, { old: old?.piece ?? null });
  const goal = next === null ? null : await pieceHash(next);
  if (state.hash === goal) {
    if (goal === null) return null;
    if (piece.kind === "file" && piece.executable) draft.executable = true;
    return (old !== null && old.written !== null) || wanted.take === true || wanted.force ? goal : null;
  }
  const ours = old !== null && old.written !== null && state.hash === old.written;
  if (state.hash !== null && !ours && !wanted.force) {
    return old === null || old.written === null
      ? { reason: "foreign", message: "something else stands there that was not installed from here" }
      : { reason: "changed", message: "it was changed by hand since it was installed" };
  }
  if (next === null) draft.removed = true;
  if (piece.kind === "file") {
    draft.now = next?.kind === "file" ? bytesOf(next) : null;
    draft.executable = next?.kind === "file" && next.executable;
    return goal;
  }
  const changed = next === null
    ? withoutPiece(text ?? "", piece, { index: state.index, original: draft.original })
    : withPiece(text ?? "", piece, { index: state.index });
  if (next?.kind === "section" && next.limit !== null) {
    const problem = lengthProblem(changed, next.limit);
    if (problem !== null) return { reason: "unusable", message: problem };
  }
  draft.now = new TextEncoder().encode(changed);
  return goal;
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
      await sha256(before.bytes) === record.written;
    const original = record?.created === false ? await readOriginal(home, path) : null;
    if (untouched && (record.created || original !== null)) {
      after = original?.bytes ?? null;
      mode = original?.mode ?? mode;
    } else if (record?.created && after !== null && isBare(textOfFile(after) ?? "x")) after = null;
  }
  const sameMode = before?.mode === null || before?.mode === mode;
  if (same(before?.bytes ?? null, after) && (after === null || sameMode)) return null;
  return { path, base, before, after, mode };
}

function same(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
