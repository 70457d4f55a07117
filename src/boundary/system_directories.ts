/** Directories of the system whose files are doors, not content: reading them could show keys of other processes. */
import { isWithin } from "../platform/path.ts";

const SYSTEM_DIRECTORIES: readonly string[] = ["/proc", "/sys", "/dev"];

/** Whether a real path lies in one of them. */
export function isOfSystem(real: string): boolean {
  return SYSTEM_DIRECTORIES.some((directory) => isWithin(directory, real));
}
