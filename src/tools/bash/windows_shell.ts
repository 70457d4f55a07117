/** PowerShell, for Windows. Not run on Windows yet: written from its documentation. */
import { findExecutable } from "../../platform/process.ts";

/** The argument list that runs `command` in PowerShell; null when there is none on the path. */
export async function windowsShell(
  command: string,
  options: { path: string; notBelow: readonly string[] },
): Promise<[string, ...string[]] | null> {
  const shell = await findExecutable("pwsh", options.path, options) ??
    await findExecutable("powershell", options.path, options);
  return shell === null ? null : [shell, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", command];
}
