import assert from "node:assert/strict";
import { toolHome } from "../../../tests/helpers/tool_home.ts";
import { protectedAnywhere } from "./other_projects.ts";
import { ProtectedSet } from "./protected.ts";
import { ProjectRecord } from "./project_record.ts";

for (
  const { lines, expected } of [
    { lines: 10, expected: [true, false, false] },
    { lines: 10_001, expected: [true, true, false] },
  ]
) {
  Deno.test(
    `a known project with ${lines} remembered lines protects ${lines > 10_000 ? "all of itself" : "what they name"}`,
    { ignore: Deno.build.os === "windows" },
    async () => {
      await using place = await toolHome(null);
      const base = await Deno.realPath(await Deno.makeTempDir());
      try {
        const [known, own] = [`${base}/known`, `${base}/own`];
        for (const root of [known, own]) Deno.mkdirSync(root);
        const patterns = Array.from(
          { length: lines },
          (_, index) => ({ tier: "no-cloud" as const, pattern: `f${index}` }),
        );
        const markers = [{ path: `${known}/.agentclisecret`, lines: patterns }];
        await ProjectRecord.open(place.home, known, { markers, endpoints: [] });
        const isProtected = await protectedAnywhere(place.home, { root: own, records: [] });
        assert.deepEqual([`${known}/f1`, `${known}/open.txt`, `${own}/open.txt`].map(isProtected), expected);
      } finally {
        await Deno.remove(base, { recursive: true });
      }
    },
  );
}

const posix = { ignore: Deno.build.os === "windows" };
Deno.test("each known project is asked about a path that is gone only below its own root", posix, async () => {
  await using place = await toolHome(null);
  const base = await Deno.realPath(await Deno.makeTempDir());
  const { named } = ProtectedSet.prototype;
  try {
    const roots = Array.from({ length: 20 }, (_, index) => `${base}/known${index}`);
    for (const root of [...roots, `${base}/own`]) {
      Deno.mkdirSync(root);
      const markers = [{ path: `${root}/.agentclisecret`, lines: [{ tier: "no-cloud" as const, pattern: "/b/.env" }] }];
      if (root !== `${base}/own`) await ProjectRecord.open(place.home, root, { markers, endpoints: [] });
    }
    const isProtected = await protectedAnywhere(place.home, { root: `${base}/own`, records: [], was: "" });
    let asked = 0;
    ProtectedSet.prototype.named = function (path) {
      asked++;
      return named.call(this, path);
    };
    const gone = `${base}/own/a/b/open.txt`;
    assert.equal(isProtected(gone), false);
    const names = gone.split("/").length;
    assert.ok(asked <= (roots.length + 1) * (names + 1), `${asked} questions`);
    assert.ok(asked > roots.length, "control: they are asked");
    assert.equal(isProtected(`${base}/own/a/b/.env`), true);
    const deep = `${"a/".repeat(200)}b/`;
    assert.deepEqual([`${deep}.env`, `${deep}open.txt`].map((end) => isProtected(`${base}/own/${end}`)), [true, false]);
  } finally {
    ProtectedSet.prototype.named = named;
    await Deno.remove(base, { recursive: true });
  }
});
