import assert from "node:assert/strict";
import { done, editor } from "./helpers/editor_program.ts";
import { fileTree } from "./helpers/file_tree.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

/** Words that say that the program broke rather than that it refused. */
const BROKEN = /internal|TypeError|SyntaxError|\bat file:|panicked|undefined/;

const HOOK = ["--event", "pre_read_code", "--command", "true", "--powershell", "exit 0"] as const;

/** All that a person may try on a file that cannot be used: each says so, and none of them touches it. */
async function tryEverything(home: TemporaryHome, add: readonly string[], { says }: { says: RegExp }): Promise<void> {
  const before = fileTree(home.root);
  const added = await editor(home, "add", ...add, "--yes");
  assert.equal(added.code, 1, added.stderr);
  assert.match(added.stderr, says);
  for (
    const command of [["list"], ["check"], ["plan"], ["apply", "--yes"], ["import"], ["import", "--all"], [
      "remove",
      "--all",
      "--yes",
    ]]
  ) {
    const { code, stdout, stderr } = await editor(home, ...command);
    assert.ok(code === 0 || code === 1, `${command.join(" ")}: ${code} ${stderr}`);
    assert.doesNotMatch(stdout + stderr, BROKEN, command.join(" "));
  }
  const checked = await editor(home, "check");
  assert.equal(checked.code, 1, "check passes a file that cannot be used");
  await editor(home, "add", ...add, "--force", "--yes");
  assert.deepEqual(fileTree(home.root), before);
}

const BAD_JSON: Readonly<Record<string, { content: string | Uint8Array; says: RegExp }>> = {
  "does not parse": { content: '{"hooks": {', says: /line 1: / },
  "is a list": { content: "[]", says: /there is a value where/ },
  "has a name twice": { content: '{"hooks": {}, "mcpServers": {}, "hooks": {}, "mcpServers": {}}', says: /twice/ },
  "has an entry twice": {
    content: '{"hooks": {"pre_read_code": [], "pre_read_code": []}, "mcpServers": {"s": {}, "s": {}}}',
    says: /twice/,
  },
  "has another type": { content: '{"hooks": 1, "mcpServers": "x"}', says: /there is a value where/ },
  "is huge": { content: new Uint8Array(5 * 1024 * 1024).fill(32), says: /larger than 4 MiB/ },
  "is no text": { content: new Uint8Array([0x7b, 0xff, 0x7d]), says: /not UTF-8 text/ },
  "is nested too deeply": { content: `{"hooks": ${"[".repeat(200)}${"]".repeat(200)}}`, says: /nested too deeply/ },
};

for (const [what, { content, says }] of Object.entries(BAD_JSON)) {
  Deno.test(`a hooks file that ${what} is reported by every command and keeps every byte`, async () => {
    await using home = await temporaryHome();
    await home.write(".ide/hooks.json", content);
    await tryEverything(home, ["hook", "own", ...HOOK], { says });
  });

  Deno.test(`a file of servers that ${what} is reported and keeps every byte`, async () => {
    await using home = await temporaryHome();
    const text = typeof content === "string" ? content.replace(/^\{"hooks": \[/, '{"mcpServers": [') : content;
    await home.write("../home/.vendor/ide/mcp_config.json", text);
    const before = fileTree(home.root);
    for (const force of [[], ["--force"]]) {
      const added = await editor(home, "add", "mcp", "s", "--command", "c", "--yes", ...force);
      assert.equal(added.code, 1, added.stderr);
      assert.match(added.stderr, says);
    }
    assert.equal((await editor(home, "check")).code, 1, "check passes a file that cannot be used");
    assert.deepEqual(fileTree(home.root), before);
  });
}

for (
  const [what, content] of Object.entries({
    "begin twice": "<!-- agentcli:begin notes -->\n<!-- agentcli:begin notes -->\n<!-- agentcli:end notes -->\n",
    "have no end": "# x\n<!-- agentcli:begin notes -->\ntext\n",
    "end before they begin": "<!-- agentcli:end notes -->\n<!-- agentcli:begin notes -->\n",
  })
) {
  Deno.test(`instructions whose marks ${what} are reported and keep every byte`, async () => {
    await using home = await temporaryHome();
    await home.write("in.md", "text\n");
    await home.write("AGENTS.md", content);
    const before = fileTree(home.root);
    for (const force of [[], ["--force"]]) {
      const added = await editor(home, "add", "instructions", "--file", "in.md", "--yes", ...force);
      assert.equal(added.code, 1);
      assert.match(added.stderr, /the marks of the section "notes" are not one pair/);
    }
    assert.deepEqual(fileTree(home.root), before);
  });
}

for (
  const [what, content] of Object.entries({
    "CRLF and tabs": '{\r\n\t"hooks": {\r\n\t\t"stop": []\r\n\t}\r\n}\r\n',
    "a byte order mark": '\ufeff{"hooks": {}}',
    "comments and trailing commas": '// a\n{ /* b */ "hooks": { // c\n  }, // d\n}\n// e',
    "white space alone": " \n\t\n",
    "nothing": "",
    "no line end": '{"other": [1,2,\n3]}',
    "numbers that no computer holds": '{"big": 123456789012345678901234567890, "exact": 1.10, "e": 1E+2}\n',
  })
) {
  Deno.test(`a hooks file with ${what} takes an entry beside what is there, and is given back to the byte`, async () => {
    await using home = await temporaryHome();
    await home.write(".ide/hooks.json", content);
    await done(home, "add", "hook", "own", ...HOOK, "--yes");
    const written = await home.read(".ide/hooks.json");
    for (const line of content.split("\n").map((one) => one.trim().replace(/[{},]+$/, ""))) {
      assert.ok(written.includes(line.trim()), `${line} in ${written}`);
    }
    assert.equal(/[^\r]\n/.test(written), !content.includes("\r\n"));
    await done(home, "remove", "hook:own", "--yes");
    assert.equal(await home.read(".ide/hooks.json"), content);
  });
}

for (
  const [what, make] of Object.entries({
    "the editor's directory": (home: TemporaryHome) => Deno.symlink("../elsewhere", `${home.project}/.ide`),
    "the directory of rules": async (home: TemporaryHome) => {
      await Deno.mkdir(`${home.project}/.ide`);
      await Deno.symlink("../../elsewhere", `${home.project}/.ide/rules`);
    },
    "the file itself": async (home: TemporaryHome) => {
      await Deno.mkdir(`${home.project}/.ide/rules`, { recursive: true });
      await Deno.symlink("../../../elsewhere/target.md", `${home.project}/.ide/rules/style.md`);
    },
    "a file that is not there": async (home: TemporaryHome) => {
      await Deno.mkdir(`${home.project}/.ide/rules`, { recursive: true });
      await Deno.symlink("../../../elsewhere/none.md", `${home.project}/.ide/rules/style.md`);
    },
  })
) {
  Deno.test(`nothing is written through a link at the place of ${what}`, async () => {
    await using home = await temporaryHome();
    await Deno.mkdir(`${home.root}/elsewhere`);
    await Deno.writeTextFile(`${home.root}/elsewhere/target.md`, "theirs\n");
    await home.write("in.md", "text\n");
    await make(home);
    const before = fileTree(home.root);
    for (const force of [[], ["--force"]]) {
      const added = await editor(home, "add", "rule", "style", "--file", "in.md", "--yes", ...force);
      assert.equal(added.code, 1, added.stderr);
      assert.match(added.stderr, /is a link; nothing is written through links/);
    }
    assert.deepEqual(fileTree(home.root), before);
  });
}

Deno.test("a file that is made a link after it was written is neither upgraded nor removed through it", async () => {
  await using home = await temporaryHome();
  await home.write("in.md", "text\n");
  await done(home, "add", "rule", "style", "--file", "in.md", "--yes");
  const elsewhere = `${home.root}/elsewhere.md`;
  await Deno.rename(`${home.project}/.ide/rules/style.md`, elsewhere);
  await Deno.symlink(elsewhere, `${home.project}/.ide/rules/style.md`);
  const before = fileTree(home.root);
  assert.equal((await editor(home, "check")).code, 1);
  assert.equal((await editor(home, "apply", "--yes")).code, 1);
  assert.equal((await editor(home, "remove", "--all", "--force", "--yes")).code, 1);
  assert.deepEqual(fileTree(home.root), before);
});

Deno.test("a read-only file is not written, and what was written beside it is undone", async () => {
  await using home = await temporaryHome();
  const path = await home.write(".ide/hooks.json", "{}\n");
  await Deno.chmod(path, 0o444);
  const before = fileTree(home.root);
  const added = await editor(home, "add", "hook", "no-cloud-guard", "--yes");
  assert.equal(added.code, 2);
  assert.match(added.stderr, /hooks\.json is read-only; nothing was changed\n +make it writable/);
  assert.deepEqual(fileTree(home.root), before);
  await Deno.chmod(path, 0o644);
  await done(home, "add", "hook", "no-cloud-guard", "--yes");
  await Deno.chmod(path, 0o444);
  const during = fileTree(home.root);
  assert.equal((await editor(home, "remove", "--all", "--yes")).code, 2);
  assert.deepEqual(fileTree(home.root), during);
});

Deno.test("an entry that was changed by hand is reported by every command, stays, and goes only when forced", async () => {
  await using home = await temporaryHome();
  await done(home, "add", "hook", "own", ...HOOK, "--yes");
  await done(home, "add", "mcp", "s", "--command", "c", "--yes");
  const edit = async (name: string, from: string, to: string) => {
    await home.write(name, (await home.read(name)).replace(from, to));
  };
  const servers = "../home/.vendor/ide/mcp_config.json";
  await edit(".ide/hooks.json", '"exit 0"', '"exit 1" /* mine */');
  await edit(servers, '"c"', '"mine"');
  const before = fileTree(home.root);
  const findings = JSON.parse((await editor(home, "check", "--json")).stdout).findings;
  assert.deepEqual(findings.map(({ kind }: { kind: string }) => kind), ["changed", "changed"]);
  for (
    const command of [["apply"], ["remove", "hook:own"], ["remove", "--all"], ["add", "mcp", "s", "--command", "d"]]
  ) {
    const finished = await editor(home, ...command, "--yes");
    assert.equal(finished.code, 1, command.join(" "));
    assert.match(finished.stderr, /it was changed by hand since it was installed/);
  }
  assert.deepEqual(fileTree(home.root), before);
  await done(home, "remove", "--all", "--force", "--yes");
  assert.deepEqual([...fileTree(home.project).keys()], []);
});

/** Names that are paths, devices, options, or twins of another on some disk. */
const NAMES = [
  "../x",
  "..",
  ".",
  "a/b",
  "a\\b",
  "/etc/x",
  "CON",
  "nul.md",
  "x.",
  "x ",
  "",
  "a".repeat(65),
  "x\ny",
  "\u001b[31m",
  "Style",
  "e\u0301",
  "\uff41",
  "x:y",
  "~",
  "%2e%2e",
];

for (const kind of ["rule", "workflow", "skill", "hook", "mcp"]) {
  Deno.test(`no name of a ${kind} leaves its place`, async () => {
    await using home = await temporaryHome();
    await home.write("in.md", "---\nname: x\ndescription: d\n---\nx\n");
    const before = fileTree(home.root);
    const more = kind === "hook" ? HOOK : kind === "mcp" ? ["--command", "c"] : ["--file", "in.md"];
    // One process for each name costs most of the time; those that a shell or a path would change are in each kind.
    for (const name of kind === "rule" ? NAMES : NAMES.slice(0, 7)) {
      const { code, stderr, stdout } = await editor(home, "add", kind, "--yes", ...more, "--", name);
      assert.equal(code, 2, `${JSON.stringify(name)}: ${stdout}${stderr}`);
      // deno-lint-ignore no-control-regex -- it is what must not be there
      assert.doesNotMatch(stderr, /\u001b/);
    }
    assert.deepEqual(fileTree(home.root), before);
  });
}

Deno.test("instructions and skills cannot leave their place by what they name or bundle", async () => {
  await using home = await temporaryHome();
  await home.write("in.md", "x\n");
  await home.write("skill/SKILL.md", "---\nname: mine\ndescription: d\n---\nx\n");
  await Deno.symlink("/etc/passwd", `${home.project}/skill/link`);
  const before = fileTree(home.root);
  for (
    const add of [
      ["instructions", "../elsewhere", "--file", "in.md"],
      ["instructions", "/tmp", "--file", "in.md"],
      ["skill", "mine", "--dir", "skill"],
      ["skill", "other", "--file", "skill/SKILL.md"],
      ["rule", "x", "--file", "skill"],
    ]
  ) {
    const added = await editor(home, "add", ...add, "--yes");
    assert.equal(added.code, 2, add.join(" "));
    assert.doesNotMatch(added.stderr, BROKEN);
  }
  assert.deepEqual(fileTree(home.root), before);
});

const FRONT = "---\ntrigger: always_on\n---\n\n";

for (
  const { what, limit, add, around } of [
    { what: "a rule", limit: 12_000, add: ["rule", "long"], around: FRONT.length + 1 },
    {
      what: "a workflow",
      limit: 12_000,
      add: ["workflow", "long", "--description", "d"],
      around: "---\ndescription: d\n---\n\n".length + 1,
    },
    {
      what: "the global rules",
      limit: 6_000,
      add: ["rule", "long", "--scope", "user"],
      around: "<!-- agentcli:begin long -->\n".length + "\n<!-- agentcli:end long -->\n".length,
    },
  ]
) {
  Deno.test(`${what} may have ${limit} characters, emoji counted once, and not one more`, async () => {
    await using home = await temporaryHome();
    await home.write("fits.md", "😀".repeat(limit - around));
    await home.write("long.md", "😀".repeat(limit - around + 1));
    const before = fileTree(home.root);
    const refused = await editor(home, "add", ...add, "--file", "long.md", "--yes");
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, new RegExp(`it has ${limit + 1} characters; the editor takes at most ${limit}`));
    assert.deepEqual(fileTree(home.root), before);
    await done(home, "add", ...add, "--file", "fits.md", "--yes");
    assert.equal((await editor(home, "check")).code, 0);
  });
}

Deno.test("when the ledger is lost everything is others', is adopted again by import, and goes when forced", async () => {
  await using home = await temporaryHome();
  const empty = fileTree(home.root);
  await done(home, "init", "--yes");
  const installed = fileTree(home.root);
  await Deno.remove(`${home.agentcliHome}/editor`, { recursive: true });
  assert.equal((await editor(home, "remove", "hook:no-cloud-guard", "--yes")).code, 2);
  await done(home, "init", "--yes");
  assert.deepEqual(fileTree(home.root), installed);
  const taken = JSON.parse((await done(home, "import", "--all", "--json")).stdout);
  assert.deepEqual(taken.artifacts.map(({ kind, name }: { kind: string; name: string }) => `${kind}:${name}`).sort(), [
    "hook:no-cloud-guard",
    "instructions:agentcli",
    "skill:local-model",
    "workflow:agentcli-check",
  ]);
  await done(home, "check");
  await done(home, "remove", "--all", "--force", "--yes");
  const left = [...fileTree(home.root).keys()].filter((path) => !empty.has(path));
  // Who made the empty directories and the bare files is lost with the ledger.
  assert.deepEqual(left.filter((path) => !path.endsWith("/")).map((path) => path.slice(home.project.length)), [
    "/.ide/hooks.json",
    "/AGENTS.md",
  ]);
});

Deno.test("a damaged ledger stops every change, is left as it is, and says what to do", async () => {
  await using home = await temporaryHome();
  await done(home, "init", "--yes");
  const path = `${home.agentcliHome}/editor/ledger.json`;
  const text = await Deno.readTextFile(path);
  const before = fileTree(home.root);
  for (
    const damage of [
      text.slice(0, text.length / 2),
      "",
      "[]",
      text.replace('"version": 1', '"version": 2'),
      text.replace('"kind": "file"', '"kind": "other"'),
    ]
  ) {
    await Deno.writeTextFile(path, damage);
    for (const command of [["list"], ["check"], ["plan"], ["apply", "--yes"], ["remove", "--all", "--yes"]]) {
      const { code, stderr } = await editor(home, ...command);
      assert.notEqual(code, 0, `${command.join(" ")} of ${damage.slice(0, 20)}`);
      assert.match(stderr, /ledger\.json is damaged; nothing was changed\n +move it away/);
    }
    assert.equal(await Deno.readTextFile(path), damage);
  }
  assert.deepEqual(fileTree(home.root), before);
});

Deno.test("a ledger of a project that is gone or moved changes nothing elsewhere", async () => {
  await using home = await temporaryHome();
  await done(home, "init", "--yes");
  await Deno.rename(home.project, `${home.root}/moved`);
  await Deno.mkdir(home.project);
  const before = fileTree(home.root);
  const inMoved = (...words: string[]) => runInProcess(["editor", ...words], { home, cwd: `${home.root}/moved` });
  assert.equal((await inMoved("apply", "--yes")).stderr, "nothing to change\n");
  assert.equal((await inMoved("remove", "--all", "--yes")).code, 0);
  assert.equal((await inMoved("check")).code, 0);
  assert.deepEqual(fileTree(home.root), before);
  // At the old place everything is missing, which is reported, and recreated when asked.
  assert.equal((await editor(home, "check")).code, 1);
  await done(home, "remove", "--all", "--yes");
  assert.deepEqual(fileTree(home.root), before);
});

Deno.test("instructions go into no file of git, into none of another kind, and scaffolds take only what they know", async () => {
  await using home = await temporaryHome();
  await home.write("in.md", "text\n");
  await home.write("README.md", "text\n");
  await home.write(".git/HEAD", "ref: refs/heads/main\n");
  const before = fileTree(home.project);
  for (
    const [words, says] of [
      [["instructions", "AGENTS.md", "--file", "in.md"], /it is a file\n.*name the directory/],
      [["instructions", "sub/AGENTS.md", "--file", "in.md"], /it is a file/],
      [["instructions", "README.md", "--file", "in.md"], /it is a file/],
      [["instructions", ".git", "--file", "in.md"], /it belongs to git/],
      [["instructions", "sub/.GIT/hooks", "--file", "in.md"], /it belongs to git/],
      [["instructions", ".windsurfrules", "--file", "in.md"], /--dialect windsurf/],
      [["hook", "audit-log", "--set", "log=evil"], /log is home or project/],
      [["hook", "session-note", "--set", "file=../notes.md"], /lies in the project/],
      [["hook", "session-note", "--set", "file="], /file needs a value/],
    ] as const
  ) {
    const { code, stderr } = await editor(home, "add", ...words, "--yes");
    assert.equal(code, 2, words.join(" "));
    assert.match(stderr, says);
  }
  assert.deepEqual(fileTree(home.project), before);
});
