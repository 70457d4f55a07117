import assert from "node:assert/strict";
import { countWords } from "./words.ts";
import { missingPaths, namedPaths } from "./pages.ts";

Deno.test("paths of the checkout are found in backticks, with their lines", () => {
  const text = "See `src/a/b.ts` and\n`tests/helpers/`, `deno task x`, `src/provider/backends/acme.ts`, `scan/c.ts`.";
  assert.deepEqual(namedPaths({ path: "x.md", text }), [
    { line: 1, path: "src/a/b.ts" },
    { line: 2, path: "tests/helpers/" },
    { line: 2, path: "src/boundary/scan/c.ts" },
  ]);
});

Deno.test("a path that is not there is reported with its page and line", async () => {
  const text = "`src/errors.ts`\n`src/no_such_room/x.ts`";
  assert.deepEqual(await missingPaths([{ path: "x.md", text }]), [
    "x.md:2 page: it names src/no_such_room/x.ts, which is not there",
  ]);
});

Deno.test("words are counted for each room, and only where they count", () => {
  const counts = countWords([
    { path: "src/agent/a.ts", text: "/** What it is. */ tellBreak(); // a verb" },
    { path: "docs/x.md", text: "What it is. A verb, two verbs, adverbial. It says the way on, not the way onward." },
  ]);
  assert.deepEqual([...counts].map(([place, words]) => [place, Object.fromEntries(words)]), [
    ["src/agent", { verb: 1, tell: 1, "/** What": 1 }],
    ["docs/x.md", { verb: 2, "the way on": 1 }],
  ]);
});
