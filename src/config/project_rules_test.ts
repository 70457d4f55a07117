import assert from "node:assert/strict";
import { transcriptHome } from "../../tests/helpers/transcripts.ts";
import { addProjectRules, readProjectRules, removeProjectRule } from "./project_rules.ts";

Deno.test("rules hold in their own project, and go when they are taken back", async () => {
  await using place = await transcriptHome();
  const { home } = place;
  assert.deepEqual(await readProjectRules(home, "/a"), []);
  await Promise.all([
    addProjectRules(home, { root: "/a", rules: ["Edit", "Bash(ls)"] }),
    addProjectRules(home, { root: "/b", rules: ["Write"] }),
    addProjectRules(home, { root: "/__proto__", rules: ["Write"] }),
  ]);
  await addProjectRules(home, { root: "/a", rules: ["Edit"] });
  assert.deepEqual(await readProjectRules(home, "/a"), ["Edit", "Bash(ls)"]);
  assert.deepEqual(await readProjectRules(home, "/a/sub"), []);
  assert.deepEqual(await readProjectRules(home, "__proto__"), []);
  assert.equal(await removeProjectRule(home, { root: "/a", rule: "Edit" }), true);
  assert.equal(await removeProjectRule(home, { root: "/a", rule: "Edit" }), false);
  assert.deepEqual(await readProjectRules(home, "/a"), ["Bash(ls)"]);
  assert.deepEqual(await readProjectRules(home, "/b"), ["Write"]);
});

Deno.test("a file that is none of ours is an error that names it, and is not written over", async () => {
  await using place = await transcriptHome();
  const { home } = place;
  for (const text of ["{", "[]", '{"projects":{"/a":{"allow":[1]}}}', '{"projects":[]}']) {
    await home.write("permissions.json", text);
    await assert.rejects(readProjectRules(home, "/a"), /permissions\.json does not hold permission rules/);
    await assert.rejects(addProjectRules(home, { root: "/a", rules: ["Edit"] }), /does not hold/);
    assert.equal(await home.read("permissions.json"), text);
  }
});
