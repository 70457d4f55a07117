/** Moving files and directories, also to another disk. */
import { join } from "./path.ts";

/**
 * Moves a file, a link or a whole directory; nothing may stand at `to`. On another disk it is copied, with modes and
 * times, and then removed. Sockets and FIFOs stay behind there: they hold nothing.
 */
export async function movePath(from: string, to: string): Promise<void> {
  try {
    await Deno.rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EXDEV")) throw error;
    await copyPath(from, to);
    await Deno.remove(from, { recursive: true });
  }
}

/** Removes a directory of our own with all that lies in it. */
export async function removeDirectory(path: string): Promise<void> {
  await Deno.remove(path, { recursive: true });
}

async function copyPath(from: string, to: string): Promise<void> {
  const found = await Deno.lstat(from);
  if (found.isSymlink) return await Deno.symlink(await Deno.readLink(from), to);
  if (found.isDirectory) {
    await Deno.mkdir(to, { mode: 0o700 });
    for (const { name } of Array.from(Deno.readDirSync(from))) await copyPath(join(from, name), join(to, name));
  } else if (found.isFile) await Deno.copyFile(from, to);
  else return;
  if (found.mode !== null) await Deno.chmod(to, found.mode & 0o7777);
  if (found.atime !== null && found.mtime !== null) await Deno.utime(to, found.atime, found.mtime);
}
