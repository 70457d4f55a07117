/** Finds programs that agentcli itself starts outside a sandbox, but none that a model's command could have made. */
import { isAbsolute, resolve } from "../platform/path.ts";
import { openHome } from "../platform/home.ts";
import type { Io } from "../platform/io.ts";
import { findExecutable } from "../platform/process.ts";
import { knownRoots } from "./policy/project_record_files.ts";

/** Says where to look for a program. */
export interface ProgramSearch {
  /** The value of PATH. */
  path: string;
  /** Real paths: the project, the session's directories, and where the program is run. */
  roots: readonly string[];
  /** Used to find the home, which lists the user's protected projects. */
  io: Pick<Io, "env" | "os">;
}

/**
 * Returns the absolute path of a program on PATH, or null. Skips programs below a root or in a known project, both by
 * name and after resolving links, because sandboxed commands can write there. Throws `home_unusable` if the list of
 * known projects cannot be read.
 */
export async function findProgram(name: string, { path, roots, io }: ProgramSearch): Promise<string | null> {
  const home = await openHome(io).catch(() => null);
  const known = home === null ? [] : await knownRoots(home);
  return findExecutable(name, path, { notBelow: [...roots, ...known] });
}

/** Returns the program that a command line names: by a path, relative to `cwd`, or on PATH; null if there is none. */
export async function programNamed(command: string, cwd: string, search: ProgramSearch): Promise<string | null> {
  if (isAbsolute(command)) return command;
  return /[/\\]/.test(command) ? resolve(cwd, command) : await findProgram(command, search);
}
