import assert from "node:assert/strict";
import { readFrontmatter } from "../src/editor/resources/markdown.ts";
import { dataOf, parseJsonTree } from "../src/editor/resources/json_tree.ts";
import { done, editor } from "./helpers/editor_program.ts";
import { fileTree } from "./helpers/file_tree.ts";
import { problemsOf } from "./helpers/json_schema.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const FIXTURES = new URL("fixtures/editor/", import.meta.url);

function schema(name: string): Record<string, unknown> {
  return JSON.parse(Deno.readTextFileSync(new URL(`schemas/${name}.schema.json`, FIXTURES)));
}

const HOOKS = schema("windsurf-hooks");
const SERVERS = schema("windsurf-mcp-config");
const SKILL = schema("agent-skill-frontmatter");
const INPUT = schema("windsurf-hook-stdin");

/** What the schemas say of every file of a tree that they are for, by path; how many there were. */
function judged(directory: string): { problems: Record<string, unknown>; count: number } {
  const problems: Record<string, unknown> = {};
  let count = 0;
  for (const path of fileTree(directory).keys()) {
    const found = problemsOfFile(path);
    if (found === null) continue;
    count += 1;
    if (found.length > 0) problems[path] = found;
  }
  return { problems, count };
}

function problemsOfFile(path: string) {
  const read = () => Deno.readTextFileSync(path);
  if (path.endsWith("/hooks.json")) return problemsOf(dataOf(parseJsonTree(read())), HOOKS);
  if (path.endsWith("/mcp_config.json")) return problemsOf(dataOf(parseJsonTree(read())), SERVERS);
  if (path.endsWith("/SKILL.md")) {
    return problemsOf(Object.fromEntries(readFrontmatter(read()).fields ?? []), SKILL);
  }
  return null;
}

async function copyTree(from: URL, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) await copyTree(new URL(`${encodeURIComponent(name)}/`, from), `${to}/${name}`);
    else await Deno.copyFile(new URL(encodeURIComponent(name), from), `${to}/${name}`);
  }
}

Deno.test("the schemas find what is wrong, so that what passes them says something", () => {
  for (
    const [value, wrong] of [
      [{ hooks: { pre_read_code: [{}] } }, HOOKS],
      [{ hooks: { pre_everything: [] } }, HOOKS],
      [{ hooks: { pre_read_code: [{ command: "x", working_directory: "~/x" }] } }, HOOKS],
      [{ mcpServers: { s: { command: "x", serverUrl: "y" } } }, SERVERS],
      [{ mcpServers: { s: { command: "x", env: { A: 1 } } } }, SERVERS],
      [{ name: "A", description: "d" }, SKILL],
      [{ name: "a", description: "d", tools: "x" }, SKILL],
      [{ agent_action_name: "pre_read_code", tool_info: {} }, INPUT],
    ] as const
  ) {
    assert.notDeepEqual(problemsOf(value, wrong), [], JSON.stringify(value));
  }
});

Deno.test("every recorded input is as its schema says", () => {
  const payloads = new URL("payloads/", FIXTURES);
  const names = [...Deno.readDirSync(payloads)].map(({ name }) => name).filter((name) => name.endsWith(".json"));
  assert.equal(names.length, 12);
  for (const name of names) {
    assert.deepEqual(problemsOf(JSON.parse(Deno.readTextFileSync(new URL(name, payloads))), INPUT), [], name);
  }
});

for (
  const { dialect, project, user } of [
    { dialect: "windsurf", project: "ws/", user: "home/" },
    { dialect: "devin", project: "devin/", user: "devin/home/" },
  ]
) {
  Deno.test(`the example files of ${dialect} are read without complaint, and are as the schemas say`, async () => {
    await using home = await temporaryHome();
    const examples = new URL("examples/", FIXTURES);
    await copyTree(new URL(project, examples), home.project);
    await copyTree(new URL(user, examples), home.home);
    await Deno.remove(`${home.project}/home`, { recursive: true }).catch(() => {});
    const { problems, count } = judged(home.root);
    assert.deepEqual([problems, count > 3], [{}, true]);
    const checked = JSON.parse((await done(home, "check", "--json")).stdout);
    assert.deepEqual([checked.dialect, checked.findings], [dialect, []]);
    const { artifacts } = JSON.parse((await done(home, "list", "--json")).stdout);
    assert.deepEqual(artifacts.filter((one: { problems: unknown[] }) => one.problems.length > 0), []);
    const taken = JSON.parse((await done(home, "import", "--all", "--json")).stdout);
    assert.deepEqual([taken.not_taken, taken.problems], [[], []]);
    await done(home, "check");
  });
}

async function installAll(home: TemporaryHome, dialect: string): Promise<void> {
  const system = `${home.root}/system`;
  const common = ["--dialect", dialect, "--system-dir", system, "--yes"];
  await home.write("in.md", "text\n");
  await home.write("SKILL.md", "---\nname: mine\ndescription: d\nlicense: MIT\nmetadata:\n  a: b\n---\nx\n");
  const add = (...words: string[]) => done(home, "add", ...words, ...common);
  for (const scope of ["project", "user", "system"]) {
    for (const hook of ["no-cloud-guard", "audit-log", "setup-worktree", "format-on-write", "session-note"]) {
      await add("hook", hook, "--scope", scope);
    }
    await add("skill", "mine", "--file", "SKILL.md", "--scope", scope);
  }
  await add(
    "hook",
    "own",
    "--event",
    "pre_user_prompt",
    "--command",
    "true",
    "--powershell",
    "exit 0",
    "--show-output",
  );
  await add("mcp", "local", "--command", "c", "--arg=-y", "--env", "API_KEY=$NAME");
  await add("mcp", "remote", "--server-url", "http://127.0.0.1:1/mcp", "--header", "Authorization=Bearer ${NAME}");
  await done(home, "init", ...common);
  await done(home, "persona", "reviewer", "--from", "in.md", ...common);
}

for (const dialect of ["ide", "windsurf", "devin"]) {
  Deno.test(`every file that is written for ${dialect} is as its schema says, and passes check`, async () => {
    await using home = await temporaryHome();
    await Deno.mkdir(`${home.root}/system`);
    await installAll(home, dialect);
    const { problems, count } = judged(home.root);
    assert.deepEqual(problems, {});
    // Hooks and a skill in three scopes, two more skills, the servers; SKILL.md of the input is one more.
    assert.equal(count, 3 + 3 + 2 + 1 + 1);
    const checked = await editor(home, "check", "--dialect", dialect, "--system-dir", `${home.root}/system`);
    assert.equal(checked.code, 0, checked.stdout);
  });
}
