import assert from "node:assert/strict";
import { done, editor } from "./helpers/editor_program.ts";
import { fileTree } from "./helpers/file_tree.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

function withInput(home: TemporaryHome, stdin: string, ...words: string[]) {
  return runInProcess(["editor", ...words], { home, stdin });
}

Deno.test("content comes from standard input for every kind that has some", async () => {
  await using home = await temporaryHome();
  const cases: [kind: string[], text: string, file: string, says: RegExp][] = [
    [["rule", "style"], "Use names 😀\r\n", ".ide/rules/style.md", /^---\ntrigger: always_on\n---\n\nUse names 😀\n$/],
    [
      ["workflow", "ship", "--description", "d"],
      "1. x\n",
      ".ide/workflows/ship.md",
      /^---\ndescription: d\n---\n\n1\. x\n$/,
    ],
    [["skill", "mine"], "---\nname: mine\ndescription: d\n---\nx\n", ".ide/skills/mine/SKILL.md", /name: mine/],
    [["instructions"], "Keep it short.", "AGENTS.md", /begin notes -->\nKeep it short\.\n<!--/],
    [
      ["mcp", "srv"],
      '{"command": "c", // why\n}',
      "../home/.vendor/ide/mcp_config.json",
      /"srv": \{\n +"command": "c"/,
    ],
  ];
  for (const [words, text, file, says] of cases) {
    // With the option and, where nothing else is said, without it.
    const added = await withInput(home, text, "add", ...words, "--file", "-", "--yes");
    assert.equal(added.code, 0, added.stderr);
    assert.match(await home.read(file), says);
    const [changed, same] = [`${text} `.replace("Keep it", "Keep all"), await home.read(file)];
    const piped = await withInput(home, changed, "add", ...words, "--yes");
    assert.equal(piped.code, 0, piped.stderr);
    if (words[0] === "instructions") assert.match(await home.read(file), /Keep all short/);
    assert.equal((await withInput(home, text, "add", ...words, "--yes")).code, 0);
    assert.equal(await home.read(file), same);
    const nothing = await withInput(home, "", "add", ...words, "--yes");
    assert.equal(nothing.code, 2);
    assert.match(
      nothing.stderr,
      /content is missing|needs --command, --server-url or its JSON|needs --dir, or the text/,
    );
  }
  await done(home, "check");
  for (const [words] of cases) {
    const empty = await withInput(home, "\xff\xfe", "add", ...words, "--file", "-", "--yes", "--dry-run");
    assert.ok(empty.code <= 2 && !/internal/.test(empty.stderr), empty.stderr);
  }
  const long = await withInput(home, "x".repeat(5 * 1024 * 1024), "add", "rule", "long", "--file", "-", "--yes");
  assert.equal(long.code, 2);
  assert.match(long.stderr, /standard input is too long/);
});

Deno.test("one copy of a skill can serve several assistants", async () => {
  await using home = await temporaryHome();
  await home.write("in.md", "---\nname: shared\ndescription: d\n---\nx\n");
  await done(home, "add", "skill", "shared", "--file", "in.md", "--shared", "--yes");
  await done(home, "add", "skill", "shared", "--file", "in.md", "--shared", "--scope", "user", "--yes");
  assert.match(await home.read(".agents/skills/shared/SKILL.md"), /name: shared/);
  assert.match(await home.read("../home/.agents/skills/shared/SKILL.md"), /name: shared/);
  for (const dialect of ["ide", "windsurf", "devin"]) {
    const { artifacts } = JSON.parse((await done(home, "list", "--json", "--dialect", dialect)).stdout);
    assert.deepEqual(artifacts.map(({ kind, scope }: Record<string, string>) => `${kind} ${scope}`), [
      "skill project",
      "skill user",
    ]);
  }
});

Deno.test("the old single file of rules is listed, and written only when it is named", async () => {
  await using home = await temporaryHome();
  await home.write("in.md", "Use names.\n");
  for (const [dialect, file] of [["ide", ".ide-rules"], ["windsurf", ".windsurfrules"]] as const) {
    await home.write(file, "theirs\n");
    await done(home, "init", "--dialect", dialect, "--yes");
    assert.equal(await home.read(file), "theirs\n");
    await done(home, "add", "instructions", file, "--file", "in.md", "--dialect", dialect, "--yes");
    assert.match(await home.read(file), /^theirs\n\n<!-- agentcli:begin [a-z-]+ -->\nUse names\.\n/);
    const { artifacts } = JSON.parse((await done(home, "list", "--dialect", dialect, "--json")).stdout);
    const rows = artifacts.filter(({ path }: { path: string }) => path.endsWith(file));
    assert.deepEqual(rows.map(({ kind, ours }: { kind: string; ours: boolean }) => [kind, ours]), [
      ["rule", false],
      ["instructions", true],
    ]);
    await done(home, "remove", "--all", "--yes");
    assert.equal(await home.read(file), "theirs\n");
  }
});

Deno.test("show and remove take what list names", async () => {
  await using home = await temporaryHome();
  await home.write("in.md", "Use names.\n");
  for (const scope of ["user", "project"]) {
    await done(home, "add", "rule", "style", "--file", "in.md", "--scope", scope, "--yes");
    await done(home, "add", "instructions", "--file", "in.md", "--scope", scope, "--yes");
  }
  const { stdout } = await done(home, "list");
  assert.match(stdout, /^rule +style +user +agentcli +~\/\.vendor\/ide\/memories\/global_rules\.md$/m);
  assert.match(stdout, /instructions: all are read[^]*global_rules\.md\n +rule: /);
  const { artifacts } = JSON.parse((await done(home, "list", "--json")).stdout);
  const names = artifacts.map(({ kind, name }: { kind: string; name: string }) => `${kind}:${name}`);
  assert.deepEqual(names.toSorted(), ["instructions:notes", "instructions:notes", "rule:style", "rule:style"]);
  for (const name of new Set<string>(names)) {
    assert.match((await done(home, "show", name)).stdout, /Use names\./);
    await done(home, "remove", name, "--yes");
  }
  assert.deepEqual(JSON.parse((await done(home, "list", "--json")).stdout).artifacts, []);
});

Deno.test("list shows hooks by event, which file is read, and which of one name counts, for each editor", async () => {
  await using home = await temporaryHome();
  const system = `${home.root}/system`;
  await Deno.mkdir(`${system}/workflows`, { recursive: true });
  await Deno.writeTextFile(`${system}/workflows/ship.md`, "---\ndescription: d\n---\nx\n");
  await Deno.mkdir(`${system}/rules`);
  await Deno.writeTextFile(`${system}/rules/style.md`, "---\ntrigger: manual\n---\nx\n");
  const workflow = "---\ndescription: d\n---\nx\n";
  for (const directory of [".ide", ".windsurf", ".devin"]) {
    await home.write(`${directory}/workflows/ship.md`, workflow);
    await home.write(`${directory}/rules/style.md`, "---\ntrigger: manual\n---\nx\n");
  }
  await home.write(
    ".windsurf/hooks.json",
    '{"hooks": {"pre_read_code": [{"command": "bash a.sh", "powershell": "x"}]}}',
  );
  await home.write(".ide/hooks.json", '{"hooks": {"pre_read_code": [{"command": "bash a.sh"}, {"command": "b"}]}}');
  const list = async (dialect: string) => {
    const words = ["list", "--dialect", dialect, "--system-dir", system];
    const { stdout } = await done(home, ...words);
    return { stdout, json: JSON.parse((await done(home, ...words, "--json")).stdout) };
  };
  const counts = (json: { artifacts: { kind: string; scope: string; precedence?: string }[] }, kind: string) =>
    json.artifacts.filter((one) => one.kind === kind).map(({ scope, precedence }) => `${scope}: ${precedence}`);
  const ide = await list("ide");
  assert.match(ide.stdout, /Hooks by event:\n +pre_read_code: a \(project\), b \(project\)\n/);
  assert.match(ide.stdout, /rule: of one name the system's counts, else the project's/);
  assert.deepEqual(counts(ide.json, "rule"), [
    "project: not used: the one of the system wins",
    "system: wins over the others of that name",
  ]);
  const windsurf = await list("windsurf");
  assert.match(windsurf.stdout, /\.windsurf\/hooks\.json is read: \.devin\/hooks\.json is absent or holds no hook/);
  assert.match(windsurf.stdout, /rule: all levels count, and none overrides another/);
  assert.deepEqual(counts(windsurf.json, "rule"), ["project: undefined", "system: undefined"]);
  assert.deepEqual(counts(windsurf.json, "workflow"), [
    "project: not used: the one of the system wins",
    "system: wins over the others of that name",
  ]);
  await home.write(".devin/hooks.json", '{"hooks": {"pre_read_code": [{"command": "c"}]}}');
  const devin = await list("devin");
  assert.match(
    devin.stdout,
    /\.devin\/hooks\.json is read: while it holds a hook, \.windsurf\/hooks\.json is not read/,
  );
  assert.match(
    devin.json.problems.join(),
    /\.windsurf\/hooks\.json: it is not read: another hooks file .* goes before it/,
  );
});

Deno.test("what is wrong with files of others is found, each by its kind, and no value of a key is shown", async () => {
  await using home = await temporaryHome();
  await home.write(".ide/rules/none.md", "no frontmatter\n");
  await home.write(".ide/rules/cut.md", "---\ntrigger: glob\nglobs: **/*.{ts,tsx}\n---\nx\n");
  await home.write(".ide/rules/long.md", `---\ntrigger: manual\n---\n${"😀".repeat(12_000)}`);
  await home.write(".ide/workflows/bare.md", "1. x\n");
  await home.write(".ide/skills/one/SKILL.md", "---\nname: two\ndescription: d\nmodel: x\n---\nx\n");
  await home.write(
    ".ide/hooks.json",
    '{"hooks": {"pre_read_code": [{}, {"command": "c", "working_directory": "~/x"}], "preRead": [{"command": "c"}], "stop": 1}}',
  );
  const servers = {
    both: { command: "c", serverUrl: "http://x.test" },
    keyed: { command: "c", env: { API_KEY: "abcdefgh12345678" }, args: [1] },
  };
  await home.write("../home/.vendor/ide/mcp_config.json", JSON.stringify({ mcpServers: servers }));
  await home.write("../home/.vendor/ide/memories/global_rules.md", "x".repeat(6_001));
  const checked = await editor(home, "check", "--json");
  assert.equal(checked.code, 1);
  const messages = JSON.parse(checked.stdout).findings.map(({ message }: { message: string }) => message).join("\n");
  for (
    const part of [
      "rule none: it has no trigger",
      "rule cut: a glob with a comma in braces",
      /rule long: it has 12\d\d\d characters/,
      "workflow bare: it has no description",
      'skill one: its name "two" is not that of its directory "one"',
      'skill one: the field "model" is not in the specification',
      "hook pre-read-code: it has no command line",
      "its working_directory starts with ~",
      'the editor knows no event "preRead"',
      "stop is no list",
      "mcp both: a server has either a command or an address",
      "mcp keyed: API_KEY holds a literal key",
      "mcp keyed: its args is no list of texts",
      "instructions (text): it has 6001 characters",
    ]
  ) {
    assert.ok(typeof part === "string" ? messages.includes(part) : part.test(messages), `${part} in:\n${messages}`);
  }
  assert.equal(checked.stdout.includes("abcdefgh12345678"), false);
});

Deno.test("keys that others wrote beside ours are in no diff and no report, and stay in their file", async () => {
  await using home = await temporaryHome();
  const key = "abcdefgh12345678";
  const [name, file] = ["mcp:keyed", "../home/.vendor/ide/mcp_config.json"];
  await home.write(
    file,
    `{"mcpServers": {\n  "keyed": {"command": "c", "env": {"API_KEY": "${key}"}, // mine\n` +
      `    "args": ["sk-${key}", "http://u:${key}@x.test"]}\n}}\n`,
  );
  const said: string[] = [];
  for (
    const words of [
      ["add", "mcp", "ours", "--command", "c", "--dry-run"],
      ["add", "mcp", "ours", "--command", "c", "--dry-run", "--json"],
      ["add", "mcp", "ours", "--command", "c", "--yes"],
      ["list", "--json"],
      ["check", "--json"],
      ["import", "--json"],
      ["import", "--take", name],
      ["show", name],
      ["show", name, "--json"],
      ["add", "mcp", "keyed", "--command", "d", "--force", "--yes"],
      ["show", name, "--json"],
      ["remove", "--all", "--yes"],
    ]
  ) {
    const { stdout, stderr } = await editor(home, ...words);
    said.push(stdout + stderr);
    assert.equal((stdout + stderr).includes(key), false, words.join(" "));
  }
  assert.ok(said[0]?.includes('"API_KEY": "(a key)"}, // mine'), said[0]);
  assert.ok((await home.read(file)).includes(`"API_KEY": "${key}"}, // mine`));
});

Deno.test("in a project of several editors the output names the one that is meant, and a chosen one stays", async () => {
  await using home = await temporaryHome();
  const rule = "---\ntrigger: manual\n---\nx\n";
  for (const directory of [".windsurf", ".devin"]) await home.write(`${directory}/rules/a.md`, rule);
  await home.write("in.md", "x\n");
  assert.match((await done(home, "list")).stderr, /using windsurf; .* --dialect devin selects them/);
  assert.match((await done(home, "init", "--dry-run")).stderr, /using windsurf; /);
  const named = await done(home, "add", "rule", "b", "--file", "in.md", "--dialect", "devin", "--yes");
  const again = await done(home, "add", "rule", "c", "--file", "in.md", "--yes");
  assert.doesNotMatch(named.stderr + again.stderr, /this is for/);
  assert.match(await home.read(".devin/rules/c.md"), /trigger: always_on/);
});

Deno.test("more than the ledger can hold is refused before anything is written", async () => {
  await using home = await temporaryHome();
  await home.write("skill/SKILL.md", "---\nname: large\ndescription: d\n---\nx\n");
  for (const part of [1, 2, 3, 4, 5, 6, 7]) await home.write(`skill/${part}.bin`, new Uint8Array(4_000_000));
  const before = fileTree(home.root);
  const added = await editor(home, "add", "skill", "large", "--dir", "skill", "--yes", "--quiet");
  assert.equal(added.code, 2);
  assert.match(added.stderr, /more than 32 MiB together; nothing was changed/);
  assert.deepEqual(fileTree(home.root).size, before.size);
});

Deno.test("a home directory that is not there is an unusable home, as for every other command", async () => {
  await using home = await temporaryHome();
  const done = await runInProcess(["editor", "list"], { home, env: { HOME: `${home.project}/none` } });
  assert.equal(done.code, 3, done.stdout);
  assert.match(done.stderr, /^agentcli: no home directory: HOME is not set to a directory\n {2}set HOME/);
});

Deno.test("errors of a newcomer say what to do", async () => {
  await using home = await temporaryHome();
  await home.write("in.md", "text\n");
  for (
    const [words, says] of [
      [["add"], /needs <kind>/],
      [["add", "hook"], /no-cloud-guard, audit-log/],
      [["add", "rule", "x"], /give --file <path>, or pipe the content in/],
      [["add", "rule", "x", "--file", "none.md"], /none\.md does not exist/],
      [["add", "workflow", "x", "--file", "in.md"], /give --description/],
      [["add", "skill", "x", "--file", "in.md"], /begins with the lines ---, name: x/],
      [["add", "hook", "x", "--event", "pre_foo"], /the events are pre_read_code, /],
      [["add", "hook", "x", "--event", "pre_read_code", "--command", "c"], /give --command \(bash\) and --powershell/],
      [["add", "mcp", "x"], /--command, --server-url or its JSON\n {2}give --file/],
      [["add", "mcp", "x", "--command", "c", "--scope", "project"], /use --scope user/],
      [["add", "rule", "x", "--file", "in.md", "--scope", "system"], /name it with --system-dir/],
      [["remove"], /pass --all/],
      [["remove", "rule:none"], /see: agentcli editor list/],
      [["show", "none"], /see: agentcli editor list/],
      [["import", "--take"], /see: agentcli editor import/],
      [["init"], /again with --yes/],
    ] as const
  ) {
    const finished = await editor(home, ...words);
    assert.equal(finished.code, 2, words.join(" "));
    assert.match(finished.stderr, says, words.join(" "));
  }
  assert.deepEqual([...fileTree(home.project).keys()], [`${home.project}/in.md`]);
});

Deno.test("every command speaks JSON, and its plan holds whole diffs", async () => {
  await using home = await temporaryHome();
  const json = async (...words: string[]) => JSON.parse((await done(home, ...words, "--json")).stdout);
  const dry = await json("init", "--dry-run");
  assert.deepEqual([dry.applied, dry.changes.length, dry.problems], [false, 6, []]);
  assert.match(dry.changes[0].diff, /^--- \/dev\/null\n\+\+\+ AGENTS\.md\n@@ -0,0 \+1/);
  const applied = await json("init", "--yes");
  assert.deepEqual([applied.applied, applied.changes], [true, dry.changes]);
  assert.deepEqual((await json("plan")).changes, []);
  assert.deepEqual((await json("apply", "--yes")).changes, []);
  assert.deepEqual([(await json("check")).ok, (await json("import")).artifacts], [true, []]);
  assert.equal((await json("show", "hook:no-cloud-guard")).ours.length, 1);
  const removed = await json("remove", "--all", "--yes");
  assert.ok(removed.changes.every(({ action }: { action: string }) => action === "remove"));
  const refused = await editor(home, "show", "none", "--json");
  assert.equal(JSON.parse(refused.stdout === "" ? refused.stderr : refused.stdout).error.code, "usage");
});

Deno.test("completions offer artifacts and events by what is there", async () => {
  await using home = await temporaryHome();
  await home.write(".ide/rules/theirs.md", "---\ntrigger: manual\n---\nx\n");
  await done(home, "add", "hook", "audit-log", "--yes");
  const words = async (...typed: string[]) => {
    const finished = await runInProcess(["__complete", "--word", "", "--", ...typed], { home });
    return finished.stdout.split("\n").map((line) => line.split("\t")[0] ?? "").filter((word) => /\w/.test(word));
  };
  assert.deepEqual(await words("editor", "remove"), ["hook:audit-log", ":none"]);
  assert.deepEqual(await words("editor", "import"), ["rule:theirs", ":none"]);
  assert.deepEqual(await words("editor", "show"), ["hook:audit-log", "rule:theirs", ":none"]);
  assert.ok((await words("editor", "add", "hook", "x", "--event")).includes("post_setup_worktree"));
});

Deno.test("a hook that would not find agentcli is reported as failing", async () => {
  await using home = await temporaryHome();
  const add = (...words: string[]) =>
    runInProcess(["editor", "add", "hook", "no-cloud-guard", "--yes", ...words], { home, env: { PATH: "/nowhere" } });
  assert.match((await add()).stderr, /agentcli is not on PATH.*a guard blocks everything\n.*--set agentcli=/);
  assert.doesNotMatch((await add("--set", "agentcli=/opt/agentcli")).stderr, /not on PATH/);
});

for (
  const [what, { words, hint }] of Object.entries({
    "a built-in hook": {
      words: ["add", "hook", "no-cloud-gard", "--yes"],
      hint: "did you mean no-cloud-guard?",
    },
    "an event": {
      words: ["add", "hook", "x", "--event", "pre_read_cod", "--command", "a", "--powershell", "b"],
      hint: "did you mean pre_read_code or post_read_code?",
    },
    "a parameter": {
      words: ["add", "hook", "format-on-write", "--set", "formater=x"],
      hint: "did you mean formatter?",
    },
    "what to remove": { words: ["remove", "audt-log"], hint: "did you mean audit-log?" },
    "what to show": { words: ["show", "hook:audit-lg"], hint: "did you mean hook:audit-log" },
  })
) {
  Deno.test(`a mistyped name gets a suggestion: ${what}`, async () => {
    await using home = await temporaryHome();
    await done(home, "add", "hook", "audit-log", "--yes");
    const { code, stderr } = await editor(home, ...words);
    assert.equal(code, 2);
    assert.ok(stderr.includes(hint), stderr);
  });
}

Deno.test("a hook of one's own may have a name like one that comes with the program", async () => {
  await using home = await temporaryHome();
  const lines = ["--event", "pre_run_command", "--command", "true", "--powershell", "exit 0"];
  await done(home, "add", "hook", "audit-logs", ...lines, "--yes");
});
