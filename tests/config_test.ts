import assert from "node:assert/strict";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, programCommand, startCommand, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const file = (home: TemporaryHome) => `${home.agentcliHome}/providers.yaml`;

async function absent(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => false, () => true);
}

/** Writes providers.yaml as it is. */
async function write(home: TemporaryHome, text: string): Promise<void> {
  await Deno.mkdir(home.agentcliHome, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(file(home), text, { mode: 0o600 });
}

Deno.test("a setting is set, read, listed and removed", async () => {
  await using home = await temporaryHome();
  const set = await runInProcess(["config", "set", "default_model", "qwen3:8b", "--yes"], { home });
  assert.deepEqual([set.code, set.stdout], [0, "default_model: (not set) → qwen3:8b\n"]);
  assert.match(set.stderr, /warning: no provider has a model qwen3:8b/);
  const get = await runInProcess(["config", "get", "default_model"], { home });
  assert.deepEqual([get.code, get.stdout, get.stderr], [0, "qwen3:8b\n", ""]);
  const list = await runInProcess(["config", "list"], { home });
  assert.match(list.stdout, /^default_model=qwen3:8b$/m);
  const unset = await runInProcess(["config", "unset", "default_model"], { home });
  assert.equal(unset.stdout, "default_model: qwen3:8b → (not set)\n");
  const none = await runInProcess(["config", "get", "default_model"], { home });
  assert.deepEqual([none.code, none.stdout], [1, ""]);
});

Deno.test("set needs --yes without a terminal, and says so before anything is written", async () => {
  await using home = await temporaryHome();
  const set = await runInProcess(["config", "set", "default_provider", "a"], { home, stdin: "y\n" });
  assert.equal(set.code, 2);
  assert.match(set.stderr, /--yes/);
  assert(await absent(home.agentcliHome));
});

Deno.test("an unknown key, an unknown role and a bad value are refused and nothing is written", async () => {
  await using home = await temporaryHome();
  const cases: [string[], number, RegExp][] = [
    [["defualt_model", "x"], 2, /did you mean default_model\?/],
    [["roles.boss", "x"], 3, /main, compact, subagent/],
    [["sandbox.mode", "off"], 2, /"auto"\|"always"/],
    [["sandbox.network", "maybe"], 2, /true or false/],
    [["default_provider", "A:b"], 2, /provider name/],
    [["default_model", ""], 2, /not empty/],
    [["permissions.allow", "[1]"], 2, /JSON list/],
  ];
  for (const [words, code, message] of cases) {
    const set = await runInProcess(["config", "set", ...words, "--yes"], { home });
    assert.equal(set.code, code, words.join(" "));
    assert.match(set.stderr, message);
    assert.equal(set.stdout, "");
  }
  assert(await absent(home.agentcliHome));
});

Deno.test("with --json stdout is one object, for results and for failures", async () => {
  await using home = await temporaryHome();
  const json = async (...args: string[]) => JSON.parse((await runInProcess([...args, "--json"], { home })).stdout);
  assert.deepEqual(await json("config", "set", "sandbox.read", '["/a","/b"]', "-y"), {
    key: "sandbox.read",
    old: null,
    new: ["/a", "/b"],
    changed: true,
  });
  assert.deepEqual(await json("config", "get", "sandbox.read"), { key: "sandbox.read", value: ["/a", "/b"] });
  assert.deepEqual((await json("config", "list")).settings["sandbox.mode"], "auto");
  assert.deepEqual(await json("config", "path"), { path: file(home), exists: true });
  assert.equal((await json("config", "set", "nonsense", "x")).error.code, "usage");
});

Deno.test("the printed schema is the one beside the file, and takes the file of the documentation", async () => {
  await using home = await temporaryHome();
  await runInProcess(["config", "set", "default_model", "x", "--yes"], { home });
  const printed = await runInProcess(["config", "schema"], { home });
  assert.equal(printed.stdout, await Deno.readTextFile(`${home.agentcliHome}/providers.schema.json`));
  const schema = JSON.parse(printed.stdout);
  assert(schema.properties.providers.additionalProperties.properties.base_url);
  assert.match(await Deno.readTextFile(file(home)), /^# yaml-language-server: \$schema=\.\/providers\.schema\.json\n/);
  const protocol = await runInProcess(["config", "schema", "--protocol"], { home });
  assert.equal(typeof JSON.parse(protocol.stdout), "object");
});

Deno.test("a broken file is exit 3 with file, line and column, and none of its text is shown", async () => {
  await using home = await temporaryHome();
  for (const text of ['providers:\n  a:\n    api_key: "sk-CANARY\n', "version: CANARY\n"]) {
    await write(home, text);
    for (
      const command of [["config", "list"], ["config", "set", "default_model", "x", "-y"], [
        "providers",
        "list",
        "--json",
      ]]
    ) {
      const run = await runInProcess([...command, "--verbose"], { home });
      assert.equal(run.code, 3);
      assert.match(run.stdout + run.stderr, /providers\.yaml:\d+:\d+: /);
      assert.doesNotMatch(run.stdout + run.stderr, /CANARY/);
    }
    assert.equal(await Deno.readTextFile(file(home)), text);
  }
});

Deno.test("everything in the file that a command does not concern stays byte for byte", async () => {
  await using home = await temporaryHome();
  const text = "# mine\nversion: 1\n\nproviders:   # servers\n  b: {base_url: 'http://h/v1',models: [ ]}   # flow\n\n" +
    '  a:\n    x_own: kept\n    base_url:   "http://localhost:1/v1"\n\n\n# end\n';
  await write(home, text);
  await runInProcess(["config", "set", "default_provider", "a", "--yes"], { home });
  assert.equal(await Deno.readTextFile(file(home)), text.replace("1\n\n", "1\ndefault_provider: a\n\n"));
  await runInProcess(["config", "unset", "default_provider"], { home });
  assert.equal(await Deno.readTextFile(file(home)), text);
});

Deno.test("files and directories are private also under a loose umask", async () => {
  await using home = await temporaryHome();
  const command = [...programCommand(), "config", "set", "default_model", "x", "--yes"];
  const script = 'umask 000; exec "$0" "$@"';
  const program = startCommand(["sh", "-c", script, ...command], { home });
  await program.closeInput();
  assert.equal((await program.finished).code, 0);
  await runInProcess(["config", "list"], { home });
  const modes: Record<string, number> = {};
  const modeOf = async (path: string) => ((await Deno.lstat(path)).mode ?? 0) & 0o777;
  modes["."] = await modeOf(home.agentcliHome);
  for await (const entry of Deno.readDir(home.agentcliHome)) {
    modes[entry.name] = await modeOf(`${home.agentcliHome}/${entry.name}`);
  }
  for (const [name, mode] of Object.entries(modes)) {
    assert.equal(mode, name === "." || name === "cache" ? 0o700 : 0o600, name);
  }
});

Deno.test("a relative home is exit 3 and nothing is written", async () => {
  await using home = await temporaryHome();
  const run = await runInProcess(["config", "set", "default_model", "x", "--yes"], {
    home,
    env: { AGENTCLI_HOME: "relative" },
  });
  assert.equal(run.code, 3);
  assert(await absent(`${home.project}/relative`));
});

Deno.test("processes that write at the same time lose nothing", async () => {
  await using home = await temporaryHome();
  await configure(home, { a: { baseUrl: "http://localhost:1/v1", models: [] } });
  const ids = Array.from({ length: 8 }, (_, index) => `m${index}`);
  await Promise.all(ids.map((id) => runInProcess(["providers", "model", "add", "a", id], { home })));
  const list = await runInProcess(["providers", "model", "list", "a", "--json"], { home });
  const found = JSON.parse(list.stdout).models.map((model: { id: string }) => model.id);
  assert.deepEqual(found.sort(), ids);
});

Deno.test("a permission rule is checked before it is written, and names what was meant", async () => {
  await using home = await temporaryHome();
  const set = (rule: string) => runInProcess(["config", "set", "permissions.deny", rule, "--yes"], { home });
  const broken = await set("Write(migrations/**");
  assert.deepEqual([broken.code, broken.stdout], [2, ""]);
  assert.match(broken.stderr, /the permission rule "Write\(migrations\/\*\*"/);
  const unknown = await set("Bsh(git push:*)");
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /there is no tool "Bsh"[^]*did you mean Bash\?/);
  assert.ok(await absent(file(home)));
  assert.equal((await set('["Write(migrations/**)", "mcp__db"]')).code, 0);
});

Deno.test("a bad permission rule in the file is exit 3 with file and key path", async () => {
  await using home = await temporaryHome();
  const providers = "providers:\n  a:\n    base_url: http://127.0.0.1:1/v1\n    models: [{ id: m }]\n";
  await write(home, `permissions:\n  deny: [Read(a), "Bash(x; y)"]\n${providers}`);
  const done = await runInProcess(["run", "hi"], { home });
  assert.equal(done.code, 3);
  assert.ok(done.stderr.includes(`${file(home)}: permissions.deny[1]: the permission rule "Bash(x; y)"`), done.stderr);
});

Deno.test("an unknown tool on the command line is reported with the one that was meant", async () => {
  await using home = await temporaryHome();
  for (const option of ["--allowed-tools", "--disallowed-tools"]) {
    const done = await runInProcess(["run", "hi", "--model", "demo", option, "Bsh(ls:*)"], { home });
    assert.equal(done.code, 2);
    assert.match(done.stderr, /there is no tool "Bsh"[^]*did you mean Bash\?/);
  }
});

Deno.test("providers.yaml that is a link is written where it leads, and stays a link", async () => {
  await using home = await temporaryHome();
  await Deno.mkdir(home.agentcliHome, { mode: 0o700 });
  const target = `${home.root}/dotfiles.yaml`;
  await Deno.writeTextFile(target, "# mine\n");
  await Deno.symlink("../../dotfiles.yaml", file(home));
  const set = await runInProcess(["config", "set", "default_provider", "a", "--yes"], { home });
  assert.equal(set.code, 0, set.stderr);
  assert.equal(await Deno.readTextFile(target), "# mine\ndefault_provider: a\n");
  assert.ok((await Deno.lstat(file(home))).isSymlink);
  await Deno.remove(target);
  const nowhere = await runInProcess(["config", "set", "default_provider", "b", "--yes"], { home });
  assert.equal(nowhere.code, 3);
  assert.match(nowhere.stderr, /is a link that leads nowhere/);
  await Deno.mkdir(target);
  assert.equal((await runInProcess(["config", "set", "default_provider", "b", "--yes"], { home })).code, 3);
});

Deno.test("the byte order mark of providers.yaml stays, and comes once", async () => {
  await using home = await temporaryHome();
  await write(home, "\ufeffversion: 1\r\n");
  for (const name of ["a", "b"]) {
    const set = await runInProcess(["config", "set", "default_provider", name, "--yes"], { home });
    assert.equal(set.code, 0, set.stderr);
    const bytes = await Deno.readFile(file(home));
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    assert.equal(text, `\ufeffversion: 1\r\ndefault_provider: ${name}\r\n`);
  }
});

Deno.test("a file that says null is an empty one", async () => {
  for (const [text, after] of [["null", ""], ["~\n", ""], ["# mine\nnull # none\n", "# mine\n # none\n"]] as const) {
    await using home = await temporaryHome();
    await write(home, text);
    const set = await runInProcess(["config", "set", "default_provider", "a", "--yes"], { home });
    assert.equal(set.code, 0, set.stderr);
    assert.equal(await Deno.readTextFile(file(home)), `${after}default_provider: a\n`);
  }
});
