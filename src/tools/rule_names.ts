/** Files as permission rules see them. */
import type { ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import { isWithin, relativeTo } from "../platform/path.ts";
import { readDenied, type Rule } from "./permission.ts";

/**
 * The names of a file, as addressed and with links resolved: a link inside the project must not lead around a rule, for
 * reading and for writing. Relative to the project, or absolute outside of it.
 */
export function ruleNames(
  path: ResolvedPath,
  { root }: Pick<Workspace, "root">,
): { paths: string[]; root: string } {
  const real = isWithin(root, path.real) ? relativeTo(root, path.real) : path.real;
  return { paths: [...new Set([path.display, real])], root };
}

/**
 * Says by which deny rule, as it was written, a file may not be read, or null; undefined when no rule speaks of reading.
 * Every tool that shows content asks it, and whatever attaches files.
 */
export function readDenials(
  workspace: Pick<Workspace, "root">,
  deny: readonly Rule[],
): ((path: ResolvedPath) => string | null) | undefined {
  const rules = deny.filter((rule) => rule.tool.toLowerCase() === "read");
  return rules.length === 0 ? undefined : (path) => readDenied(ruleNames(path, workspace), rules)?.text ?? null;
}
