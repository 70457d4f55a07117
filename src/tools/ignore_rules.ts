/** `.gitignore`: which names of a directory tree are left out of listings and searches. */
import { compilePattern, type PathPattern } from "./path_pattern.ts";

/** The rules of one file, for paths below its directory. */
export interface IgnoreRules {
  /** True: left out; false: taken in again by `!`; null: no rule speaks of it. `names` start below the file's directory. */
  verdict(names: readonly string[], isDirectory: boolean): boolean | null;
}

interface IgnoreRule {
  pattern: PathPattern;
  /** Compared with the last name alone. */
  anyDepth: boolean;
  directoryOnly: boolean;
  negated: boolean;
}

/** Rules beyond this are not read: matching asks every one of every path. */
const RULE_LIMIT = 2_000;

/** Reads the text of a `.gitignore`; null when it holds no rule. Source: gitignore(5). Never throws. */
export function parseIgnoreRules(text: string): IgnoreRules | null {
  const rules: IgnoreRule[] = [];
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const rule = parseRule(line);
    if (rule !== null && rules.length < RULE_LIMIT) rules.push(rule);
  }
  if (rules.length === 0) return null;
  // The last rule that matches decides.
  rules.reverse();
  return {
    verdict(names, isDirectory) {
      const last = names.slice(-1);
      const found = rules.find((rule) =>
        (isDirectory || !rule.directoryOnly) && rule.pattern.matches(rule.anyDepth ? last : names)
      );
      return found === undefined ? null : !found.negated;
    },
  };
}

function parseRule(line: string): IgnoreRule | null {
  if (line.startsWith("#")) return null;
  let text = trimEnd(line);
  const negated = text.startsWith("!");
  if (negated) text = text.slice(1);
  const directoryOnly = text.endsWith("/");
  if (directoryOnly) text = text.slice(0, -1);
  if (text === "" || text === "/") return null;
  const pattern = compilePattern(text, { noBraces: true });
  return pattern && { pattern, negated, directoryOnly, anyDepth: !text.includes("/") };
}

/** Without the spaces at the end, but for one that a backslash keeps. */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end--;
  if (line[end - 1] === "\\" && end < line.length) end++;
  return line.slice(0, end);
}
