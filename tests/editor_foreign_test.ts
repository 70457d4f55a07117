import assert from "node:assert/strict";
import { dataOf, parseJsonTree } from "../src/editor/resources/json_tree.ts";
import { done } from "./helpers/editor_program.ts";
import { fileTree } from "./helpers/file_tree.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

/** Where each editor keeps what; relative to the directory that holds project, home and system directory. */
interface Places {
  dialect: string;
  project: string;
  user: string;
  servers: string;
}

const EDITORS: readonly Places[] = [
  { dialect: "ide", project: "project/.ide", user: "home/.vendor/ide", servers: "home/.vendor/ide/mcp_config.json" },
  {
    dialect: "windsurf",
    project: "project/.windsurf",
    user: "home/.codeium/windsurf",
    servers: "home/.codeium/windsurf/mcp_config.json",
  },
  {
    dialect: "devin",
    project: "project/.devin",
    user: "home/.codeium/windsurf",
    servers: "home/.config/devin/mcp_config.json",
  },
];

/** Hooks of a person, in the ways that people write them: byte order mark, CRLF, tabs, comments, an own order. */
const HOOKS = '\ufeff// ours since spring\r\n{\r\n\t"version": 1, /* kept */\r\n\t"hooks": {\r\n' +
  '\t\t"post_write_code": [ {"powershell": "x", "command": "true"} ], // one line\r\n' +
  '\t\t"pre_read_code": [\r\n\t\t\t{ "command": "bash ./check.sh", "show_output": true } // last\r\n\t\t]\r\n\t},\r\n' +
  '\t"zebra": [1,2 , 3]\r\n}\r\n';
const SERVERS = '{\n    "mcpServers": {\n        "theirs": {"command": "x", "args": [ "-y" ]}, // trailing\n' +
  '        "off": {"serverUrl": "http://127.0.0.1:1", "disabled": true},\n    },\n}';
const NOTES = "# Notes\n\nNo line end at the end";

/** Files of others by path; what agentcli has no kind for is among them. */
function foreign({ project, user, servers }: Places): Record<string, string> {
  const markdown = (name: string) => `---\ntrigger: manual\ndescription: ${name}\n---\n\n${name}\n`;
  return {
    "project/AGENTS.md": NOTES,
    "project/sub/AGENTS.md": `${NOTES}\r\n`,
    "project/.ide-rules": "legacy\n",
    "project/.git/HEAD": "ref: refs/heads/main\n",
    [`${project}/hooks.json`]: HOOKS,
    [`${project}/check.sh`]: "exit 0\n",
    [`${project}/rules/theirs.md`]: markdown("rule"),
    [`${project}/workflows/theirs.md`]: markdown("workflow"),
    [`${project}/skills/theirs/SKILL.md`]: "---\nname: theirs\ndescription: d\n---\nx\n",
    [`${project}/settings.json`]: '{"theirs": true}',
    [`${user}/hooks.json`]: "{}",
    [servers]: SERVERS,
    [`${user}/memories/global_rules.md`]: "- a memory\n- another\n\n\n",
    [`${user}/memories/other.pb`]: "\x00\x01",
    [`${user}/global_workflows/theirs.md`]: markdown("workflow"),
    [`${user}/skills/theirs/SKILL.md`]: "---\nname: theirs\ndescription: d\n---\nx\n",
    "home/.vendor/hooks.json": '{"another": "product"}',
    "home/.vendor/mcp_config.json": "{}\n",
    "system/hooks.json": '{"hooks":{"pre_read_code":[]}}\n',
    "system/rules/theirs.md": markdown("rule"),
    "system/workflows/theirs.md": markdown("workflow"),
  };
}

async function writeAll(home: TemporaryHome, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = `${home.root}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
}

const [PROJECT, USER, SYSTEM] = ["project", "user", "system"].map((scope) => ["--scope", scope]);

/** One of each kind in each scope that has it. */
const INSTALLED: readonly (readonly string[])[] = [
  ...[PROJECT, USER, SYSTEM].flatMap((scope = []) => [
    ["hook", "no-cloud-guard", ...scope],
    ["hook", "own", "--event", "pre_read_code", "--command", "true", "--powershell", "exit 0", ...scope],
    ["rule", "ours", "--file", "../in/text.md", ...scope],
    ["workflow", "ours", "--file", "../in/text.md", "--description", "d", ...scope],
    ["skill", "ours", "--dir", "../in/skill", ...scope],
  ]),
  ["skill", "shared", "--file", "../in/shared.md", "--shared"],
  ["mcp", "ours", "--command", "c"],
  ["mcp", "address", "--server-url", "http://127.0.0.1:1/mcp"],
  ["instructions", "--file", "../in/text.md"],
  ["instructions", "sub", "--file", "../in/text.md"],
  ["instructions", "new", "--file", "../in/text.md"],
  ["instructions", "--file", "../in/text.md", ...USER ?? []],
];

/** The lines of a text that say something, without the commas between things. */
function words(text: string): string[] {
  return text.split("\n").map((line) => line.trim().replace(/,$/, "")).filter((line) => line !== "");
}

/** Whether all of `part` stands in `whole` in its order. */
function standsIn(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const line of whole) if (at < part.length && holds(line, part[at] ?? "")) at += 1;
  return at === part.length;
}

/** A line of ours may follow on the same line; a comma may come between a value and its comment. */
function holds(line: string, part: string): boolean {
  return line.replaceAll(/,(?= \/\/)/g, "").includes(part.replaceAll(/,(?= \/\/)/g, ""));
}

/** Whether data of others is in the data of a file: members in members, items among items. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((item) => whole.some((other) => isPartOf(item, other)));
  }
  if (typeof part !== "object" || part === null) return part === whole;
  return typeof whole === "object" && whole !== null &&
    Object.entries(part).every(([name, value]) => isPartOf(value, (whole as Record<string, unknown>)[name]));
}

function data(text: string): unknown {
  return dataOf(parseJsonTree(text));
}

for (const places of EDITORS) {
  Deno.test(`what others wrote for ${places.dialect} is there to the byte before, with, and after ours of every kind and scope`, async () => {
    await using home = await temporaryHome();
    await writeAll(home, {
      "in/text.md": "Use names.\n",
      "in/skill/SKILL.md": "---\nname: ours\ndescription: d\n---\nx\n",
      "in/skill/scripts/run.sh": "exit 0\n",
      "in/skill/data.bin": "\x00\xff",
      "in/shared.md": "---\nname: shared\ndescription: d\n---\nx\n",
    });
    const theirs = foreign(places);
    await writeAll(home, theirs);
    await Deno.symlink("theirs.md", `${home.root}/${places.project}/rules/link.md`);
    const before = fileTree(home.root);
    const common = ["--dialect", places.dialect, "--system-dir", `${home.root}/system`, "--yes"];
    for (const add of INSTALLED) await done(home, "add", ...add, ...common);
    const during = fileTree(home.root);
    for (const [name, text] of Object.entries(theirs)) {
      const now = Deno.readTextFileSync(`${home.root}/${name}`);
      const isKept = text.trimEnd().includes("\n") || !name.endsWith(".json")
        ? standsIn(words(text), words(now))
        : isPartOf(data(text), data(now));
      assert.ok(isKept, `${name} lost something:\n${now}`);
      if (!/hooks\.json|mcp_config|AGENTS|global_rules/.test(name)) assert.equal(now, text, name);
      assert.equal(now.includes("\r\n"), text.includes("\r\n"), name);
      assert.equal(now.startsWith("\ufeff"), text.startsWith("\ufeff"), name);
    }
    // A part of them again: what is there already changes nothing.
    for (const add of INSTALLED.filter((_, at) => at % 5 === 0)) await done(home, "add", ...add, ...common);
    await done(home, "apply", ...common);
    assert.deepEqual(fileTree(home.root), during);
    await done(home, "remove", "--all", ...common);
    assert.deepEqual(fileTree(home.root), before);
    assert.deepEqual(JSON.parse(Deno.readTextFileSync(`${home.agentcliHome}/editor/ledger.json`)), {
      version: 1,
      artifacts: [],
      files: {},
      directories: [],
    });
    assert.deepEqual([...Deno.readDirSync(`${home.agentcliHome}/editor/originals`)], []);
  });

  Deno.test(`what others change for ${places.dialect} after ours was installed stays when ours goes`, async () => {
    await using home = await temporaryHome();
    await writeAll(home, { ...foreign(places), "in/text.md": "Use names.\n" });
    const common = ["--dialect", places.dialect, "--yes"];
    const added = INSTALLED.filter((add) => !add.includes("system") && add[0] !== "skill");
    for (const add of added) await done(home, "add", ...add, ...common);
    const change = (name: string, edit: (text: string) => string) =>
      Deno.writeTextFileSync(`${home.root}/${name}`, edit(Deno.readTextFileSync(`${home.root}/${name}`)));
    change("project/AGENTS.md", (text) => `Above.\n${text}\nBelow.\n`);
    change(places.servers, (text) => text.replace('"off":', '"later": {"command": "y"},\n        "off":'));
    change(`${places.project}/hooks.json`, (text) => text.replace('"zebra"', '"later": 1,\r\n\t"zebra"'));
    change(`${places.user}/memories/global_rules.md`, (text) => `${text}- a third\n`);
    await Deno.remove(`${home.root}/${places.project}/rules/theirs.md`);
    await done(home, "remove", "--all", ...common);
    const read = (name: string) => Deno.readTextFileSync(`${home.root}/${name}`);
    assert.equal(read("project/AGENTS.md"), `Above.\n${NOTES}\n\nBelow.\n`);
    assert.equal(read(places.servers), SERVERS.replace('"off":', '"later": {"command": "y"},\n        "off":'));
    assert.equal(read(`${places.project}/hooks.json`), HOOKS.replace('"zebra"', '"later": 1,\r\n\t"zebra"'));
    assert.equal(read(`${places.user}/memories/global_rules.md`), "- a memory\n- another\n\n\n- a third\n");
    assert.equal([...Deno.readDirSync(`${home.root}/${places.project}/rules`)].length, 0);
  });
}
