/** Which files of a listing are worth reading to say what a project is. */

/** Best first; within one row the shorter path wins. */
const RANKS: readonly RegExp[] = [
  /^readme(\.\w+)?$/i,
  /^(package\.json|deno\.jsonc?|pyproject\.toml|cargo\.toml|go\.mod|pom\.xml|build\.gradle(\.kts)?|gemfile|composer\.json)$/i,
  /^(main|index|app|mod|lib|cli|server|__main__)\.(ts|js|mjs|tsx|jsx|py|go|rs|java|rb|c|cpp|sh)$/i,
  /\.md$/i,
  /\.(ts|js|mjs|py|go|rs|java|rb|c|cpp|sh|toml|ya?ml|json|txt)$/i,
];

/** Files read when the prompt names none. */
const CHOICE = 3;

function rankOf(path: string): number {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const rank = RANKS.findIndex((pattern) => pattern.test(name));
  return /(^|[-.])lock\b/.test(name) ? -1 : rank;
}

/** At most three paths of a Glob result, best first: README, manifest, main file, then others that hold text. */
export function pickFiles(listing: string): string[] {
  return listing.split("\n")
    .map((line) => line.trim())
    .filter((path) => path !== "" && rankOf(path) >= 0)
    .map((path) => ({ path, rank: rankOf(path), depth: path.split("/").length }))
    .sort((a, b) => a.rank - b.rank || a.depth - b.depth || (a.path < b.path ? -1 : 1))
    // One of a rank first, so that three manifests do not push out the main file.
    .filter((entry, at, all) => entry.rank > 2 || all.findIndex(({ rank }) => rank === entry.rank) === at)
    .slice(0, CHOICE)
    .map(({ path }) => path);
}
