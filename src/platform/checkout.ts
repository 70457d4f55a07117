/** The git checkout that the program runs from, where it runs from sources. */
import { readTextInPlace } from "./files.ts";
import { dirname, join, resolve } from "./path.ts";

/** Letters of a commit that are shown: as many as a bundle names. */
const SHOWN = 12;

/**
 * The commit that is checked out where `directory` is the top of a checkout, shortened; null where it is none, or cannot
 * be read. Read from where git keeps it: no process is started, and so changes that are not committed are not seen.
 */
export function commitOfCheckout(directory: string): string | null {
  try {
    const git = gitDirectory(join(directory, ".git"));
    const head = readTextInPlace(join(git, "HEAD")).trim();
    const commit = head.startsWith("ref: ") ? commitOf(head.slice("ref: ".length), git) : head;
    return /^[0-9a-f]{40,64}$/.test(commit ?? "") ? commit?.slice(0, SHOWN) ?? null : null;
  } catch {
    // Whatever is wrong with a checkout, the program says its version.
    return null;
  }
}

/** The directory of the main module; null when it came from an address. */
export function programDirectory(): string | null {
  if (!Deno.mainModule.startsWith("file:")) return null;
  // Drives of Windows: `/C:/…`.
  return dirname(decodeURIComponent(new URL(Deno.mainModule).pathname).replace(/^\/(?=[A-Za-z]:\/)/, ""));
}

/** Linked worktrees and submodules have a file there, which names the place. */
function gitDirectory(path: string): string {
  if (Deno.statSync(path).isDirectory) return path;
  return resolve(dirname(path), readTextInPlace(path).trim().replace(/^gitdir: /, ""));
}

function commitOf(reference: string, git: string): string | null {
  // A worktree has its own HEAD, and shares its branches with the checkout it came from.
  const shared = readOrNull(join(git, "commondir"));
  const common = shared === null ? git : resolve(git, shared.trim());
  const loose = readOrNull(join(common, reference));
  if (loose !== null) return loose.trim();
  const packed = readOrNull(join(common, "packed-refs"))?.split("\n") ?? [];
  return packed.find((line) => line.endsWith(` ${reference}`))?.split(" ", 1)[0] ?? null;
}

function readOrNull(path: string): string | null {
  try {
    return readTextInPlace(path);
  } catch {
    return null;
  }
}
