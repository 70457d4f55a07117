/**
 * The commands of the editor and protected files: none is copied to where an assistant reads it, and none is printed.
 */
import assert from "node:assert/strict";
import { done, editor } from "./helpers/editor_program.ts";
import { fileTree } from "./helpers/file_tree.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const SECRET = "correct-horse-battery-staple-42 and some more words of it";

const SKILL = "---\nname: sk\ndescription: A skill.\n---\n\nDo it.\n";

async function project(home: TemporaryHome): Promise<void> {
  await home.write(".agentclisecret", "no-cloud: sk/cred\nno-cloud: secrets\nno-cloud: .ide/rules\n");
  await home.write("sk/SKILL.md", SKILL);
  await home.write("sk/cred", SECRET);
  await home.write("secrets/s.md", `---\ndescription: d\n---\n${SECRET}\n`);
  await home.write("secrets/server.json", JSON.stringify({ command: "c", args: [SECRET] }));
}

for (
  const [what, words] of Object.entries({
    "a folder of a skill": ["add", "skill", "sk", "--dir", "sk"],
    "a rule": ["add", "rule", "r", "--file", "secrets/s.md"],
    "a workflow": ["add", "workflow", "w", "--file", "secrets/s.md"],
    "a skill of one file": ["add", "skill", "sk", "--file", "secrets/s.md"],
    "instructions": ["add", "instructions", "--file", "secrets/s.md"],
    "a server": ["add", "mcp", "s", "--file", "secrets/server.json"],
    "a persona": ["persona", "p", "--from", "secrets/s.md"],
    "a link to a rule": ["add", "rule", "r", "--file", "link.md"],
    "another name of a rule": ["add", "rule", "r", "--file", "hard.md"],
  })
) {
  Deno.test(`${what} with protected content is refused, and nothing of it is printed`, async () => {
    await using home = await temporaryHome();
    await project(home);
    await Deno.symlink("secrets/s.md", `${home.project}/link.md`);
    await Deno.link(`${home.project}/secrets/s.md`, `${home.project}/hard.md`);
    const before = fileTree(home.project);
    for (const more of [["--yes"], ["--dry-run"], ["--yes", "--json"]]) {
      const { code, stdout, stderr } = await editor(home, ...words, ...more);
      assert.equal(code, 6, stderr);
      assert.match(stdout + stderr, /is protected \(\.agentclisecret:\d/);
      assert.equal((stdout + stderr).includes("correct-horse"), false);
    }
    assert.deepEqual(fileTree(home.project), before);
  });
}

Deno.test("protected content from standard input is refused too, and a file of another project by its own marker", async () => {
  await using home = await temporaryHome();
  await project(home);
  const words = ["editor", "add", "rule", "r", "--file", "-", "--yes"];
  const piped = await runInProcess(words, { home, stdin: `Remember: ${SECRET}\n` });
  assert.equal(piped.code, 6, piped.stderr);
  await home.write("../other/.agentclisecret", "no-cloud: keys\n");
  await home.write("../other/keys/deep/k.md", "key\n");
  await home.write("../other/open.md", "Be brief.\n");
  assert.equal((await editor(home, "add", "rule", "r", "--file", "../other/keys/deep/k.md", "--yes")).code, 6);
  assert.equal((await editor(home, "add", "workflow", "r", "--file", "../other/open.md", "--yes")).code, 2);
  await done(home, "add", "workflow", "r", "--description", "d", "--file", "../other/open.md", "--yes");
});

Deno.test("the content of a protected file is not in plans, diffs and show", async () => {
  await using home = await temporaryHome();
  await project(home);
  await home.write(".ide/rules/own.md", `---\ntrigger: manual\n---\n${SECRET}\n`);
  await home.write("in.md", "Be brief.\n");
  for (
    const words of [
      ["show", "rule:own"],
      ["show", "rule:own", "--json"],
      ["plan"],
      ["remove", "--all", "--yes"],
    ]
  ) {
    const { stdout, stderr } = await done(home, ...words);
    assert.equal((stdout + stderr).includes("correct-horse"), false, words.join(" "));
  }
  assert.match(await home.read(".ide/rules/own.md"), /correct-horse/);
});

Deno.test("what is protected is shown by import by its name, and not adopted", async () => {
  await using home = await temporaryHome();
  await project(home);
  await home.write(".ide/rules/own.md", `---\ntrigger: manual\n---\n${SECRET}\n`);
  await home.write(".ide/skills/sk/SKILL.md", SKILL);
  assert.match((await done(home, "import")).stdout, /own .*cannot be adopted: it is protected/);
  assert.match((await done(home, "import", "--all")).stderr, /1 adopted/);
  assert.equal((await editor(home, "import", "--take", "rule:own")).code, 1);
  const ledger = await Deno.readTextFile(`${home.agentcliHome}/editor/ledger.json`);
  assert.equal(ledger.includes("rules/own.md"), false);
});

/** All that the home keeps of the editor, base64 read. */
function keptInHome(home: TemporaryHome): string {
  const texts: string[] = [];
  const waiting = [`${home.agentcliHome}/editor`];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const { name, isDirectory } of Deno.readDirSync(at)) {
      if (isDirectory) waiting.push(`${at}/${name}`);
      else texts.push(Deno.readTextFileSync(`${at}/${name}`));
    }
  }
  const text = texts.join("\n");
  const packed = text.match(/[A-Za-z0-9+/]{24,}={0,2}/g)?.filter((run) => run.length % 4 === 0) ?? [];
  return [text, ...packed.map((run) => new TextDecoder().decode(Uint8Array.fromBase64(run)))].join("\n");
}

for (
  const [what, { line, marker, isKept }] of Object.entries({
    "a copy of protected content": { line: SECRET, marker: "", isKept: false },
    "a protected file": { line: "words of nobody", marker: "no-cloud: AGENTS.md\n", isKept: false },
    "control, an open file": { line: "words of nobody", marker: "", isKept: true },
  })
) {
  Deno.test(`the home keeps no original with protected content, and it is still restored: ${what}`, async () => {
    await using home = await temporaryHome();
    await project(home);
    await home.write(".agentclisecret", `no-cloud: sk/cred\n${marker}`);
    const text = `# Notes\r\n\n${line}\n`;
    await home.write("AGENTS.md", text);
    await done(home, "init", "--yes");
    assert.ok((await Deno.readTextFile(`${home.project}/AGENTS.md`)).length > text.length, "ours was written into it");
    assert.equal(keptInHome(home).includes(line), isKept);
    await done(home, "remove", "--all", "--yes");
    assert.equal(await Deno.readTextFile(`${home.project}/AGENTS.md`), text);
  });
}

Deno.test("what holds a copy of protected content is not adopted: the ledger would hold it", async () => {
  await using home = await temporaryHome();
  await project(home);
  await home.write(".agentclisecret", "no-cloud: sk/cred\n");
  const hooks = { hooks: { pre_run_command: [{ command: "bash .ide/hooks/x.sh" }] } };
  await home.write(".ide/hooks.json", JSON.stringify(hooks));
  await home.write(".ide/hooks/x.sh", `echo ${SECRET}\n`);
  await home.write(".ide/workflows/copied.md", `---\ndescription: d\n---\n${SECRET}\n`);
  await home.write(".ide/workflows/open.md", "---\ndescription: d\n---\nSay the open words.\n");
  await done(home, "import", "--all");
  const kept = keptInHome(home);
  assert.ok(kept.includes("Say the open words."), "control: the open one is adopted");
  assert.equal(kept.includes(SECRET), false);
});

for (
  const [what, { path, text, words, marker }] of Object.entries({
    "a file with a copy": {
      path: ".ide/workflows/w.md",
      text: `---\ndescription: d\n---\n${SECRET}\n`,
      words: ["add", "workflow", "w", "--description", "d", "--file", "in.md"],
      marker: "",
    },
    "a protected file": {
      path: ".ide/workflows/w.md",
      text: "---\ndescription: d\n---\nwords of nobody\n",
      words: ["add", "workflow", "w", "--description", "d", "--file", "in.md"],
      marker: "no-cloud: .ide/workflows\n",
    },
    "a section with a copy": {
      path: "AGENTS.md",
      text: `<!-- agentcli:begin notes -->\n${SECRET}\n<!-- agentcli:end notes -->\n`,
      words: ["add", "instructions", "--file", "in.md"],
      marker: "",
    },
    "a server with a copy": {
      path: "../home/.vendor/ide/mcp_config.json",
      text: JSON.stringify({ mcpServers: { s: { command: "c", args: [SECRET] } } }),
      words: ["add", "mcp", "s", "--command", "c"],
      marker: "",
    },
  })
) {
  Deno.test(`what the home may not keep is not written over by force either: ${what}`, async () => {
    await using home = await temporaryHome();
    await project(home);
    await home.write(".agentclisecret", `no-cloud: sk/cred\n${marker}`);
    await home.write("in.md", "Be brief.\n");
    await home.write(path, text);
    for (const more of [["--yes"], ["--dry-run"], ["--yes", "--json"]]) {
      const { code, stdout, stderr } = await editor(home, ...words, "--force", ...more);
      assert.equal(code, 6, stderr);
      assert.match(stdout + stderr, /could not be given back/);
      assert.equal((stdout + stderr).includes("correct-horse"), false);
      assert.equal(await home.read(path), text);
      assert.doesNotMatch(keptInHome(home), /correct-horse|words of nobody/);
    }
    // Control: what nobody protects is written over, and comes back.
    await home.write(".agentclisecret", "no-cloud: none\n");
    await done(home, ...words, "--force", "--yes");
    assert.notEqual(await home.read(path), text);
    await done(home, "remove", "--all", "--yes");
    assert.equal(await home.read(path), text);
  });
}
