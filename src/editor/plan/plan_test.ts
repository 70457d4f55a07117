import assert from "node:assert/strict";
import { openHome } from "../../platform/home.ts";
import { applyChanges, planChanges } from "./apply.ts";
import { type Artifact, type Resource, textFile } from "../resources/artifact.ts";
import type { Wanted } from "./operations.ts";

async function place() {
  const root = await Deno.realPath(await Deno.makeTempDir());
  await Deno.mkdir(`${root}/project`);
  const home = await openHome({ env: () => `${root}/home`, os: "linux" });
  const base = `${root}/project`;
  const artifact = (name: string, resources: Resource[]): Artifact => ({
    kind: "hook",
    name,
    scope: "project",
    dialect: "ide",
    base,
    resources,
  });
  return {
    root,
    base,
    home,
    artifact,
    file: (name: string, text: string): Resource => textFile(`${base}/${name}`, text),
    item: (event: string, command: string, name = "hooks.json"): Resource => ({
      kind: "item",
      path: `${base}/${name}`,
      at: ["hooks", event],
      value: { command, powershell: `& ${command}` },
    }),
    read: (name: string) => Deno.readTextFile(`${base}/${name}`),
    write: (name: string, text: string) => Deno.writeTextFile(`${base}/${name}`, text),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

const wanted = (more: Partial<Wanted>): Wanted => ({ keep: () => true, ...more });

const FOREIGN = '// mine\r\n{ "hooks": { "pre_read_code": [ {"command": "theirs"} ] } // end\r\n}\r\n';

Deno.test("an artifact is added beside foreign content, a second run does nothing, and removing gives back every byte", async () => {
  await using at = await place();
  await at.write("hooks.json", FOREIGN);
  const guard = at.artifact("guard", [
    at.item("pre_read_code", "ours"),
    at.item("pre_run_command", "ours"),
    at.file("hooks/guard.sh", "exit 0\n"),
  ]);
  const plan = await applyChanges(at.home, wanted({ add: [guard] }));
  assert.deepEqual(plan.problems, []);
  assert.equal(plan.changes.length, 2);
  const installed = await at.read("hooks.json");
  assert.ok(
    installed.includes('{"command": "theirs"}') && installed.includes("// mine") && installed.includes("// end"),
  );
  assert.equal((await applyChanges(at.home, wanted({}))).changes.length, 0);
  assert.equal((await applyChanges(at.home, wanted({ add: [guard] }))).changes.length, 0);
  await applyChanges(at.home, wanted({ remove: [guard] }));
  assert.equal(await at.read("hooks.json"), FOREIGN);
  assert.deepEqual([...Deno.readDirSync(at.base)].map(({ name }) => name), ["hooks.json"]);
});

Deno.test("what others wrote in between stays when ours is removed, and no old copy comes back", async () => {
  await using at = await place();
  await at.write("hooks.json", "{}\n");
  const [one, two] = ["one", "two"].map((name) => at.artifact(name, [at.item("pre_read_code", name)]));
  assert.ok(one && two);
  await applyChanges(at.home, wanted({ add: [one] }));
  await at.write("hooks.json", (await at.read("hooks.json")).replace("{\n", '{\n  "theirs": 1, // later\n'));
  await applyChanges(at.home, wanted({ add: [two] }));
  await applyChanges(at.home, wanted({ remove: [one, two] }));
  assert.equal(await at.read("hooks.json"), '{\n  "theirs": 1 // later\n}\n');
});

Deno.test("a foreign entry and a change by hand are reported, and written over only when forced", async () => {
  await using at = await place();
  const rule = (text: string) => at.artifact("style", [at.file("style.md", text)]);
  await at.write("style.md", "theirs");
  const refused = await applyChanges(at.home, wanted({ add: [rule("ours")] }));
  assert.deepEqual(refused.problems.map(({ reason }) => reason), ["foreign"]);
  assert.equal(await at.read("style.md"), "theirs");
  await applyChanges(at.home, wanted({ add: [rule("ours")], force: true }));
  assert.equal(await at.read("style.md"), "ours");
  await at.write("style.md", "by hand");
  const kept = await applyChanges(at.home, wanted({ add: [rule("newer")] }));
  assert.deepEqual(kept.problems.map(({ reason }) => reason), ["changed"]);
  const left = await applyChanges(at.home, wanted({ remove: [rule("")] }));
  assert.deepEqual(left.problems.map(({ reason }) => reason), ["changed"]);
  assert.equal(await at.read("style.md"), "by hand");
});

Deno.test("what stood there already is not ours; adopted it is watched, and removed only when forced", async () => {
  await using at = await place();
  const rule = at.artifact("style", [at.file("style.md", "same")]);
  await at.write("style.md", "same");
  await applyChanges(at.home, wanted({ add: [rule] }));
  await applyChanges(at.home, wanted({ remove: [rule] }));
  assert.equal(await at.read("style.md"), "same");
  await applyChanges(at.home, wanted({ add: [rule], adopt: true }));
  const removal = await planChanges(at.home, wanted({ remove: [rule] }));
  assert.deepEqual([removal.changes, removal.givenBack, removal.artifacts], [[], ["hook:style"], []]);
  const forced = await planChanges(at.home, wanted({ remove: [rule], force: true }));
  assert.deepEqual(forced.changes.map(({ after }) => after), [null]);
});

Deno.test("what of others was written over or adopted comes back when ours goes, also beside later changes", async () => {
  await using at = await place();
  const theirs = '{"hooks": {"pre_read_code": [{"command": "ours", "show_output": true}]}}\n';
  for (const way of [{ force: true }, { adopt: true }]) {
    await at.write("hooks.json", theirs);
    const head = (text: string) => at.artifact("guard", [{ ...at.item("pre_read_code", "ours"), ...valueOf(text) }]);
    await applyChanges(at.home, wanted({ add: [head("force" in way ? "x" : "theirs")], ...way }));
    await applyChanges(at.home, wanted({ add: [head("newer")] }));
    assert.match(await at.read("hooks.json"), /newer/);
    await at.write("hooks.json", (await at.read("hooks.json")).replace('{"hooks"', '{"later": 1, "hooks"'));
    const plan = await applyChanges(at.home, wanted({ remove: [head("")] }));
    assert.deepEqual(plan.problems, []);
    const left = JSON.parse(await at.read("hooks.json"));
    assert.deepEqual(left, { later: 1, ...JSON.parse(theirs) });
    assert.deepEqual((await planChanges(at.home, wanted({}))).artifacts, []);
  }
});

/** Of an item: the entry of the others, or one with the same command line and another word in it. */
function valueOf(text: string): { value: unknown } {
  return { value: { command: "ours", ...(text === "theirs" ? { show_output: true } : { powershell: text }) } };
}

Deno.test("when one write fails, the others are undone and the ledger is as before", async () => {
  await using at = await place();
  await at.write("last.json", "{}");
  await Deno.chmod(`${at.base}/last.json`, 0o444);
  const both = at.artifact("both", [at.file("first.md", "x"), at.item("pre_read_code", "c", "last.json")]);
  await assert.rejects(applyChanges(at.home, wanted({ add: [both] })), /read-only; nothing was changed/);
  assert.equal(await Deno.stat(`${at.base}/first.md`).catch(() => null), null);
  assert.equal((await planChanges(at.home, wanted({}))).artifacts.length, 0);
});

for (
  const [what, text] of Object.entries({
    "no JSON": "{ hooks",
    "a list at the top": "[]",
    "a name twice": '{"hooks": {}, "hooks": {}}',
    "another type in the way": '{"hooks": 1}',
  })
) {
  Deno.test(`a file with ${what} is reported and stays as it is`, async () => {
    await using at = await place();
    await at.write("hooks.json", text);
    const plan = await applyChanges(at.home, wanted({ add: [at.artifact("g", [at.item("pre_read_code", "c")])] }));
    assert.deepEqual(plan.problems.map(({ reason }) => reason), ["unusable"]);
    assert.equal(await at.read("hooks.json"), text);
  });
}

Deno.test("nothing is written through a link, in the path or at its end", async () => {
  await using at = await place();
  await Deno.mkdir(`${at.root}/elsewhere`);
  await Deno.symlink(`${at.root}/elsewhere`, `${at.base}/hooks`);
  await Deno.symlink(`${at.root}/elsewhere/x.md`, `${at.base}/x.md`);
  const plan = await applyChanges(
    at.home,
    wanted({ add: [at.artifact("g", [at.file("hooks/a.sh", "x"), at.file("x.md", "x")])] }),
  );
  assert.equal(plan.problems.length, 2);
  assert.deepEqual([...Deno.readDirSync(`${at.root}/elsewhere`)], []);
});

Deno.test("a plan that was shown is not done when the disk has changed since", async () => {
  await using at = await place();
  const one = wanted({ add: [at.artifact("g", [at.item("pre_read_code", "c")])] });
  const expected = await planChanges(at.home, one);
  await at.write("hooks.json", "{}");
  await assert.rejects(applyChanges(at.home, one, { expected }), /changed since the plan/);
  assert.equal(await at.read("hooks.json"), "{}");
});

Deno.test("a damaged ledger stops everything and is left as it is", async () => {
  await using at = await place();
  await at.home.write("editor/ledger.json", "{");
  await assert.rejects(planChanges(at.home, wanted({})), /damaged/);
  assert.equal(await at.home.read("editor/ledger.json"), "{");
});

Deno.test("two processes that add to one file at the same time lose nothing", async () => {
  await using at = await place();
  const names = ["one", "two", "three", "four"];
  await Promise.all(
    names.map((name) => applyChanges(at.home, wanted({ add: [at.artifact(name, [at.item("pre_read_code", name)])] }))),
  );
  const { hooks } = JSON.parse(await at.read("hooks.json"));
  assert.deepEqual(hooks.pre_read_code.map(({ command }: { command: string }) => command).sort(), names.toSorted());
  assert.equal((await planChanges(at.home, wanted({}))).artifacts.length, 4);
});

Deno.test("a lost ledger makes everything foreign, and nothing is written twice", async () => {
  await using at = await place();
  const guard = at.artifact("guard", [at.item("pre_read_code", "ours"), at.file("a.sh", "x")]);
  await applyChanges(at.home, wanted({ add: [guard] }));
  const before = await at.read("hooks.json");
  await at.home.remove("editor/ledger.json");
  assert.deepEqual((await applyChanges(at.home, wanted({ add: [guard] }))).changes, []);
  assert.equal(await at.read("hooks.json"), before);
  await applyChanges(at.home, wanted({ remove: [guard] }));
  assert.equal(await at.read("hooks.json"), before);
  await applyChanges(at.home, wanted({ add: [guard], force: true }));
  await applyChanges(at.home, wanted({ remove: [guard] }));
  assert.equal((await at.read("hooks.json")).includes("ours"), false);
});

Deno.test("a stale ledger whose project is gone recreates nothing until asked", async () => {
  await using at = await place();
  const guard = at.artifact("guard", [at.file("deep/a.sh", "x")]);
  await applyChanges(at.home, wanted({ add: [guard] }));
  await Deno.remove(`${at.base}/deep`, { recursive: true });
  await applyChanges(at.home, wanted({ keep: () => false }));
  assert.equal(await Deno.stat(`${at.base}/deep`).catch(() => null), null);
  assert.deepEqual((await applyChanges(at.home, wanted({ remove: [guard] }))).problems, []);
});

Deno.test("a huge file, and one that is no text, are reported and stay", async () => {
  await using at = await place();
  await Deno.writeFile(`${at.base}/huge.json`, new Uint8Array(5 * 1024 * 1024).fill(32));
  await Deno.writeFile(`${at.base}/binary.json`, new Uint8Array([0x7b, 0xff, 0x7d]));
  for (const name of ["huge.json", "binary.json"]) {
    const plan = await applyChanges(
      at.home,
      wanted({ add: [at.artifact("g", [at.item("pre_read_code", "c", name)])] }),
    );
    assert.deepEqual(plan.problems.map(({ reason }) => reason), ["unusable"], name);
    assert.deepEqual(plan.changes, []);
  }
});

Deno.test("hooks that do the same nothing in PowerShell are distinguished, and one changed by hand is recognized", async () => {
  await using at = await place();
  const hook = (name: string) =>
    at.artifact(name, [{
      kind: "item",
      path: `${at.base}/hooks.json`,
      at: ["hooks", "pre_read_code"],
      value: { command: name, powershell: "exit 0" },
    }]);
  for (const name of ["one", "two"]) {
    assert.deepEqual((await applyChanges(at.home, wanted({ add: [hook(name)] }))).problems, []);
  }
  await at.write("hooks.json", (await at.read("hooks.json")).replace('"one"', '"by hand"'));
  const removed = await applyChanges(at.home, wanted({ remove: [hook("one"), hook("two")] }));
  assert.deepEqual(removed.problems.map(({ artifact, reason }) => `${artifact} ${reason}`), ["hook:one changed"]);
  assert.deepEqual(JSON.parse(await at.read("hooks.json")).hooks.pre_read_code.length, 1);
});

Deno.test("thousands of entries are adopted and removed in a few readings of their file, and others' stay", {
  timeout: 60_000,
}, async () => {
  await using at = await place();
  const entry = (name: string) => at.artifact(name, [at.item("pre_read_code", name)]);
  const mine = Array.from({ length: 4000 }, (_, index) => entry(`h${index}`));
  const lines = mine.map(({ name }) => `{"command": "${name}", "powershell": "& ${name}"}`);
  const text = (kept: string[]) => `{"hooks": {"pre_read_code": [ // all\n  ${kept.join(",\n  ")}\n]}}\n`;
  const theirs = '{"command": "theirs"}';
  await at.write("hooks.json", text([theirs, ...lines, theirs]));
  const taken = await applyChanges(at.home, wanted({ add: mine, keep: () => false, adopt: true }));
  assert.deepEqual([taken.changes, taken.problems], [[], []]);
  const removed = await applyChanges(at.home, wanted({ remove: mine.slice(1), keep: () => false, force: true }));
  assert.deepEqual(removed.problems, []);
  // One by one it takes more than a minute.
  assert.equal(await at.read("hooks.json"), text([theirs, ...lines.slice(0, 1), theirs]));
});
