/** What stands in a directory, to be compared before and after. */

/**
 * Every regular file below a directory with its permission bits and bytes, every link with its target, every directory
 * with a slash. The home of agentcli and the caches of the runtime are left out.
 */
export function fileTree(directory: string, found = new Map<string, string>()): Map<string, string> {
  const entries = [...Deno.readDirSync(directory)].sort((one, other) => one.name < other.name ? -1 : 1);
  for (const { name, isDirectory, isFile, isSymlink } of entries) {
    const path = `${directory}/${name}`;
    if (name === ".agentcli" || name === ".cache") continue;
    if (isSymlink) found.set(path, `link to ${Deno.readLinkSync(path)}`);
    else if (isDirectory) {
      found.set(`${path}/`, "");
      fileTree(path, found);
    } else if (isFile) {
      const text = Array.from(Deno.readFileSync(path), (byte) => String.fromCharCode(byte)).join("");
      found.set(path, `${((Deno.statSync(path).mode ?? 0) & 0o777).toString(8)} ${text}`);
    }
  }
  return found;
}
