import assert from "node:assert/strict";
import { done, editor } from "./helpers/editor_program.ts";
import { fileTree } from "./helpers/file_tree.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const SECTION = "<!-- BEGIN other-tool -->\nUse tabs.\n<!-- END other-tool -->";

/** What another installer and a person wrote: every kind, some of it wrong. */
async function foreignProject(home: TemporaryHome): Promise<void> {
  await home.write("AGENTS.md", `# By hand\r\n\r\n${SECTION.replaceAll("\n", "\r\n")}\r\n`);
  await home.write(".ide/rules/style.md", "---\ntrigger: manual\n---\n\nx\n");
  await home.write(".ide/rules/My Rule.md", "no frontmatter\n");
  await home.write("packages/api/.ide/rules/style.md", "---\ntrigger: always_on\n---\n\nnested\n");
  await home.write(".ide/workflows/ship.md", "---\ndescription: d\n---\n\n1. x\n");
  await home.write(".ide/skills/check/SKILL.md", "---\nname: check\ndescription: d\n---\nx\n");
  await Deno.chmod(await home.write(".ide/skills/check/scripts/run.sh", "exit 0\n"), 0o755);
  await home.write(
    ".ide/hooks.json",
    `{\n\t// theirs\n\t"hooks": {"post_write_code": [{"command": "bash '.ide/hooks/format.sh' x"}],\n` +
      `\t\t"post_read_code": [{"command": "bash '.ide/hooks/format.sh' y"}, {"powershell": 1}]}\n}\n`,
  );
  await Deno.chmod(await home.write(".ide/hooks/format.sh", "exit 0\n"), 0o755);
  await Deno.mkdir(`${home.home}/.vendor/ide/memories`, { recursive: true });
  await Deno.writeTextFile(
    `${home.home}/.vendor/ide/mcp_config.json`,
    '{"mcpServers":{"theirs":{"command":"x"},"keyed":{"serverUrl":"http://x.test","headers":{"X-API-Key":"abcdefgh"}}}}',
  );
  await Deno.writeTextFile(`${home.home}/.vendor/ide/memories/global_rules.md`, `memory\n\n${SECTION}\n`);
}

interface Shown {
  kind: string;
  name: string;
  scope: string;
  path: string;
  files: string[];
  events: string[];
  valid: boolean;
  can_be_taken: boolean;
}

async function shown(home: TemporaryHome, ...words: string[]): Promise<Shown[]> {
  return JSON.parse((await done(home, "import", ...words, "--json")).stdout).artifacts;
}

Deno.test("import shows kind, name, scope, file and whether it is valid of all that others wrote, and changes nothing", async () => {
  await using home = await temporaryHome();
  await foreignProject(home);
  const before = fileTree(home.root);
  const found = await shown(home);
  const rows = found.map(({ kind, name, scope, valid, can_be_taken }) =>
    [kind, name, scope, valid ? "valid" : "wrong", can_be_taken ? "" : "stays"].join(" ").trim()
  );
  assert.deepEqual(rows.sort(), [
    "hook format project valid",
    "hook post-read-code project wrong",
    "instructions (text) project valid stays",
    "instructions (text) user valid stays",
    "instructions other-tool project valid",
    "instructions other-tool user valid",
    "mcp keyed user wrong stays",
    "mcp theirs user valid",
    "rule my-rule project wrong",
    "rule style project valid",
    "rule style-2 project valid",
    "skill check project valid",
    "workflow ship project valid",
  ]);
  const hook = found.find(({ name }) => name === "format");
  assert.deepEqual(hook?.events, ["post_write_code", "post_read_code"]);
  assert.deepEqual(hook?.files, [`${home.project}/.ide/hooks/format.sh`, `${home.project}/.ide/hooks.json`]);
  assert.deepEqual(found.find(({ kind }) => kind === "skill")?.files.length, 2);
  const table = (await done(home, "import")).stdout;
  assert.match(table, /rule +my-rule +project +\.ide\/rules\/My Rule\.md +it has no trigger/);
  assert.equal(table.includes("abcdefgh"), false);
  for (const refused of [["--take"], ["--take", "rule:none"], ["--all", "rule:style"]]) {
    assert.equal((await editor(home, "import", ...refused)).code, 2, refused.join(" "));
  }
  assert.deepEqual(fileTree(home.root), before);
});

/** Of each kind: what is taken, and a file of it that is changed by hand, and how it is upgraded. */
const TAKEN: Readonly<Record<string, { file: string; by: readonly [string, string]; add?: readonly string[] }>> = {
  "rule:style": {
    file: ".ide/rules/style.md",
    by: ["x\n", "y\n"],
    add: ["rule", "style", "--file", "new.md"],
  },
  "rule:style-2": { file: "packages/api/.ide/rules/style.md", by: ["nested", "other"] },
  "workflow:ship": {
    file: ".ide/workflows/ship.md",
    by: ["1.", "2."],
    add: ["workflow", "ship", "--file", "new.md", "--description", "e"],
  },
  "skill:check": { file: ".ide/skills/check/scripts/run.sh", by: ["0", "1"] },
  "hook:format": { file: ".ide/hooks/format.sh", by: ["0", "1"] },
  "mcp:theirs": {
    file: "../home/.vendor/ide/mcp_config.json",
    by: ['"command":"x"', '"command":"x","args":[]'],
    add: ["mcp", "theirs", "--command", "other"],
  },
  "instructions:other-tool": { file: "AGENTS.md", by: ["tabs", "spaces"] },
};

for (const [word, { file, by, add }] of Object.entries(TAKEN)) {
  Deno.test(`${word}, adopted, is watched and restored, and remove gives back every byte`, async () => {
    await using home = await temporaryHome();
    await foreignProject(home);
    const before = fileTree(home.root);
    assert.match((await done(home, "import", "--take", word)).stderr, /[12] adopted; no file was changed/);
    assert.deepEqual(fileTree(home.root), before);
    const ids = async () => (await shown(home)).map(({ kind, name }) => `${kind}:${name}`);
    assert.equal((await ids()).includes(word), false);
    const original = await home.read(file);
    await home.write(file, original.replace(...by));
    const checked = await editor(home, "check");
    assert.match(checked.stdout, /it was changed by hand since it was installed/);
    assert.equal((await editor(home, "apply", "--yes")).code, 1);
    assert.equal(await home.read(file), original.replace(...by));
    await home.write(file, original);
    if (add !== undefined) {
      await home.write("new.md", "newer\n");
      await done(home, "add", ...add, "--yes");
      assert.notEqual(await home.read(file), original);
      await Deno.remove(`${home.project}/new.md`);
    } else if (!word.startsWith("instructions")) {
      await Deno.remove(`${home.project}/${file}`);
      await done(home, "apply", "--yes");
    }
    const removed = await done(home, "remove", word, "--yes");
    assert.match(removed.stderr, /was adopted, so it stays/);
    assert.deepEqual(fileTree(home.root), before);
    assert.ok((await ids()).includes(word));
  });
}

Deno.test("everything can be adopted at once, is as it should be then, and is removed for good only when forced", async () => {
  await using home = await temporaryHome();
  await foreignProject(home);
  await home.write(".ide/rules/My Rule.md", "---\ntrigger: manual\n---\n\nx\n");
  const before = fileTree(home.root);
  const taken = JSON.parse((await done(home, "import", "--all", "--json")).stdout);
  assert.deepEqual([taken.taken, taken.not_taken], [10, []]);
  assert.deepEqual((await shown(home)).map(({ name }) => name), ["(text)", "keyed", "(text)"]);
  const findings = JSON.parse((await editor(home, "check", "--json")).stdout).findings;
  assert.deepEqual(findings.map(({ kind }: { kind: string }) => kind), ["rule", "rule"]);
  await done(home, "remove", "--all", "--yes");
  assert.deepEqual(fileTree(home.root), before);
  await done(home, "import", "--all");
  await done(home, "remove", "--all", "--force", "--yes");
  assert.equal(await home.read("AGENTS.md"), "# By hand\r\n");
  assert.deepEqual(JSON.parse((await home.read(".ide/hooks.json")).replace("// theirs", "")), {
    hooks: { post_write_code: [], post_read_code: [] },
  });
  assert.equal([...fileTree(home.project).keys()].filter((path) => /rules\/.*md|SKILL|format/.test(path)).length, 0);
});

Deno.test("what was adopted is not run by the doctor: it is still as others wrote it", async () => {
  await using home = await temporaryHome();
  const ran = `${home.root}/ran`;
  const hook = (line: string) => JSON.stringify({ hooks: { post_read_code: [{ command: line, powershell: "x" }] } });
  await home.write(".ide/hooks.json", hook(`touch '${ran}'`));
  await done(home, "import", "--all");
  const finished = await editor(home, "doctor");
  assert.match(finished.stdout, /post_read_code/);
  assert.equal(await Deno.stat(ran).catch(() => null), null);
  await done(home, "doctor", "--foreign");
  assert.ok(await Deno.stat(ran));
});

Deno.test("a file that was adopted whole is given back with no section of ours in it", async () => {
  await using home = await temporaryHome();
  await home.write(".ide-rules", "theirs\n");
  await home.write("in.md", "Use names.\n");
  await done(home, "import", "--all");
  await done(home, "add", "instructions", ".ide-rules", "--file", "in.md", "--yes");
  assert.match(await home.read(".ide-rules"), /^theirs\n[^]*Use names\./);
  const { stderr } = await done(home, "remove", "--all", "--yes");
  assert.match(stderr, /rule:ide-rules was adopted, so it stays/);
  assert.equal(await home.read(".ide-rules"), "theirs\n");
});

Deno.test("hooks of the editor's other agent are shown with what runs them, and never written, shadowed or adopted", async () => {
  await using home = await temporaryHome();
  const text =
    '{\n  "PreToolUse": [ { "matcher": "^exec$", "hooks": [ { "type": "command", "command": "./guard.sh" } ] } ],\n' +
    '  "Stop": [ { "hooks": [ { "type": "command" } ] } ]\n}\n';
  await home.write(".devin/hooks.v1.json", text);
  const listed = JSON.parse((await done(home, "list", "--json")).stdout);
  assert.equal(listed.dialect, "devin");
  assert.deepEqual(
    listed.artifacts.map(({ name, event, otherAgent }: Record<string, unknown>) => [name, event, otherAgent]),
    [["guard", "PreToolUse", true], ["stop", "Stop", true]],
  );
  const table = (await done(home, "list")).stdout;
  assert.match(table, /PreToolUse: guard \(project, other agent\)/);
  const checked = await editor(home, "check");
  assert.equal(checked.code, 1);
  assert.match(checked.stdout, /hooks\.v1\.json: hook stop: it has no command line/);
  assert.match(checked.stderr, /hooks\.v1\.json is run by the editor's other agent/);
  const refused = await editor(home, "import", "--take", "hook:guard");
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /files of the editor's other agent are only read/);
  await done(home, "add", "hook", "audit-log", "--yes");
  assert.match(await home.read(".devin/hooks.json"), /audit-log/);
  assert.equal(await home.read(".devin/hooks.v1.json"), text);
  await done(home, "remove", "--all", "--yes");
  assert.deepEqual([...fileTree(home.project).keys()], [
    `${home.project}/.devin/`,
    `${home.project}/.devin/hooks.v1.json`,
  ]);
});

Deno.test("entries that are equal are one to adopt, and thousands of entries are not compared with each other", {
  timeout: 60_000,
}, async () => {
  await using home = await temporaryHome();
  const hooks = (count: number, line: (at: number) => string) =>
    JSON.stringify({ hooks: { pre_read_code: Array.from({ length: count }, (_, at) => ({ command: line(at) })) } });
  await home.write(".ide/hooks.json", hooks(2000, () => "bash same.sh"));
  const { artifacts } = JSON.parse((await done(home, "import", "--json")).stdout);
  assert.deepEqual(artifacts.map(({ name, events }: { name: string; events: string[] }) => [name, events]), [
    ["same", ["pre_read_code"]],
  ]);
  assert.match((await done(home, "import", "--all")).stderr, /1 adopted/);
  assert.match((await done(home, "import")).stderr, /nothing to import/);
  await home.write(".ide/hooks.json", hooks(20_000, (at) => `bash same.sh ${at}`));
  assert.equal(JSON.parse((await done(home, "import", "--json")).stdout).artifacts.length, 20_000);
  await done(home, "list");
  // Some seconds at most; a minute for 2,000 of them when each is compared with each.
});

Deno.test("import, check and doctor report a file of servers in the project, which the editor does not read", async () => {
  for (const [dialect, file] of [["devin", ".devin"], ["windsurf", ".windsurf"], ["ide", ".ide"]] as const) {
    await using home = await temporaryHome();
    const path = `${file}/mcp_config.json`;
    await home.write(path, '{"mcpServers": {"theirs": {"command": "x", "env": {"API_KEY": "abcdefgh12345678"}}}}');
    for (const command of ["import", "check", "doctor"]) {
      const { stdout, stderr } = await editor(home, command, "--dialect", dialect);
      assert.ok((stdout + stderr).includes(`${path} is there`), command + stdout + stderr);
      assert.equal((stdout + stderr).includes("abcdefgh"), false);
    }
  }
});
