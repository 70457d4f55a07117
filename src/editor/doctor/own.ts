/**
 * Whether something that would be started is as it was written from here. What others wrote, a fresh clone above all, is
 * data until the user says otherwise: a doctor that ran it would be the way in.
 */
import { pieceHash } from "../artifact.ts";
import { readFound, sha256 } from "../disk.ts";
import type { FoundArtifact } from "../found.ts";
import { canonical } from "../json_tree.ts";
import type { Installed, Ledger } from "../ledger.ts";
import { artifactsInWorktree, worktreesAround } from "../worktrees.ts";

/** `own`: to the byte, with its scripts; `changed`: ours, but not as it was written; `foreign`: somebody else's. */
export type Origin = "own" | "changed" | "foreign";

/** Where a hook or a server comes from. `root` is the project. */
export async function originOf(
  found: FoundArtifact,
  { ledger, root }: { ledger: Ledger; root: string },
): Promise<Origin> {
  const artifacts = [...ledger.artifacts, ...artifactsInWorktree(ledger, root, worktreesAround(root))];
  const owner = artifacts.find((one) => one.kind === found.kind && holds(one, found));
  if (owner === undefined) return found.ours ? "changed" : "foreign";
  for (const { piece, written, taken, instead } of owner.pieces) {
    // Taken over is not yet written from here: whoever wrote it, it is as they left it.
    if (taken && instead !== undefined && await pieceHash(instead) === written) return "foreign";
    if (piece.kind === "file" && await isChanged(piece.path, written)) return "changed";
  }
  return "own";
}

function holds({ pieces }: Installed, { path, event, name, entry }: FoundArtifact): boolean {
  return pieces.some(({ piece, written }) => {
    if (written === null || piece.path !== path) return false;
    if (piece.kind !== "item" && piece.kind !== "member") return false;
    const isPlace = piece.kind === "item" ? piece.at.at(-1) === event : piece.at.at(-1) === name;
    return isPlace && canonical(piece.value) === canonical(entry);
  });
}

/** A script that is gone is not changed: its line must be run to show what becomes of it. */
async function isChanged(path: string, written: string | null): Promise<boolean> {
  try {
    const found = readFound(path);
    return found !== null && await sha256(found.bytes) !== written;
  } catch {
    // What cannot be read is not what was written.
    return true;
  }
}
