/**
 * `deno task compile`: standalone binaries of the bundle, their sums, and the list of what is inside.
 *
 * Usage: deno task compile [--target TARGET]... [--all] [--output FOLDER] [--bundle FILE] [--bases FOLDER] [--once]
 * Without a target it is that of this machine. --bundle takes a bundle that is there already. --bases is a folder with
 * Deno's base binaries, unpacked, each as denort-TARGET: nothing is fetched then. Each binary is made twice and
 * compared, but with --once. SOURCE_DATE_EPOCH gives the time that is written into them, else the commit does.
 */
import { binaryName, compileBinary, CompileError, type Target, TARGETS } from "./compile_binary.ts";
import { componentList } from "./compile_components.ts";
import { checkedOutCommit, withCommit } from "./release_commit.ts";
import { sha256, writeSums } from "./release_sums.ts";

const root = decodeURIComponent(new URL("..", import.meta.url).pathname);

interface Wanted {
  targets: Target[];
  folder: string;
  bundle: string | null;
  bases: string | null;
  once: boolean;
}

function parseArguments(args: readonly string[]): Wanted {
  const wanted: Wanted = { targets: [], folder: `${root}dist/release`, bundle: null, bases: null, once: false };
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    const value = () => {
      const next = args[++at];
      if (next === undefined) throw new CompileError(`${word} needs a value`);
      return next;
    };
    if (word === "--all") wanted.targets = [...TARGETS];
    else if (word === "--once") wanted.once = true;
    else if (word === "--output") wanted.folder = value();
    else if (word === "--bundle") wanted.bundle = value();
    else if (word === "--bases") wanted.bases = value();
    else if (word === "--target") wanted.targets.push(targetOf(value()));
    else throw new CompileError(`unknown option ${word}`);
  }
  if (wanted.targets.length === 0) wanted.targets.push(targetOf(Deno.build.target));
  return wanted;
}

function targetOf(word: string): Target {
  const target = TARGETS.find((one) => one === word);
  if (target === undefined) throw new CompileError(`no target ${word}; there are: ${TARGETS.join(", ")}`);
  return target;
}

/** Makes everything and prints a line for each file. */
export async function compile(args: readonly string[]): Promise<void> {
  const { targets, folder, bundle: given, bases, once } = parseArguments(args);
  if (bases === null && targets.length > 1 && Deno.env.has("DENORT_BIN")) {
    throw new CompileError(
      "DENORT_BIN names the base binary of one target; name one --target, or a folder with --bases",
    );
  }
  const commit = await checkedOutCommit();
  const seconds = Number(Deno.env.get("SOURCE_DATE_EPOCH") ?? commit?.seconds ?? 0);
  if (!Number.isSafeInteger(seconds)) throw new CompileError("SOURCE_DATE_EPOCH is no whole number of seconds");
  const plain = given === null ? await builtBundle() : await Deno.readTextFile(given);
  const bundle = given !== null || commit === null ? plain : withCommit(plain, commit.name);
  await Deno.mkdir(folder, { recursive: true });
  // Binaries of an earlier run must not get a sum beside the new ones.
  for (const target of TARGETS) await Deno.remove(`${folder}/${binaryName(target)}`).catch(() => {});
  await Deno.writeTextFile(`${folder}/agentcli.js`, bundle);
  const failed: CompileError[] = [];
  for (const target of targets) {
    try {
      await compileTwice({ bundle, target, folder, seconds, base: await baseIn(bases, target) }, once);
    } catch (error) {
      if (!(error instanceof CompileError)) throw error;
      failed.push(error);
    }
  }
  await writeComponents({ bundle, folder, seconds });
  await Deno.stdout.write(new TextEncoder().encode(await writeSums(folder)));
  if (failed.length > 0) throw new CompileError(failed.map(({ message }) => message).join("\n"));
}

/** Loaded for this alone: it needs a package, which a bundle that is there already does not. */
async function builtBundle(): Promise<string> {
  const { buildBundle, eagerFunctions } = await import("./bundle_build.ts");
  try {
    return (await buildBundle(await eagerFunctions())).text;
  } catch (error) {
    // Deno's own reason, mostly that npm is not reached; anything else is a bug of the build.
    const reason = error instanceof Error
      ? /^deno bundle failed:\n(?:error: )?(.*)/.exec(error.message)?.[1]
      : undefined;
    if (reason === undefined) throw error;
    throw new CompileError(`the bundle cannot be made: ${reason}`);
  }
}

async function baseIn(folder: string | null, target: Target): Promise<string | null> {
  if (folder === null) return null;
  const path = `${folder}/denort-${target}`;
  const real = await Deno.realPath(path).catch(() => null);
  if (real === null) throw new CompileError(`${target}: there is no base binary ${path}`);
  return real;
}

async function compileTwice(binary: Parameters<typeof compileBinary>[0], once: boolean): Promise<void> {
  const first = await sha256(await Deno.readFile(await compileBinary(binary)));
  if (once) return;
  const second = await sha256(await Deno.readFile(await compileBinary(binary)));
  if (first !== second) throw new CompileError(`${binaryName(binary.target)}: two builds of the same bundle differ`);
}

async function writeComponents(of: { bundle: string; folder: string; seconds: number }): Promise<void> {
  const lock: unknown = JSON.parse(await Deno.readTextFile(`${root}deno.lock`));
  const version = /VERSION = "([^"]+)"/.exec(await Deno.readTextFile(`${root}src/cli/version.ts`))?.[1] ?? "";
  const list = componentList({ ...of, lock, version, runtime: Deno.version.deno });
  await Deno.writeTextFile(`${of.folder}/agentcli.cdx.json`, list);
}

if (import.meta.main) {
  try {
    await compile(Deno.args);
  } catch (error) {
    const full = error instanceof Error && "code" in error && error.code === "ENOSPC";
    if (!full && !(error instanceof CompileError)) throw error;
    console.error(full ? "no space left on the disk" : error.message);
    Deno.exit(1);
  }
}
