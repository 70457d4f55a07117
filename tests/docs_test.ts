/**
 * Every command of README.md and docs/ is run: in a network that has only loopback, with a fresh home and a project of
 * its own, and a stand-in server for a model. The few that are not are named in `docs/pages.ts` and shown as ignored.
 * `AGENTCLI_RELEASE` names the folder of a release (`deno task compile`) for the air-gapped guide to install.
 */
import assert from "node:assert/strict";
import { outputOf } from "../src/platform/process_group.ts";
import { type Block, blocksOf, commandsOf, shownSession } from "./docs/blocks.ts";
import type { Outcome, Plan } from "./docs/inside.ts";
import { NOT_RUN, OTHER_PAGE, PAGES, type PageSetting, SHOWN_SETUP } from "./docs/pages.ts";
import { plainDirectory } from "./helpers/plain_directory.ts";
import { programCommand, REPOSITORY } from "./helpers/program.ts";

const CUT = ["--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--"];
const canBeCut = await outputOf(new Deno.Command("bwrap", { args: [...CUT, "true"] })) !== null;
const canTrace = await outputOf(new Deno.Command("strace", { args: ["-V"] })) !== null;
const release = Deno.env.get("AGENTCLI_RELEASE");
const pagesOfDocs = [...Deno.readDirSync(`${REPOSITORY}/docs`)].map(({ name }) => `docs/${name}`);
const pages = ["README.md", ...pagesOfDocs.filter((path) => path.endsWith(".md")).sort()];

/** Why a command is not run; null when it is. */
function reasonNotToRun(path: string, command: string): string | null {
  if (!canTrace && /\bstrace\b/.test(command)) return "there is no strace here";
  // A command that is the whole line is known by the line's end.
  return NOT_RUN.find(({ page, words }) => page === path && `${command}\n`.includes(words))?.why ?? null;
}

function byWords<T>(table: Record<string, T> | undefined, text: string): T[] {
  return Object.entries(table ?? {}).filter(([words]) => text.includes(words)).map(([, value]) => value);
}

function scriptOf(block: Block, { path, setting }: { path: string; setting: PageSetting }): string {
  const commands = commandsOf(block.text).filter((command) => reasonNotToRun(path, command) === null);
  const text = [...byWords(setting.before, block.text), ...commands].join("\n");
  return Object.entries(setting.placeholders ?? {}).reduce((all, [word, value]) => all.replaceAll(word, value), text);
}

/** An empty home and project, and the program as `agentcli`. */
async function makePlace(place: string, { installs }: PageSetting): Promise<Plan["env"]> {
  for (const name of ["home", "project", "tmp", "bin"]) await Deno.mkdir(`${place}/${name}`, { recursive: true });
  const words = programCommand().map((word) => `'${word}'`).join(" ");
  // Nobody is there to say yes to what is shown first.
  if (installs !== true) {
    await Deno.writeTextFile(`${place}/bin/agentcli`, `#!/bin/sh\nexec ${words} "$@" --yes\n`, { mode: 0o755 });
  }
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout));
  const deno = Deno.execPath().replace(/\/[^/]*$/, "");
  return {
    PATH: `${place}/bin:${place}/home/.local/bin:${deno}:/usr/local/bin:/usr/bin:/bin`,
    SHELL: "/bin/bash",
    DENO_DIR: denoDir,
    DENO_NO_UPDATE_CHECK: "1",
    RELEASE: release ?? "",
  };
}

async function runCut(
  setting: PageSetting,
  blocks: string[],
  { inShell = false }: { inShell?: boolean } = {},
): Promise<Outcome[]> {
  // The pages name their paths without quotes.
  const root = await plainDirectory();
  try {
    const place = `${root}/place`;
    const env = await makePlace(place, setting);
    const plan: Plan = { place, fresh: setting.fresh === true, setup: setting.setup, inShell, blocks, env };
    const inside = [Deno.execPath(), "run", "-A", "--quiet", "--no-config", `${REPOSITORY}/tests/docs/inside.ts`];
    const child = new Deno.Command("bwrap", { args: [...CUT, ...inside], stdin: "piped", stdout: "piped" }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(JSON.stringify(plan)));
    await writer.close();
    const [setup, ...outcomes]: Outcome[] = await new Response(child.stdout).json();
    await child.status;
    assert.equal(setup?.code, 0, setup?.output);
    return outcomes;
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

function shows(outcome: Outcome | undefined, { text, setting }: { text: string; setting: PageSetting }): void {
  assert.equal(outcome?.code, 0, `${text}\n\n${outcome?.output}`);
  for (const pattern of byWords(setting.expected, text)) assert.match(outcome?.output ?? "", pattern);
}

for (const path of pages) {
  const setting = PAGES[path] ?? OTHER_PAGE;
  const missing = setting.installs === true && !release ? " (AGENTCLI_RELEASE names none)" : "";
  const blocks = blocksOf(await Deno.readTextFile(`${REPOSITORY}/${path}`)).filter(({ language }) => language === "sh");
  if (blocks.length === 0) continue;
  const name = `the commands of ${path} run, with the network cut${missing}`;
  Deno.test({ name, ignore: !canBeCut || missing !== "" }, async (test) => {
    const scripts = blocks.map((block) => ({ block, script: scriptOf(block, { path, setting }) }));
    const run = scripts.filter(({ script }) => script !== "");
    const outcomes = await runCut(setting, run.map(({ script }) => script));
    for (const [at, { block }] of run.entries()) {
      const { line, text } = block;
      await test.step(`${path}:${line} ${commandsOf(text)[0]}`, () => shows(outcomes[at], { text, setting }));
    }
    for (const command of blocks.flatMap(({ text }) => commandsOf(text))) {
      const why = reasonNotToRun(path, command);
      if (why !== null) await test.step({ name: `${path}: ${command}: not run: ${why}`, ignore: true, fn() {} });
    }
  });
}

/** Without what differs from run to run. */
function lasting(output: string): string {
  return output.replace(/^[\d.]+k? in\b.*$/m, "").trim();
}

Deno.test({ name: "the sessions that the README shows are what the program prints", ignore: !canBeCut }, async () => {
  const page = blocksOf(await Deno.readTextFile(`${REPOSITORY}/README.md`));
  const shown = page.filter(({ language }) => language === "text").flatMap(({ text }) => shownSession(text));
  assert.ok(shown.length > 0);
  const outcomes = await runCut({ setup: SHOWN_SETUP }, shown.map(({ command }) => command), { inShell: true });
  for (const [at, { command, output }] of shown.entries()) {
    assert.equal(lasting(outcomes[at]?.output ?? ""), lasting(output), command);
  }
});

Deno.test("the recordings of the pages are what the program shows", async (test) => {
  const record = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", `${REPOSITORY}/scripts/record_terminal.ts`, "--check"],
  });
  const { code, stderr } = await record.output();
  // It says so where tmux or bubblewrap is missing.
  await test.step({
    name: "docs/*.svg",
    ignore: code === 75,
    fn: () => assert.equal(code, 0, new TextDecoder().decode(stderr)),
  });
});

Deno.test("what is said to be not run is in the pages", async () => {
  for (const { page, words } of NOT_RUN) {
    assert.ok((await Deno.readTextFile(`${REPOSITORY}/${page}`)).includes(words), `${page} has no ${words}`);
  }
});

Deno.test("every file of the boundary, and every attack on it, belongs to a promise", async () => {
  const page = await Deno.readTextFile(`${REPOSITORY}/docs/architecture.md`);
  const rows = page.split("## What each promise rests on")[1]?.split("\n## ")[0]?.split("\n") ?? [];
  const cells = rows.filter((row) => row.startsWith("| ")).slice(2).map((row) =>
    row.split("|").map((cell) => cell.trim())
  );
  const named = (column: number) => [...new Set(cells.flatMap((row) => row[column]?.split(", ") ?? []))].sort();
  const files = (folder: string) => [...namesBelow(`${REPOSITORY}/${folder}`)].filter((name) => name.endsWith(".ts"));
  const code = files("src/boundary").filter((name) => !name.endsWith("_test.ts")).map((name) => name.slice(0, -3));
  const attacks = files("tests/boundary").filter((name) => name.endsWith("_test.ts") && name !== "harness_test.ts");
  assert.deepEqual(named(2), code.sort());
  assert.deepEqual(named(3), attacks.map((name) => name.slice(0, -"_test.ts".length)).sort());
});

function* namesBelow(folder: string, prefix = ""): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* namesBelow(`${folder}/${name}`, `${prefix}${name}/`);
    else yield prefix + name;
  }
}

Deno.test("each command of the pages that starts Deno keeps it from asking whether there is a newer one", async () => {
  for (const path of pages) {
    const page = await Deno.readTextFile(`${REPOSITORY}/${path}`);
    // The bare name in a sentence is no command.
    for (const { index } of page.matchAll(/(?<!DENO_NO_UPDATE_CHECK=1\s)\bdeno run(?!`)/g)) {
      assert.fail(`${path}:${page.slice(0, index).split("\n").length} starts deno without DENO_NO_UPDATE_CHECK=1`);
    }
  }
});
