/** Directories for what cannot lie everywhere: sockets, whose paths are short, and files that other users reach. */
import { join } from "../../src/platform/path.ts";

/** A socket's path ends after 104 bytes (macOS); the name in the directory has some of them. */
const LONGEST_PATH = 60;

/**
 * Makes a directory, the caller's to remove, with a short path without spaces or links that every user may pass. Below
 * the temporary directory of the user where that is such a place; it may be long, private and named in any way.
 */
export async function plainDirectory(prefix = "agentcli-"): Promise<string> {
  for (const place of [Deno.env.get("TMPDIR") ?? "", "/tmp", "/var/tmp"]) {
    const directory = await Deno.realPath(place).catch(() => null);
    if (directory === null || directory.length > LONGEST_PATH || !/^[\w/.-]+$/.test(directory)) continue;
    if (await isOpenToAll(directory)) return await Deno.makeTempDir({ dir: directory, prefix });
  }
  return await Deno.realPath(await Deno.makeTempDir({ prefix }));
}

async function isOpenToAll(directory: string): Promise<boolean> {
  for (let at = directory; at !== "/"; at = join(at, "..")) {
    if ((((await Deno.stat(at)).mode ?? 0o777) & 0o001) === 0) return false;
  }
  return true;
}
