/** Compares texts as a unified diff. Loads the diff library: import this module lazily. */
import { createTwoFilesPatch } from "npm:diff@9.0.0";

/**
 * The unified diff that turns `before` into `after`, with `name` as both file names (`/dev/null` for a file that is
 * not there yet: `before` null); empty when nothing changes.
 */
export function unifiedDiff(before: string | null, after: string, options: { name: string }): string {
  if (before === after) return "";
  const from = before === null ? "/dev/null" : options.name;
  const patch = createTwoFilesPatch(from, options.name, before ?? "", after, undefined, undefined, { context: 3 });
  // The library starts with two lines that belong to another format.
  return patch.replace(/^(Index: .*\n)?=+\n/, "");
}
