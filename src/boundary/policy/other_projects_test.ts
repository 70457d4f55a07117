import assert from "node:assert/strict";
import { toolHome } from "../../../tests/helpers/tool_home.ts";
import { protectedAnywhere } from "./other_projects.ts";
import { ProjectRecord } from "./project_record.ts";

Deno.test("a known project protects what its remembered lines name", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await using place = await toolHome(null);
  const base = await Deno.realPath(await Deno.makeTempDir());
  try {
    const [known, own] = [`${base}/known`, `${base}/own`];
    for (const root of [known, own]) Deno.mkdirSync(root);
    const markers = [{ path: `${known}/.agentclisecret`, lines: [{ tier: "no-cloud" as const, pattern: "f1" }] }];
    await ProjectRecord.open(place.home, known, { markers, endpoints: [] });
    const isProtected = await protectedAnywhere(place.home);
    const expected = [true, false, false];
    assert.deepEqual([`${known}/f1`, `${known}/open.txt`, `${own}/open.txt`].map(isProtected), expected);
  } finally {
    await Deno.remove(base, { recursive: true });
  }
});
