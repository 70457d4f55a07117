/**
 * `deno task release VERSION`: checks, changelog, version, commit, the files of the release with their notes, and a
 * tag.
 *
 * Usage: deno task release VERSION [--dry-run | --files] [--address URL] [--target TARGET]...
 *                                  [--bases FOLDER] [--deno FILE] [--output FOLDER]
 * Without --target all six; that each of them can be made is tried first, before anything is changed. --bases and
 * --deno are those of `deno task compile`. --address is written into the install scripts, as the place they fetch from.
 * --files makes the files alone, from a checkout whose version is that one already: a tag that was pushed.
 * --dry-run changes nothing and prints what the release would say. Nothing is sent anywhere: pushing and uploading stay
 * by hand.
 */
import { VERSION } from "../../src/cli/version.ts";
import { compile, requireBases, targetOf, type Wanted } from "../compile/compile.ts";
import { compilerAt, TARGETS } from "../compile/binary.ts";
import { writePackaging } from "../packaging/write.ts";
import { checkedOutCommit } from "./commit.ts";
import { sha256 } from "./sums.ts";
import { notesOf, releasedChangelog, releasedNotes, withAddress, withVersion } from "./text.ts";
import { perform, readLine, ScriptError, UsageError } from "../script.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname);

interface Release extends Omit<Wanted, "bundle" | "once"> {
  version: string;
  /** Where the install scripts fetch from; empty: they ask. */
  address: string;
  dryRun: boolean;
  /** The texts are changed and the tag is set already. */
  filesOnly: boolean;
}

async function releaseOf(args: readonly string[]): Promise<Release> {
  const { flags, values, words: [version = ""] } = readLine(args, {
    "dry-run": "flag",
    files: "flag",
    address: "value",
    target: "list",
    bases: "value",
    deno: "value",
    output: "value",
  }, { words: 1 });
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new UsageError("name the version: deno task release 1.2.3");
  const address = values.address?.[0] ?? "";
  if (address !== "" && !address.startsWith("https://")) throw new UsageError("--address needs https://");
  return {
    version,
    address,
    dryRun: flags.has("dry-run"),
    filesOnly: flags.has("files"),
    targets: values.target?.map(targetOf) ?? TARGETS,
    folder: values.output?.[0] ?? `${root}dist/release-${version}`,
    bases: values.bases?.[0] ?? null,
    compiler: await compilerAt(values.deno?.[0] ?? null),
  };
}

async function run(program: string, args: string[]): Promise<void> {
  const shown = `${program === Deno.execPath() ? "deno" : program} ${args.join(" ")}`;
  console.log(`\n== ${shown}`);
  const { success } = await new Deno.Command(program, { args, cwd: root, stdin: "null" }).spawn().status;
  if (!success) throw new ScriptError(`failed: ${shown}`);
}

async function refuseUnready({ version, targets, bases, compiler }: Release): Promise<void> {
  const commit = await checkedOutCommit();
  if (commit === null) throw new ScriptError("a release is made in a git checkout");
  if (commit.name.endsWith("-modified")) throw new ScriptError("there are changes that are not committed: git status");
  const tagged = new Deno.Command("git", {
    args: ["rev-parse", "--quiet", "--verify", `refs/tags/v${version}`],
    cwd: root,
    stdout: "null",
  });
  if ((await tagged.output()).success) throw new ScriptError(`there is a tag v${version} already`);
  await requireBases({ targets, bases, compiler }).catch((error) => {
    if (!(error instanceof ScriptError)) throw error;
    throw new ScriptError(`${error.message}\n  a release without it names the others: --target TARGET ...`);
  });
}

async function release(args: readonly string[]): Promise<void> {
  const wanted = await releaseOf(args);
  const { version, folder } = wanted;
  const missing = TARGETS.filter((target) => !wanted.targets.includes(target));
  if (wanted.filesOnly) {
    if (VERSION !== version) throw new ScriptError(`this checkout is version ${VERSION}`);
    const notes = releasedNotes(await Deno.readTextFile(`${root}CHANGELOG.md`), version);
    return await makeFiles(wanted, notesOf({ version, notes, missing }));
  }
  const day = new Date().toISOString().slice(0, 10);
  const { changelog, notes } = releasedChangelog(await Deno.readTextFile(`${root}CHANGELOG.md`), { version, day });
  const changed = new Map([
    ["CHANGELOG.md", changelog],
    ["src/cli/version.ts", withVersion(await Deno.readTextFile(`${root}src/cli/version.ts`), version)],
    ["deno.json", withVersion(await Deno.readTextFile(`${root}deno.json`), version)],
  ]);
  const said = notesOf({ version, notes, missing });
  if (wanted.dryRun) {
    return console.log(`${version} of ${day} would change ${[...changed.keys()].join(", ")} and say:\n\n${said}`);
  }
  try {
    await refuseUnready(wanted);
    await run(Deno.execPath(), ["task", "check"]);
    await run(Deno.execPath(), ["task", "test"]);
    await commit(version, changed);
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    throw new ScriptError(`${error.message}\nnothing was changed`);
  }
  try {
    await run(Deno.execPath(), ["task", "check"]);
    await makeFiles(wanted, said);
    // Last, so that a tag stands for files that were made.
    await run("git", ["tag", "-a", `v${version}`, "-m", `agentcli ${version}`]);
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    const undo = "the commit is made and has no tag; to take it back: git reset --keep HEAD~1";
    throw new ScriptError(`${error.message}\n${undo}`);
  }
  console.log(`\n${version} is in ${folder}. To publish: git push --follow-tags, and upload the files of that folder.`);
}

/** The texts as one commit; where git does not make it, the files are what they were. */
async function commit(version: string, texts: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of texts) await Deno.writeTextFile(`${root}${path}`, text);
  try {
    await run("git", ["commit", "--quiet", "-m", `Release ${version}`, "--", ...texts.keys()]);
  } catch (error) {
    await run("git", ["checkout", "--quiet", "HEAD", "--", ...texts.keys()]);
    throw error;
  }
}

async function makeFiles({ address, version, ...wanted }: Release, notes: string): Promise<void> {
  const { folder } = wanted;
  // Compared, looked through for names of this machine, and with the commit in it.
  await run(Deno.execPath(), ["task", "bundle"]);
  const bundle = `${root}dist/agentcli.js`;
  await Deno.writeTextFile(bundle, withAddress(await Deno.readTextFile(bundle), address));
  await Deno.mkdir(folder, { recursive: true });
  // They go in before the sums are made.
  await Deno.writeTextFile(`${folder}/NOTES.md`, notes);
  for (const name of ["install.sh", "install.ps1"]) {
    const script = withAddress(await Deno.readTextFile(`${root}scripts/${name}`), address);
    await Deno.writeTextFile(`${folder}/${name}`, script);
  }
  await Deno.copyFile(`${root}LICENSE`, `${folder}/LICENSE`);
  await compile({ ...wanted, bundle, once: false });
  await writePackaging(folder, { version, address });
  // For `install.sh --sums`: none of the files can hold it.
  console.log(`\nSHA-256 of SHA256SUMS: ${await sha256(await Deno.readFile(`${folder}/SHA256SUMS`))}`);
}

if (import.meta.main) await perform(import.meta.url, release);
