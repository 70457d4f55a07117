/** Trees of files on the disk for tests of what is protected in them. */

/** A fresh directory; its path is real. */
export async function inTemporary(work: (root: string) => Promise<void> | void): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    await work(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** Writes a file and makes the directories above it. */
export function write(path: string, content = "x"): void {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, content);
}

/** A change of a tree; paths are relative to its root. */
export interface TreeStep {
  act: string;
  path: string;
  other: string;
}

/** Does a step of a random history; one that does not fit the tree does nothing. */
export function doStep(root: string, { act, path, other }: TreeStep): void {
  try {
    const [one, two] = [`${root}/${path}`, `${root}/${other}`];
    if (act === "write") write(one, path.endsWith("secret") ? `no-cloud: ${other}\n` : "x");
    else if (act === "remove") Deno.removeSync(one, { recursive: true });
    else if (act === "rename") Deno.renameSync(one, two);
    else if (act === "link") Deno.symlinkSync(two, one);
    else Deno.linkSync(one, two);
  } catch (error) {
    if (!(error instanceof Error && "code" in error) && !(error instanceof TypeError)) throw error;
  }
}
