/** An entry of `providers:` as a comment in its place, for what may be there one day. Works on the text alone. */
import { lineEnding } from "./yaml_layout.ts";
import { indentedPair } from "./yaml_render.ts";

/** The lines of a commented entry; `note` stands behind its name. */
export function commentLines([name, value]: readonly [string, unknown], note: string): string[] {
  const [first = "", ...rest] = indentedPair([name, value], 0).trimEnd().split("\n");
  return [`# ${first} # ${note}`, ...rest.map((line) => `# ${line}`)];
}

/** Whether an entry of that name stands in the text as a comment, whoever wrote it. */
export function isCommented(text: string, name: string): boolean {
  return new RegExp(`^[ \\t]*#[# \\t]*${RegExp.escape(name)}:`, "m").test(text);
}

/** The text with the lines behind the entries of `providers:`, which is made where it is missing. */
export function withComment(text: string, lines: readonly string[]): string {
  const feed = lineEnding(text);
  const ended = text === "" || text.endsWith("\n") ? text : text + feed;
  const all = ended.split(/(?<=\n)/);
  const start = all.findIndex((line) => /^providers:[ \t]*(?:#.*)?$/.test(line.trimEnd()));
  const block = (indent: string) => lines.map((line) => indent + line + feed);
  if (start < 0) return [ended, `providers:${feed}`, ...block("  ")].join("");
  let [end, indent] = [start + 1, "  "];
  for (let at = start + 1; /^(?:[ #]|$)/.test(all[at]?.trimEnd() ?? "-"); at++) {
    const own = /^ +(?=\S)/.exec(all[at] ?? "")?.[0];
    if (own === undefined) continue;
    if (end === start + 1) indent = own;
    end = at + 1;
  }
  return [...all.slice(0, end), ...block(indent), ...all.slice(end)].join("");
}

/** The text without these lines, where they stand as they were written, at any indentation. */
export function withoutComment(text: string, lines: readonly string[]): string {
  const pattern = lines.map((line) => `[ \\t]*${RegExp.escape(line)}\\r?\\n`).join("");
  return text.replace(new RegExp(`^${pattern}`, "m"), "");
}
