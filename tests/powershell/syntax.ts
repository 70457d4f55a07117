/**
 * Every PowerShell text of this repository against a grammar of PowerShell: `deno task test-powershell`. No PowerShell
 * is run. Installs the grammar and its reader from npm into a temporary directory (or uses AGENTCLI_GRAMMAR, where an
 * earlier run put them); needs Node and the network. Where they cannot be had, it says so and leaves everything out.
 */
import { SCRIPTS } from "../../src/cli/completions/scripts.ts";
import { assistantPlaces, ASSISTANTS } from "../../src/editor/assistants.ts";
import { DIALECTS } from "../../src/editor/dialect.ts";
import { makeScaffold } from "../../src/editor/resources/make_artifact.ts";
import { makeAssistantGuard } from "../../src/editor/resources/make_assistant.ts";
import { placesOf } from "../../src/editor/places.ts";
import { readParameters, scriptsOf } from "../../src/editor/hooks/scaffold.ts";
import { SCAFFOLD_IDS, SCAFFOLDS } from "../../src/editor/hooks/events.ts";
import { shownCommand } from "../../src/engine/quote.ts";
import { windowsLines } from "../helpers/installed_assistant.ts";
import { REPOSITORY } from "../helpers/program.ts";
import assert from "node:assert/strict";

const PACKAGES = ["web-tree-sitter@0.27.1", "tree-sitter-powershell@0.26.4"];

/** A node of a parsed text, as far as it is used here. */
interface Node {
  type: string;
  text: string;
  isError: boolean;
  isMissing: boolean;
  hasError: boolean;
  startPosition: { row: number };
  children: (Node | null)[];
}

async function grammar(): Promise<string | null> {
  const named = Deno.env.get("AGENTCLI_GRAMMAR");
  const directory = named ?? await Deno.makeTempDir({ prefix: "agentcli-grammar-" });
  if (await Deno.stat(`${directory}/node_modules`).then(() => true, () => false)) return directory;
  await Deno.mkdir(directory, { recursive: true });
  await Deno.writeTextFile(`${directory}/package.json`, JSON.stringify({ name: "grammar", private: true }));
  const { success, stderr } = await new Deno.Command("npm", {
    args: ["install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", ...PACKAGES],
    cwd: directory,
    stdout: "null",
  }).output();
  if (success) return directory;
  console.error(`the grammar cannot be had: ${new TextDecoder().decode(stderr).trim().split("\n")[0]}`);
  return null;
}

async function openParser(): Promise<((text: string) => Node) | null> {
  const directory = await grammar();
  if (directory === null) return null;
  const modules = `${directory}/node_modules`;
  const { Parser, Language } = await import(`file://${modules}/web-tree-sitter/web-tree-sitter.js`);
  await Parser.init();
  const wasm = await Deno.readFile(`${modules}/tree-sitter-powershell/tree-sitter-powershell.wasm`);
  const parser = new Parser();
  parser.setLanguage(await Language.load(wasm));
  return (text) => parser.parse(text).rootNode;
}

function* nodesOf(root: Node): Generator<Node> {
  yield root;
  for (const child of root.children) if (child !== null) yield* nodesOf(child);
}

/** `line 3: …` for each place that is no PowerShell. */
function errorsIn(root: Node): string[] {
  return [...nodesOf(root)].filter(({ isError, isMissing }) => isError || isMissing)
    .map(({ startPosition, text }) => `line ${startPosition.row + 1}: ${JSON.stringify(text.slice(0, 80))}`);
}

/** Parameters that a person can give, and that a script must hold whole. */
const HOSTILE = ["it's", "a'; exit 0; '", "\u2019; exit 0; \u2018", "$(exit 0)", '`$x "y" #z', "C:\\a b\\agentcli.exe"];

/** The lines of the assistants on Windows. */
function* assistantLines(): Generator<[name: string, text: string]> {
  for (const assistant of Object.values(ASSISTANTS)) {
    for (const scope of ["project", "user"] as const) {
      const around = { root: "/it's a project", userHome: "/home/o'neill", env: () => undefined };
      const scripts = scriptsOf("no-cloud-guard", new Map());
      const places = assistantPlaces(assistant, scope, around);
      for (
        const { line, event } of windowsLines(
          makeAssistantGuard(scripts, { dialect: assistant, places, os: "windows" }),
        )
      ) {
        yield [`line of ${assistant.id}, ${event}, ${scope}`, line];
      }
    }
  }
}

/** Every text by a name. */
function* texts(): Generator<[name: string, text: string]> {
  for (const directory of ["src/editor/scaffolds", "scripts"]) {
    for (const { name } of Deno.readDirSync(`${REPOSITORY}/${directory}`)) {
      if (name.endsWith(".ps1")) yield [name, Deno.readTextFileSync(`${REPOSITORY}/${directory}/${name}`)];
    }
  }
  yield ["completions", SCRIPTS.powershell];
  yield* assistantLines();
  const argv = ["C:\\Program Files\\a'b.exe", "--x", "$(y)"];
  yield ["a shown command", shownCommand({ argv, variables: [{ name: "X", value: "it's" }] }, "windows")];
  const around = { root: "/it's a project", userHome: "/home/o'neill", os: "linux" } as const;
  const to = { dialect: DIALECTS.ide, places: placesOf(DIALECTS.ide, "user", around) };
  for (const id of SCAFFOLD_IDS) {
    for (const value of HOSTILE) {
      const scripts = scriptsOf(id, readParameters(id, [`agentcli=${value}`]));
      yield [`${id} with ${value}`, scripts.powershell];
      const { resources } = makeScaffold(id, scripts, { ...SCAFFOLDS[id], to });
      for (const resource of resources) {
        if (resource.kind === "item") yield [`line of ${id}`, (resource.value as { powershell: string }).powershell];
      }
    }
  }
}

const parser = await openParser();

function test(name: string, judge: (parse: (text: string) => Node) => void): void {
  Deno.test({ name, ignore: parser === null, fn: () => judge(parser ?? assert.fail("no grammar")) });
}

test("what is no PowerShell is recognized, so that the other tests can fail", (parse) => {
  for (const bad of ["if ($x { exit }", "'open", "try { exit 2 }}", "& ('a'", "foreach ($a in) {}"]) {
    assert.notDeepEqual(errorsIn(parse(bad)), [], bad);
  }
  assert.deepEqual(errorsIn(parse("try { & $x 1 } catch { exit 2 }\n")), []);
});

for (const [name, text] of new Map(texts())) {
  test(`${name} is PowerShell`, (parse) => {
    assert.deepEqual(errorsIn(parse(text)), []);
  });
}

test("a parameter is one text, whatever it holds", (parse) => {
  for (const value of HOSTILE) {
    const { powershell } = scriptsOf("no-cloud-guard", readParameters("no-cloud-guard", [`agentcli=${value}`]));
    const [first] = [...nodesOf(parse(powershell))].filter(({ type, text }) =>
      type === "assignment_expression" && text.startsWith("$agentcli")
    );
    const literals = [...nodesOf(first ?? assert.fail(value))].filter(({ type }) =>
      type === "verbatim_string_characters"
    );
    assert.equal(literals.length, 1, value);
    assert.equal(literals[0]?.text.slice(1, -1).replace(/(['\u2018-\u201b])\1/g, "$1"), value);
  }
});

test("the guard ends with 2 everywhere but after an exit code of 0 with the answer", (parse) => {
  const root = parse(Deno.readTextFileSync(`${REPOSITORY}/src/editor/scaffolds/no-cloud-guard.ps1`));
  const all = [...nodesOf(root)];
  const exits = all.filter(({ type, text }) => type === "flow_control_statement" && text.startsWith("exit"));
  const condition = "if ($passed) { exit 0 }";
  const passed = /^\$passed = \$process\.ExitCode -eq 0 -and .* -ceq "no-cloud-guard: pass \$hookEvent"$/;
  assert.equal(exits.filter(({ text }) => text === "exit 0").length, 1);
  assert.ok(all.some(({ type, text }) => type === "if_statement" && text === condition));
  assert.equal(all.filter(({ type, text }) => type === "assignment_expression" && passed.test(text)).length, 1);
  assert.deepEqual([...new Set(exits.map(({ text }) => text))].sort(), ["exit 0", "exit 2"]);
  assert.match(root.text.trimEnd(), /\} catch \{[^{}]*exit 2\s*\}$/);
});
