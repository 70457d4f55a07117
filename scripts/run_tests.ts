/**
 * `deno task test`: all tests, or the files and options that are given. Many wait for a process or a socket, so three
 * groups of files run for every processor; `DENO_JOBS` says otherwise.
 */
import { buildBundle } from "./bundle/build.ts";

/** Files that wait for terminals, clocks and children more than they compute. */
const WAITING = /^tests\/(?:docs|chat|mcp|background|keys|local_model|boundary\/(?:exposure|sandbox|mcp|slipped|ways))/;
/** How many groups there are of each kind of file. */
const GROUPS = 12;

/** Starts a command in mounts of its own, which end with it. */
const IN_MEMORY = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o mode=1777 tmpfs "$TMPDIR" && exec "$@"', "sh"];

const FOLDER = decodeURIComponent(new URL("../dist/tests", import.meta.url).pathname);

const jobs = Deno.env.get("DENO_JOBS") ?? String(navigator.hardwareConcurrency * 3);
// Types are what `deno task check` is for: checking them here takes a fifth of a minute before the first test runs.
const flags = ["-A", "--no-check", "--parallel", "--quiet", "--preload", "tests/time_limit.ts"];
const env: Record<string, string> = { DENO_JOBS: jobs, PATH: withoutDetours(Deno.env.get("PATH") ?? "") };
await Deno.mkdir(FOLDER, { recursive: true });
// The bundle starts in half the time of the sources, and all tests together start the program a thousand times.
if (Deno.args.length === 0) env["AGENTCLI_CHILD"] = await writeBundle();
const words = Deno.args.length > 0 ? Deno.args : await writeGroups();
const memory = Deno.args.length > 0 ? null : await memoryDirectory();
if (memory !== null) env["TMPDIR"] = memory;
const command = [...memory === null ? [] : IN_MEMORY, Deno.execPath(), "test", ...flags, ...words];
const tests = new Deno.Command(command[0] ?? "", { args: command.slice(1), env });
const { code } = await tests.spawn().status;
if (memory !== null) await Deno.remove(memory);
Deno.exit(code);

/** Writes the bundle for children, beside that of a release, and returns its path. */
async function writeBundle(): Promise<string> {
  await Deno.writeTextFile(`${FOLDER}/agentcli.js`, await buildBundle());
  return `${FOLDER}/agentcli.js`;
}

/**
 * Writes modules that import the files in groups, and returns their paths: Deno runs each module that it is given in an
 * isolate of its own, and loading the program anew for every file took a fifth of the time.
 */
async function writeGroups(): Promise<string[]> {
  const groups = inGroups(["scripts", "src", "tests"].flatMap(testsBelow).sort());
  return await Promise.all(groups.map(async (group, at) => {
    const path = `${FOLDER}/group_${at}.ts`;
    await Deno.writeTextFile(path, group.map((file) => `import "../../${file}";\n`).join(""));
    return path;
  }));
}

/**
 * A shim of pyenv, rbenv or asdf starts twenty shells before its program: those of the system are found before them.
 */
function withoutDetours(path: string): string {
  const isShim = (directory: string) => /\bshims[\\/]?$/.test(directory);
  const mark = Deno.build.os === "windows" ? ";" : ":";
  const directories = path.split(mark);
  return [...directories.filter((one) => !isShim(one)), ...directories.filter(isShim)].join(mark);
}

/**
 * Makes a temporary directory that lies in memory for the tests: a third of their time was making small files on a
 * disk. Null where that cannot be, as only root may mount, and where the caller names a place.
 */
async function memoryDirectory(): Promise<string | null> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0 || Deno.env.has("TMPDIR")) return null;
  const directory = await Deno.makeTempDir({ prefix: "agentcli-" });
  const probe = new Deno.Command("unshare", { args: [...IN_MEMORY.slice(1), "true"], env: { TMPDIR: directory } });
  if (await probe.output().then(({ success }) => success, () => false)) return directory;
  await Deno.remove(directory);
  return null;
}

function testsBelow(directory: string): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) => {
    const path = `${directory}/${name}`;
    return isDirectory ? testsBelow(path) : /_test\.tsx?$/.test(name) ? [path] : [];
  });
}

/**
 * Returns groups that wait in turn with groups that compute, so that neither kind leaves a processor idle; the quick
 * tests beside the code come last, so that all end together.
 */
function inGroups(files: readonly string[]): string[][] {
  const kinds = Object.groupBy(files, (path) => {
    return WAITING.test(path) ? "waiting" : path.startsWith("src/") ? "quick" : "computing";
  });
  const [waiting, computing, quick] = [kinds.waiting, kinds.computing, kinds.quick].map((kind = []) => {
    return Array.from({ length: GROUPS }, (_, at) => kind.filter((_, place) => place % GROUPS === at));
  }) as [string[][], string[][], string[][]];
  return [...waiting.flatMap((group, at) => [group, computing[at] ?? []]), ...quick];
}
