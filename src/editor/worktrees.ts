/** Linked worktrees of git: an editor gives each of its parallel sessions one of its own. */
import { mainTree } from "../boundary/policy/git_directory.ts";
import { listSync } from "../platform/files_sync.ts";
import { dirname, isWithin, join, relativeTo } from "../platform/path.ts";
import { artifactId, type Piece } from "./artifact.ts";
import { lookAt } from "./disk.ts";
import type { Installed, Ledger } from "./ledger.ts";
import { textsOnDisk } from "./live_text.ts";
import { isPresent } from "./piece.ts";

/** What is known of the worktrees around a project. */
export interface Worktrees {
  /** The main tree, when the project is a linked worktree. */
  main: string | null;
  /** Roots of the linked worktrees of the repository. */
  linked: string[];
}

/** Looks at the files of git that say so; runs no git. */
export function worktreesAround(root: string): Worktrees {
  const main = mainTree(root);
  const directory = join(main ?? root, ".git", "worktrees");
  let names: string[] = [];
  try {
    names = (listSync(directory) ?? []).map(({ name }) => name).sort();
  } catch {
    // A repository that may not be looked into has nothing to say.
  }
  const linked = names.flatMap((name) => {
    const pointer = lookAt(join(directory, name, "gitdir"))?.trim();
    return pointer === undefined || pointer === "" || lookAt(pointer) === null ? [] : [dirname(pointer)];
  });
  return { main, linked };
}

function moved<T extends Piece>(piece: T, { from, to }: { from: string; to: string }): T {
  return isWithin(from, piece.path) ? { ...piece, path: join(to, relativeTo(from, piece.path)) } : piece;
}

/** The artifacts of the main tree as they would be in the worktree `root`. */
export function artifactsInWorktree({ artifacts }: Ledger, root: string, { main }: Worktrees): Installed[] {
  if (main === null) return [];
  return artifacts.filter(({ scope, base }) => scope === "project" && base === main).map((one) => ({
    ...one,
    base: root,
    pieces: one.pieces.map((entry) => ({ ...entry, piece: moved(entry.piece, { from: main, to: root }) })),
  }));
}

/** The words of those of which something is missing in a worktree: there they do nothing, a guard neither. */
export function missingHere(artifacts: readonly Installed[], installedHere: readonly Installed[]): string[] {
  const texts = textsOnDisk();
  return artifacts
    .filter((one) => !installedHere.some((other) => artifactId(other) === artifactId(one) && other.base === one.base))
    .filter(({ pieces }) => pieces.some(({ piece }) => !isPresent(piece, texts)))
    .map(artifactId);
}
