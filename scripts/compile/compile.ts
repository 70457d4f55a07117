/**
 * `deno task compile`: standalone binaries of the bundle, their sums, and the list of what is inside.
 *
 * Usage: deno task compile [--target TARGET]... [--all] [--output FOLDER] [--bundle FILE] [--bases FOLDER]
 *                          [--deno FILE] [--once]
 * Without a target it is that of this machine. --bundle takes a bundle that is there already. --bases is a folder with
 * Deno's base binaries, unpacked, each as denort-TARGET: nothing is fetched then. They fit the Deno of their version
 * alone, which --deno names where it is another than the one that runs this. Each binary is made twice and compared,
 * but with --once. SOURCE_DATE_EPOCH gives the time that is written into them, else the commit does.
 */
import { binaryName, compileBinary, type Compiler, compilerAt, type Target, TARGETS } from "./binary.ts";
import { componentList } from "./components.ts";
import { modulesOf } from "./modules.ts";
import { checkedOutCommit, withCommit } from "../release/commit.ts";
import { sha256, writeSums } from "../release/sums.ts";
import { perform, readLine, ScriptError, UsageError } from "../script.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname);

/** What is made, and from what. */
export interface Wanted {
  targets: readonly Target[];
  folder: string;
  /** A bundle that is there already; null: it is made. */
  bundle: string | null;
  /** A folder of base binaries; null: Deno finds them. */
  bases: string | null;
  compiler: Compiler;
  /** Not made a second time and compared. */
  once: boolean;
}

async function wantedOf(args: readonly string[]): Promise<Wanted> {
  const { flags, values } = readLine(args, {
    all: "flag",
    once: "flag",
    target: "list",
    output: "value",
    bundle: "value",
    bases: "value",
    deno: "value",
  });
  const named = (values.target ?? [Deno.build.target]).map(targetOf);
  return {
    targets: flags.has("all") ? TARGETS : named,
    folder: values.output?.[0] ?? `${root}dist/release`,
    bundle: values.bundle?.[0] ?? null,
    bases: values.bases?.[0] ?? null,
    compiler: await compilerAt(values.deno?.[0] ?? null),
    once: flags.has("once"),
  };
}

/** The target of that name. Throws {@link UsageError}. */
export function targetOf(word: string): Target {
  const target = TARGETS.find((one) => one === word);
  if (target === undefined) throw new UsageError(`no target ${word}; there are: ${TARGETS.join(", ")}`);
  return target;
}

/**
 * Throws {@link ScriptError} that names every target whose base binary cannot be had, a line or two for each; where
 * Deno fetches them, they are in its cache afterwards.
 */
export async function requireBases({ targets, bases, compiler }: Pick<Wanted, "targets" | "bases" | "compiler">) {
  const folder = await Deno.makeTempDir();
  try {
    const empty = { modules: new Map([["main.js", ""]]), folder, seconds: 0, compiler };
    await forEach(targets, async (target) => {
      await compileBinary({ ...empty, target, base: await baseIn(bases, target) });
      await Deno.remove(`${folder}/${binaryName(target)}`);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** All of them, also after one has failed; throws what went wrong with each. */
async function forEach(targets: readonly Target[], work: (target: Target) => Promise<void>): Promise<void> {
  const failed: ScriptError[] = [];
  for (const target of targets) {
    try {
      await work(target);
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error;
      failed.push(error);
    }
  }
  if (failed.length > 0) throw new ScriptError(failed.map(({ message }) => message).join("\n"));
}

/** Makes everything and prints a line for each file. Throws {@link ScriptError}, when the rest is made. */
export async function compile({ targets, folder, bundle: given, bases, compiler, once }: Wanted): Promise<void> {
  if (bases === null && targets.length > 1 && Deno.env.has("DENORT_BIN")) {
    throw new ScriptError(
      "DENORT_BIN names the base binary of one target; name one --target, or a folder with --bases",
    );
  }
  const commit = await checkedOutCommit();
  const seconds = Number(Deno.env.get("SOURCE_DATE_EPOCH") ?? commit?.seconds ?? 0);
  if (!Number.isSafeInteger(seconds)) throw new ScriptError("SOURCE_DATE_EPOCH is no whole number of seconds");
  const plain = given === null ? await builtBundle() : await Deno.readTextFile(given);
  const bundle = given !== null || commit === null ? plain : withCommit(plain, commit.name);
  await Deno.mkdir(folder, { recursive: true });
  // Binaries of an earlier run must not get a sum beside the new ones.
  for (const target of TARGETS) await Deno.remove(`${folder}/${binaryName(target)}`).catch(() => {});
  await Deno.writeTextFile(`${folder}/agentcli.js`, bundle);
  const modules = modulesOf(bundle);
  try {
    await forEach(targets, async (target) => {
      await compileTwice({ modules, target, folder, seconds, base: await baseIn(bases, target), compiler }, once);
    });
  } finally {
    await writeComponents({ bundle, folder, seconds, runtime: compiler.version });
    await Deno.stdout.write(new TextEncoder().encode(await writeSums(folder)));
  }
}

/** Loaded for this alone: it needs a package, which a bundle that is there already does not. */
async function builtBundle(): Promise<string> {
  const { buildBundle } = await import("../bundle/build.ts");
  try {
    return await buildBundle();
  } catch (error) {
    // Deno's own reason, mostly that npm is not reached; anything else is a bug of the build.
    const reason = error instanceof Error
      ? /^deno bundle failed:\n(?:error: )?(.*)/.exec(error.message)?.[1]
      : undefined;
    if (reason === undefined) throw error;
    throw new ScriptError(`the bundle cannot be made: ${reason}`);
  }
}

async function baseIn(folder: string | null, target: Target): Promise<string | null> {
  if (folder === null) return null;
  const path = `${folder}/denort-${target}`;
  const real = await Deno.realPath(path).catch(() => null);
  if (real === null) throw new ScriptError(`${target}: there is no base binary ${path}`);
  return real;
}

async function compileTwice(binary: Parameters<typeof compileBinary>[0], once: boolean): Promise<void> {
  const first = await sha256(await Deno.readFile(await compileBinary(binary)));
  if (once) return;
  const second = await sha256(await Deno.readFile(await compileBinary(binary)));
  if (first !== second) throw new ScriptError(`${binaryName(binary.target)}: two builds of the same bundle differ`);
}

async function writeComponents(
  of: { bundle: string; folder: string; seconds: number; runtime: string },
): Promise<void> {
  const lock: unknown = JSON.parse(await Deno.readTextFile(`${root}deno.lock`));
  const version = /VERSION = "([^"]+)"/.exec(await Deno.readTextFile(`${root}src/cli/version.ts`))?.[1] ?? "";
  const list = componentList({ ...of, lock, version });
  await Deno.writeTextFile(`${of.folder}/agentcli.cdx.json`, list);
}

if (import.meta.main) {
  await perform(import.meta.url, async (args) => await compile(await wantedOf(args)));
}
