import assert from "node:assert/strict";
import { transcriptHome } from "../../tests/helpers/transcripts.ts";
import { addProjectRules, readProjectRules, removeProjectRule } from "./project_file.ts";

const mayHoldProtected = (text: string) => Promise.resolve(text.includes("secret"));

Deno.test("rules hold in their own project, and are gone once removed", async () => {
  await using place = await transcriptHome();
  const { home } = place;
  assert.deepEqual(await readProjectRules(home, "/a"), []);
  await Promise.all([
    addProjectRules(home, { root: "/a", rules: ["Edit", "Bash(ls)"], mayHoldProtected }),
    addProjectRules(home, { root: "/b", rules: ["Write"], mayHoldProtected }),
    addProjectRules(home, { root: "/__proto__", rules: ["Write"], mayHoldProtected }),
  ]);
  await addProjectRules(home, { root: "/a", rules: ["Edit"], mayHoldProtected });
  assert.deepEqual(await readProjectRules(home, "/a"), ["Edit", "Bash(ls)"]);
  assert.deepEqual(await readProjectRules(home, "/a/sub"), []);
  assert.deepEqual(await readProjectRules(home, "__proto__"), []);
  assert.equal(await removeProjectRule(home, { root: "/a", rule: "Edit" }), true);
  assert.equal(await removeProjectRule(home, { root: "/a", rule: "Edit" }), false);
  assert.deepEqual(await readProjectRules(home, "/a"), ["Bash(ls)"]);
  assert.deepEqual(await readProjectRules(home, "/b"), ["Write"]);
});

Deno.test("a file of another form is an error that names it, and is not overwritten", async () => {
  await using place = await transcriptHome();
  const { home } = place;
  for (const text of ["{", "[]", '{"projects":{"/a":{"allow":[1]}}}', '{"projects":[]}']) {
    await home.write("permissions.json", text);
    await assert.rejects(readProjectRules(home, "/a"), /permissions\.json does not hold permission rules/);
    await assert.rejects(addProjectRules(home, { root: "/a", rules: ["Edit"], mayHoldProtected }), /does not hold/);
    assert.equal(await home.read("permissions.json"), text);
  }
});

Deno.test("rules that hold protected content are not stored", async () => {
  await using place = await transcriptHome();
  const { home } = place;
  const rules = ["Edit", "Bash(echo secret)"];
  await assert.rejects(addProjectRules(home, { root: "/a", rules, mayHoldProtected }), /it may hold protected content/);
  assert.deepEqual(await readProjectRules(home, "/a"), []);
});
