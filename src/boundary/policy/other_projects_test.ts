import assert from "node:assert/strict";
import { toolHome } from "../../../tests/helpers/tool_home.ts";
import { protectedAnywhere } from "./other_projects.ts";
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
        const isProtected = await protectedAnywhere(place.home);
        assert.deepEqual([`${known}/f1`, `${known}/open.txt`, `${own}/open.txt`].map(isProtected), expected);
      } finally {
        await Deno.remove(base, { recursive: true });
      }
    },
  );
}
