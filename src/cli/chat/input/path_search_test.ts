import assert from "node:assert/strict";
import { rankOf } from "./path_search.ts";

const PATHS = [
  "docs/",
  "docs/pump.md",
  "src/",
  "src/pump/",
  "src/pump/rate.ts",
  "src/parse_unit_map.ts",
  "Pump.ts",
  "a b/c.ts",
];

/** The paths that a word may mean, best first. */
function found(word: string): string[] {
  const ranked = PATHS.flatMap((path) => {
    const rank = rankOf({ lower: path.toLowerCase(), base: path.lastIndexOf("/", path.length - 2) + 1 }, word);
    return rank === null ? [] : [{ path, rank }];
  });
  return ranked.sort((one, other) => one.rank - other.rank).map(({ path }) => path);
}

Deno.test("a path is found by its beginning, by a name, by a part of one, and by letters that stand apart", () => {
  assert.deepEqual(found("pump"), [
    "Pump.ts",
    "docs/pump.md",
    "src/pump/",
    "src/pump/rate.ts",
    "src/parse_unit_map.ts",
  ]);
  assert.deepEqual(found("rate"), ["src/pump/rate.ts"]);
  assert.deepEqual(found("srt"), ["src/pump/rate.ts", "src/parse_unit_map.ts"]);
  assert.deepEqual(found("zz"), []);
});

Deno.test("nothing typed lists the uppermost; a directory lists what is in it before what is below", () => {
  assert.deepEqual(found("").slice(0, 3), ["docs/", "src/", "Pump.ts"]);
  assert.deepEqual(found("src/").slice(0, 3), ["src/pump/", "src/parse_unit_map.ts", "src/pump/rate.ts"]);
});
