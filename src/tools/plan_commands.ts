/** The commands that may run in plan mode: those that only look, by rules that hold for everybody. */
import { commandParts } from "../shell/parts.ts";
import { parseRules, type Rule } from "./permission_rule.ts";

const GIT = "status log diff show blame ls-files ls-tree rev-parse describe shortlog grep cat-file".split(" ");
const PROGRAMS =
  "ls cat head tail wc file stat du tree pwd rg grep egrep fgrep nl cut sort uniq diff cmp basename dirname"
    .split(" ");
const OTHERS = ["git branch", "git branch -a", "git branch -v", "git remote -v", "git tag", "git stash list"];

/**
 * Returns whether all that a line runs only looks, judged as rules are. It may run then as it may in the default mode: by
 * a rule of the person, or after a question.
 */
export function onlyLooks(
  line: string,
  covers: (part: ReturnType<typeof commandParts>[number], rules: readonly Rule[]) => Rule | null,
): boolean {
  const rules = parseRules([
    ...GIT.map((name) => `Bash(git ${name}:*)`),
    ...PROGRAMS.map((program) => `Bash(${program}:*)`),
    ...OTHERS.map((command) => `Bash(${command})`),
  ]);
  return commandParts(line).every((part) => covers(part, rules) !== null);
}
