/**
 * Finds the program that a command lacked because the sandbox does not show it: version managers and virtual
 * environments have the real one in a directory that no setting names.
 */
import { statSync } from "../../platform/files.ts";
import { basename, dirname, isAbsolute, isWithin, join, resolve } from "../../platform/path.ts";
import { quietly, realOrNamed, realOrNull } from "../../platform/real_path.ts";
import { readRegularFile } from "../../boundary/reader.ts";
import { gitUserOf, type SandboxSettings } from "../../boundary/sandbox/sandbox.ts";
import type { Io } from "../../platform/io.ts";
import { shellWord } from "../../shell/quote.ts";

/** Where a command ran, and what it could see. */
interface CommandPlace {
  /** PATH and the user's home. */
  io: Pick<Io, "os" | "env">;
  cwd: string;
  /** Real paths of the session's directories. */
  roots: readonly string[];
  settings: Pick<SandboxSettings, "read">;
}

/** Characters at the end of an output that are looked through. */
const LOOKED_AT = 4_000;
/** A word that a shell, `env` or the system could not find, in the forms of bash, dash, zsh and busybox. */
const NOT_FOUND = new RegExp(
  String.raw`([^\s:'"\u2018\u2019]{1,500})['\u2019]?: (?:bad interpreter|cannot execute|(?:command )?not found|` +
    "no such file or directory)",
  "gi",
);
/** Printed by rustup where its settings are missing. */
const NO_TOOLCHAIN = /rustup could not choose a version/;
/** Visible in every sandbox. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib"];
/** Where a command finds programs once it has activated a virtual environment. */
const VIRTUAL = [".venv/bin", "venv/bin"];
/** Directories of programs, which need what lies beside these. */
const PROGRAMS = ["bin", "sbin", "libexec", "shims"];

/** Returns a notice for the user that names the directory and the setting; null where nothing was hidden. */
export function hiddenProgramNotice(output: string, place: CommandPlace): string | null {
  const { io, roots, settings: { read } } = place;
  const { userHome } = gitUserOf(io);
  const end = output.slice(-LOOKED_AT);
  const inHome = (path: string) => userHome === null ? path : path.replace(/^~(?=\/|$)/, userHome);
  const visible = [...roots, ...SYSTEM, ...[...pathsOf(io), ...read.map(inHome)].map(realOrNamed)];
  const words = [...end.matchAll(NOT_FOUND)].map(([, word = ""]) => word);
  const program = words.flatMap((word) => programsOf(word, place)).find((real) =>
    isProgram(real) && !visible.some((directory) => isWithin(directory, real))
  );
  const kept = [...roots, ...userHome === null ? [] : [userHome]];
  const [what, directory] = program === undefined
    ? ["the toolchain of rustup", NO_TOOLCHAIN.test(end) ? realOrNull(inHome("~/.rustup")) : null]
    : [program, directoryOf(program, kept)];
  if (directory === null || visible.includes(directory)) return null;
  const value = shellWord(read.length === 0 ? directory : JSON.stringify([...read, directory]));
  return `${what} is not visible in the sandbox; to let commands read its directory: ` +
    `agentcli config set sandbox.read ${value} (from the next session on)`;
}

function pathsOf(io: CommandPlace["io"]): string[] {
  return (io.env("PATH") ?? "").split(":").filter(isAbsolute);
}

/** Returns the real paths that a word can mean: on PATH, or a path with the interpreter that its first line names. */
function programsOf(word: string, { io, cwd, roots }: CommandPlace): string[] {
  if (!word.includes("/")) {
    const places = [...VIRTUAL.map((name) => join(cwd, name)), ...pathsOf(io)];
    return places.flatMap((directory) => realOrNull(join(directory, word)) ?? []);
  }
  const real = realOrNull(resolve(cwd, word));
  if (real === null) return [];
  // Whatever a command prints, nothing outside of the project is read.
  return roots.some((root) => isWithin(root, real)) ? [real, ...interpreterOf(real)] : [real];
}

function interpreterOf(script: string): string[] {
  const read = readRegularFile(script, { display: script, limit: 256 });
  const [, program = ""] = "refused" in read ? [] : /^#!\s*(\/\S+)/.exec(new TextDecoder().decode(read.bytes)) ?? [];
  const real = program === "" ? null : realOrNull(program);
  return real === null ? [] : [real];
}

function isProgram(real: string): boolean {
  const status = quietly(() => statSync(real));
  return status?.kind === "file" && ((status.mode ?? 0) & 0o111) !== 0;
}

/** Returns the directory that a program needs; null where that would hold one of these places. */
function directoryOf(real: string, places: readonly string[]): string | null {
  const own = dirname(real);
  const whole = PROGRAMS.includes(basename(own)) ? dirname(own) : own;
  const isWide = (directory: string) => places.some((place) => isWithin(directory, place));
  return [whole, own].find((directory) => !isWide(directory)) ?? null;
}
