/** More derived files than a record has room for. */
import assert from "node:assert/strict";
import { gathered } from "./project_record_files.ts";

const deep = `/project/d/${"e".repeat(200)}`;

Deno.test("more files than a record has room for are kept by their directories at the top of the project", () => {
  const fileAt = (path: string) => ({ path, source: "/project/.env", inode: 2, born: 3 });
  const of = (count: number) =>
    gathered(
      [...Array.from({ length: count }, (_, at) => fileAt(`${deep}/${at}`)), fileAt("/project/a.txt"), fileAt("/w/b")],
      "/project",
    );
  assert.equal(of(50).length, 52, "control: a few are kept by themselves");
  const kept = of(12_000);
  assert.deepEqual(kept.map(({ path }) => path), ["/project/d", "/project/a.txt", "/w/b"]);
  assert.deepEqual(kept.map(({ inode }) => inode), [0, 2, 2], "a directory has no identity of a file");
});

Deno.test("of files that have one directory in a record, the strictest counts", () => {
  const files = Array.from({ length: 12_000 }, (_, at) => ({
    ...{ path: `${deep}/${at}`, source: "/project/.env", inode: 2, born: 3 },
    ...at === 5 ? { tier: "list-only" as const } : {},
  }));
  assert.deepEqual(gathered(files, "/project").map(({ tier }) => tier), ["list-only"]);
});
