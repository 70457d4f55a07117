/** Names of files as results show them. */
import type { ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";

/** One line a file name, whatever it holds: control characters, and those that turn the direction, are written out. */
export function shownName(name: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  return name.replace(/[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** What stands behind the name of a protected path in a listing: ` [no-cloud]`; empty for the others. */
export function markOf(path: ResolvedPath, { workspace }: { workspace: Workspace }): string {
  const rule = workspace.ruleAt(path);
  return rule === null ? "" : ` [${rule.tier}]`;
}
