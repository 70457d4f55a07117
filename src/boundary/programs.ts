/** Programs that we start ourselves, outside of any sandbox: what a command of a model could have made is none. */
import { openHome } from "../platform/home.ts";
import type { Io } from "../platform/io.ts";
import { findExecutable } from "../platform/process.ts";
import { knownRoots } from "./policy/project_record_files.ts";

/** Where a program is looked for. */
export interface ProgramSearch {
  /** The value of PATH. */
  path: string;
  /** Real paths: the project, the session's directories, and where the program is run. */
  roots: readonly string[];
  /** Leads to the home, which knows the user's protected projects. Null where `roots` holds them. */
  io: Pick<Io, "env" | "os"> | null;
}

/**
 * Returns the absolute path of a program, looked up on PATH; null when it is not there. What lies below one of the roots,
 * or in a project that the home knows, is passed over, as named and as linked: sandboxed commands write there. Throws
 * `home_unusable` when what the home knows cannot be read.
 */
export async function findProgram(name: string, { path, roots, io }: ProgramSearch): Promise<string | null> {
  const home = io === null ? null : await openHome(io).catch(() => null);
  const known = home === null ? [] : await knownRoots(home);
  return await findExecutable(name, path, { notBelow: [...roots, ...known] });
}
