/** Which shell runs a command, as an argument list. */
import type { Io } from "../../platform/io.ts";
import { findExecutable } from "../../platform/process.ts";
import { windowsShell } from "./windows_shell.ts";

/** Fixed places first; PATH is asked only where none of them has a shell. */
const PLACES = "/bin:/usr/bin:/usr/local/bin:/run/current-system/sw/bin";

/**
 * The argument list that runs `command`, unchanged, in bash, else in sh; PowerShell on Windows. Null when there is no
 * shell outside of `notBelow`. Standard error goes where standard output goes, so that their order is the real one.
 */
export async function shellArgv(
  command: string,
  options: { io: Pick<Io, "env" | "os">; notBelow: readonly string[] },
): Promise<[string, ...string[]] | null> {
  const path = options.io.env("PATH") ?? "";
  if (options.io.os === "windows") return await windowsShell(command, { path, notBelow: options.notBelow });
  const directories = `${PLACES}:${path}`;
  const sh = await findExecutable("sh", directories, options);
  const shell = await findExecutable("bash", directories, options) ?? sh;
  if (shell === null) return null;
  // The small outer shell joins the two outputs, forbids core files (they hold memory), and becomes the inner one.
  return sh === null ? [shell, "-c", command] : [sh, "-c", 'ulimit -c 0; exec "$@" 2>&1', "sh", shell, "-c", command];
}
