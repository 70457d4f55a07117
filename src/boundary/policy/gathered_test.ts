/** More derived files than a record has room for. */
import assert from "node:assert/strict";
import { gathered } from "./project_record_files.ts";

const deep = `/project/${"d".repeat(200)}/${"e".repeat(200)}`;

Deno.test("more files than a record has room for are kept by their directories, the deepest first", () => {
  const fileAt = (path: string) => ({ path, source: "/project/.env", device: 1, inode: 2, born: 3 });
  const of = (directory: string, count: number) =>
    gathered(
      [...Array.from({ length: count }, (_, at) => fileAt(`${directory}/${at}`)), fileAt("/project/a.txt")],
      "/project",
    );
  assert.equal(of(deep, 50).length, 51, "control: a few are kept by themselves");
  const kept = of(deep, 8_000);
  assert.deepEqual(kept.map(({ path }) => path), [deep, "/project/a.txt"]);
  assert.equal(kept[0]?.inode, 0, "a directory has no identity of a file");
  assert.deepEqual(of("/project", 50_000).map(({ path }) => path), ["/project"]);
});

Deno.test("of files that have one directory in a record, the strictest counts", () => {
  const files = Array.from({ length: 8_000 }, (_, at) => ({
    ...{ path: `${deep}/${at}`, source: "/project/.env", device: 1, inode: 2, born: 3 },
    ...at === 5 ? { tier: "list-only" as const } : {},
  }));
  assert.deepEqual(gathered(files, "/project").map(({ tier }) => tier), ["list-only"]);
});
