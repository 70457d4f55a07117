/** Looks for ignore files that ripgrep takes in another way than we do, or that it would never finish to read. */
import type { ResolvedPath, Workspace } from "../../boundary/workspace.ts";
import { walkFiles } from "../walk.ts";

/**
 * Whether a directory that is searched holds a `.gitignore` that is no regular file (ripgrep opens a FIFO, and waits for
 * ever), or a `.rgignore`, which ripgrep 13 obeys whatever it is told. Throws the abort reason.
 */
export async function meetsForeignIgnoreFile(
  start: ResolvedPath,
  options: { workspace: Workspace; signal: AbortSignal },
): Promise<boolean> {
  let met = false;
  const onListed = (entries: readonly { name: string; kind: string }[]) => {
    met ||= entries.some(({ name, kind }) => name === ".rgignore" || (name === ".gitignore" && kind !== "file"));
  };
  for await (const _file of walkFiles(start, { ...options, onListed })) if (met) return true;
  return met;
}
