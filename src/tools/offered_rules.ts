/** The rules that a person is offered for a call: one for each part of a command that none covers yet. */
import { type CommandPart, commandParts } from "../shell/parts.ts";
import { runsItsInput } from "./command_escape.ts";
import { coveringRule } from "./permission.ts";
import { parseRules, type Rule } from "./permission_rule.ts";

/** One part of a call, and what a rule can say about it. */
export interface JudgedPart {
  text: string;
  /** The rule that covers it already; null for none. */
  covered: string | null;
  /** The rule that would cover it; null where none can. */
  offered: string | null;
  /** Completes "it …" where no rule can cover it; empty elsewhere. */
  why: string;
}

/** Programs whose first word says little: a rule names the second too. */
const WITH_VERBS = new Set("git npm pnpm yarn cargo go deno docker kubectl make pip uv gh dotnet".split(" "));

/** They change the meaning of the commands after them, which have rules of their own. */
const MEANING = new Set("alias eval exec export enable hash trap set shopt unset builtin command declare".split(" "));

/** Checks a call by its parts; a call of a tool other than Bash is one part. */
export function judgedParts(
  { toolName, ruleName, subject }: { toolName: string; ruleName?: string; subject: string },
  allow: readonly Rule[],
): JudgedPart[] {
  if (toolName !== "Bash") return [{ text: subject, covered: null, offered: usable(ruleName ?? toolName), why: "" }];
  return commandParts(subject).map((part): JudgedPart => {
    const covered = coveringRule(part, allow)?.text ?? null;
    if (covered !== null) return { text: part.text, covered, offered: null, why: "" };
    const why = uncoverable(part);
    const offered = why === "" ? ruleOf(part) : null;
    return {
      text: part.text,
      covered,
      offered,
      why: why === "" && offered === null ? "has words no rule can hold" : why,
    };
  });
}

function uncoverable({ command, piped }: CommandPart): string {
  if (command.kind === "complex") return command.reason;
  const { argv } = command;
  const [program] = argv;
  if (/(?:^|\/)rm$/.test(program) && argv.some((word) => /^-[a-zA-Z]*[rRf]|^--(?:rec|f)/.test(word))) {
    return "deletes without asking";
  }
  if (MEANING.has(program)) return "changes what other commands do";
  return piped && runsItsInput(argv) ? "runs what it reads" : "";
}

function ruleOf({ plain, command }: CommandPart): string | null {
  if (command.kind === "complex") return null;
  const [program, second] = command.argv;
  const named = WITH_VERBS.has(program) && second !== undefined && /^[\w./:@%+,=][\w./:@%+,=-]*$/.test(second);
  const rule = usable(named ? `Bash(${program} ${second}:*)` : `Bash(${plain})`);
  // A rule that would not cover this very command is no help.
  const part = { text: plain, plain, command, piped: false };
  if (rule !== null && coveringRule(part, parseRules([rule])) !== null) return rule;
  return usable(`Bash(${plain})`);
}

function usable(rule: string): string | null {
  // Lists of rules are split by counting parentheses.
  if (rule.split("(").length !== rule.split(")").length) return null;
  try {
    parseRules([rule]);
    return rule;
  } catch {
    return null;
  }
}
