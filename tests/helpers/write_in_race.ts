/**
 * Changes entries through a workspace while others swap their directory: a program of its own, since it changes its
 * working directory. Arguments: `write`, `remove`, `link` or `directory`, the project, its home, how many files, and
 * `raced` where somebody swaps. Prints a line of JSON: what became of each file, and the working directory afterwards.
 */
import { findMarkers } from "../../src/boundary/policy/path_rules.ts";
import type { EntryChange } from "../../src/boundary/workspace/entry.ts";
import { openWorkspace } from "../../src/boundary/workspace/disk.ts";

const [what = "", root = "", home = "", count = ""] = Deno.args;
const provider = { local: true, name: "p" };
const workspace = await openWorkspace({
  root,
  additional: [],
  cwd: root,
  home,
  localEndpoints: findMarkers(root).standingEndpoints,
  provider,
  ownProcess: true,
});
const files = await Promise.all(Array.from({ length: Number(count) }, async (_, index) => {
  const path = await workspace.resolve(`sub/${index}`);
  if ("refused" in path) throw new Error(path.message);
  return path;
}));
console.log("ready");
await Deno.stdin.read(new Uint8Array(1));
const before = { kind: "file", bytes: new Uint8Array(), mode: null } as const;
const changes: Record<string, EntryChange> = {
  remove: { now: before, to: { kind: "absent" } },
  link: { now: before, to: { kind: "link", target: "elsewhere" } },
  directory: { now: { kind: "absent" }, to: { kind: "directory", mode: 0o700 } },
};
const results: (string | null)[] = [];
// Again and again until it was in somebody's way and was not: the others may have to wait for their turn to run.
const end = performance.now() + 10_000;
const settled = () => results.some((result) => result === null) && results.some((result) => result !== null);
do {
  for (const [index, file] of files.entries()) {
    const change = changes[what];
    const done = change === undefined
      ? await workspace.write(file, new TextEncoder().encode("new"))
      : await workspace.restore(file, change);
    const message = done !== null && "refused" in done ? done.message : null;
    if (!results[index]?.includes("may have been left")) results[index] = message;
  }
} while (Deno.args[4] === "raced" && !settled() && performance.now() < end);
console.log(JSON.stringify({ results, cwd: Deno.cwd() }));
