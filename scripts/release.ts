/**
 * `deno task release VERSION`: checks, changelog, version, commit and tag, then the files of the release and its notes.
 *
 * Usage: deno task release VERSION [--dry-run] [--address URL] [--target TARGET]... [--output FOLDER]
 * Without --target all six. --address is written into the install scripts, as the place they fetch from. --dry-run
 * changes nothing and prints what the release would say. Nothing is sent anywhere: pushing and uploading stay by hand.
 */
import { compile } from "./compile.ts";
import { CompileError, TARGETS } from "./compile_binary.ts";
import { checkedOutCommit } from "./release_commit.ts";
import { releasedChangelog, withAddress, withVersion } from "./release_text.ts";
import { writeSums } from "./release_sums.ts";

const root = decodeURIComponent(new URL("..", import.meta.url).pathname);

interface Wanted {
  version: string;
  dryRun: boolean;
  address: string;
  targets: string[];
  folder: string | null;
}

function parseArguments(args: readonly string[]): Wanted {
  const wanted: Wanted = { version: "", dryRun: false, address: "", targets: [], folder: null };
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "--dry-run") wanted.dryRun = true;
    else if (word === "--address") wanted.address = args[++at] ?? "";
    else if (word === "--target") wanted.targets.push(args[++at] ?? "");
    else if (word === "--output") wanted.folder = args[++at] ?? "";
    else if (wanted.version === "" && !word.startsWith("-")) wanted.version = word;
    else throw new CompileError(`unknown argument ${word}`);
  }
  if (!/^\d+\.\d+\.\d+$/.test(wanted.version)) throw new CompileError("name the version: deno task release 1.2.3");
  if (wanted.address !== "" && !wanted.address.startsWith("https://")) {
    throw new CompileError("--address needs https://");
  }
  const unknown = wanted.targets.find((target) => !TARGETS.some((one) => one === target));
  if (unknown !== undefined) throw new CompileError(`no target ${unknown}; there are: ${TARGETS.join(", ")}`);
  return wanted;
}

async function run(program: string, args: string[]): Promise<void> {
  console.log(`\n== ${program.split("/").at(-1)} ${args.join(" ")}`);
  const { success } = await new Deno.Command(program, { args, cwd: root, stdin: "null" }).spawn().status;
  if (!success) throw new CompileError(`failed: ${program} ${args.join(" ")}; nothing after it was done`);
}

async function release(args: readonly string[]): Promise<void> {
  const { version, dryRun, address, targets, folder: given } = parseArguments(args);
  const day = new Date().toISOString().slice(0, 10);
  const { changelog, notes } = releasedChangelog(await Deno.readTextFile(`${root}CHANGELOG.md`), { version, day });
  const changed = new Map([
    ["CHANGELOG.md", changelog],
    ["src/cli/version.ts", withVersion(await Deno.readTextFile(`${root}src/cli/version.ts`), version)],
    ["deno.json", withVersion(await Deno.readTextFile(`${root}deno.json`), version)],
  ]);
  if (dryRun) {
    return console.log(`${version} of ${day} would change ${[...changed.keys()].join(", ")} and say:\n\n${notes}`);
  }
  const commit = await checkedOutCommit();
  if (commit === null) throw new CompileError("a release is made in a git checkout");
  if (commit.name.endsWith("-modified")) throw new CompileError("there are changes that are not committed");
  await run(Deno.execPath(), ["task", "check"]);
  await run(Deno.execPath(), ["task", "test"]);
  for (const [path, text] of changed) await Deno.writeTextFile(`${root}${path}`, text);
  await run("git", ["commit", "--quiet", "-m", `Release ${version}`, "--", ...changed.keys()]);
  const folder = given ?? `${root}dist/release-${version}`;
  await Deno.mkdir(folder, { recursive: true });
  // They go in before the sums are made.
  await Deno.writeTextFile(`${folder}/NOTES.md`, notes);
  for (const name of ["install.sh", "install.ps1"]) {
    await Deno.writeTextFile(
      `${folder}/${name}`,
      withAddress(await Deno.readTextFile(`${root}scripts/${name}`), address),
    );
  }
  await Deno.copyFile(`${root}LICENSE`, `${folder}/LICENSE`);
  await writeSums(folder);
  const chosen = targets.length === 0 ? ["--all"] : targets.flatMap((target) => ["--target", target]);
  try {
    await compile([...chosen, "--output", folder]);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    const undo = "the commit is made and has no tag; to take it back: git reset --keep HEAD~1";
    throw new CompileError(`${error.message}\n${undo}`);
  }
  // Last, so that a tag stands for files that were made.
  await run("git", ["tag", "-a", `v${version}`, "-m", `agentcli ${version}`]);
  console.log(`\n${version} is in ${folder}. To publish: git push --follow-tags, and upload the files of that folder.`);
}

if (import.meta.main) {
  try {
    await release(Deno.args);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    console.error(error.message);
    Deno.exit(1);
  }
}
