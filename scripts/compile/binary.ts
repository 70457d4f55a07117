/** One standalone binary. */
import { outputOf } from "../../src/platform/process_group.ts";
import { systemOf } from "./formats.ts";
import { checkedSignature } from "./signature.ts";
import { ScriptError } from "../script.ts";

/** The systems that binaries are made for. */
export const TARGETS = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
  "aarch64-pc-windows-msvc",
] as const;

/** One of {@link TARGETS}. */
export type Target = (typeof TARGETS)[number];

/** What one binary is made of. */
export interface Binary {
  /** Its modules by file name; `main.js` starts it. */
  modules: ReadonlyMap<string, string>;
  target: Target;
  /** Folder for the result; it is there. */
  folder: string;
  /** Time of the modules inside, in seconds of 1970: Deno writes it into the binary. */
  seconds: number;
  /** Path of Deno's base binary for the target; null: Deno finds it. */
  base: string | null;
  compiler: Compiler;
}

/** The Deno that compiles: a base binary of another version gives a binary that does not start. */
export interface Compiler {
  path: string;
  version: string;
}

/** The Deno at `path`; null: the one that runs this. */
export async function compilerAt(path: string | null): Promise<Compiler> {
  if (path === null) return { path: Deno.execPath(), version: Deno.version.deno };
  const said = await outputOf(new Deno.Command(path, { args: ["--version"], stderr: "null" }));
  const version = /^deno (\d+\.\d+\.\d+)/.exec(new TextDecoder().decode(said?.stdout))?.[1];
  if (version === undefined) throw new ScriptError(`${path} is no Deno that runs here`);
  return { path: await Deno.realPath(path), version };
}

/** Name of the file. */
export function binaryName(target: Target): string {
  return `agentcli-${target}${target.includes("windows") ? ".exe" : ""}`;
}

/** Writes the binary and gives its path. Throws {@link ScriptError}, mostly for want of Deno's base binary. */
export async function compileBinary(binary: Binary): Promise<string> {
  const { modules, target, seconds, base, compiler } = binary;
  const output = `${await Deno.realPath(binary.folder)}/${binaryName(target)}`;
  const work = await Deno.makeTempDir();
  try {
    // Alone in a folder: Deno would embed the packages of a package.json or node_modules above it.
    const sources = `${work}/agentcli`;
    await Deno.mkdir(sources);
    for (const [name, text] of modules) {
      await Deno.writeTextFile(`${sources}/${name}`, text);
      await Deno.utime(`${sources}/${name}`, seconds, seconds);
    }
    const { success, stderr } = await new Deno.Command(compiler.path, {
      args: ["compile", "--quiet", "--no-check", "--no-config", "--no-lock", "--no-code-cache", "--no-prompt"].concat(
        ["--allow-all", "--target", target, "--output", output, "main.js"],
      ),
      cwd: sources,
      clearEnv: true,
      env: { ...compileEnvironment(seconds), ...base === null ? {} : { DENORT_BIN: base } },
    }).output();
    if (!success) {
      throw new ScriptError(reasonOf(new TextDecoder().decode(stderr), { target, version: compiler.version }));
    }
  } finally {
    await Deno.remove(work, { recursive: true });
  }
  const found = await builtFor(output);
  if (!isFor(target, found)) {
    await Deno.remove(output);
    const other = found === null ? "no program" : `one for ${found.system} on ${found.processor}`;
    throw new ScriptError(`${target}: the base binary (--bases, DENORT_BIN or the cache of Deno) is ${other}`);
  }
  if (target === "aarch64-apple-darwin") await refuseUnsigned(output);
  if (target === Deno.build.target) await refuseDead(output, compiler);
  return output;
}

/** Deno compiles onto a base binary of another version without a word, and the result then ends at its start. */
async function refuseDead(path: string, { version }: Compiler): Promise<void> {
  const quiet = { stdin: "null", stdout: "null", stderr: "null" } as const;
  const { success } = await new Deno.Command(path, { args: ["--version"], ...quiet }).output();
  if (success) return;
  await Deno.remove(path);
  throw new ScriptError(`${Deno.build.target}: the binary does not start; is the base binary that of Deno ${version}?`);
}

/** macOS on ARM ends a program at its start that is not signed, at least ad hoc; Deno does that as it compiles. */
async function refuseUnsigned(path: string): Promise<void> {
  try {
    if ((await checkedSignature(await Deno.readFile(path)))?.adhoc === true) return;
  } catch (error) {
    throw new ScriptError(`aarch64-apple-darwin: ${error instanceof Error ? error.message : error}`);
  }
  throw new ScriptError("aarch64-apple-darwin: the binary is not signed, so macOS would not start it");
}

/** Enough of a file to tell what it is for. */
const START_BYTES = 4096;

async function builtFor(path: string): Promise<ReturnType<typeof systemOf>> {
  using file = await Deno.open(path);
  const start = new Uint8Array(START_BYTES);
  const read = await file.read(start);
  return systemOf(start.subarray(0, read ?? 0));
}

/** Deno takes what it is given as the base binary of any target without a look at it. */
function isFor(target: Target, found: ReturnType<typeof systemOf>): boolean {
  return found !== null && target.includes(found.system) && target.startsWith(found.processor);
}

/** The environment of the compiler, which writes settings such as `OTEL_DENO` into the binary. */
function compileEnvironment(seconds: number): Record<string, string> {
  const kept = ["PATH", "HOME", "USERPROFILE", "LOCALAPPDATA", "SYSTEMROOT", "TMPDIR", "TEMP", "XDG_CACHE_HOME"].concat(
    ["DENO_DIR", "DENORT_BIN", "DENO_CERT", "DENO_TLS_CA_STORE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"],
  );
  const pairs = kept.map((name) => [name, Deno.env.get(name)]).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(pairs), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1", SOURCE_DATE_EPOCH: String(seconds) };
}

/** The compiler's trouble in one or two lines. */
export function reasonOf(stderr: string, { target, version }: { target: Target; version: string }): string {
  const first = stderr.split("\n").map((line) => line.replace(/^error:\s*/, "").trim()).find((line) => line !== "") ??
    "";
  if (/no space left/i.test(stderr)) return `${target}: no space left on the disk`;
  if (/dl\.deno\.land|base binary|denort/i.test(stderr)) {
    return `${target}: Deno's base binary cannot be had\n` +
      `  put denort-${target}.zip of Deno ${version} into $DENO_DIR/dl/release/v${version}/, or name the unpacked ` +
      `file with DENORT_BIN (one target), or its folder with --bases; it comes from https://dl.deno.land/release/v${version}/`;
  }
  return `${target}: deno compile failed: ${first}`;
}
