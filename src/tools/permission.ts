/** Decides whether a call may run: by its rules, its mode, and what a rule covers. */
import type { ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import { isAbsolute, join, normalize, relativeTo } from "../platform/path.ts";
import { looseWords, parseCommand, type ParsedCommand } from "../shell/command.ts";
import { type CommandPart, commandParts } from "../shell/parts.ts";
import { parseRules, type PathRule, type Rule } from "./permission_rule.ts";
import type { PermissionMode } from "../config/types.ts";
import { MCP_CALL, type Tool } from "./tool.ts";
import { escapesPrefix, programName, runsItsInput } from "./command_escape.ts";

/** A question to the rules: the tool, its subject, and for tools of paths the place in the project. */
interface Asked {
  tool: { name: string };
  /** The command, or the path as given. */
  subject: string;
  /** The names of the file: as addressed and with links resolved, relative to the project or absolute outside of it. */
  paths?: readonly string[];
  /** Of the project, as an absolute real path: what rules with an absolute path are compared by. */
  root?: string;
}

/** Mode and rules of permission decisions. */
export interface PermissionPolicy {
  mode: PermissionMode;
  allow: readonly Rule[];
  deny: readonly Rule[];
}

/** A decision; the reason is a sentence for the model and for the person who is asked. */
export type Decision = { behavior: "allow" } | { behavior: "deny"; reason: string } | {
  behavior: "ask";
  reason: string;
};

const ALLOW: Decision = { behavior: "allow" };

/**
 * Decides one call. Deny rules win over everything; `plan` runs only what reads (and notes), and commands that only
 * read like the default mode; `bypassPermissions` runs the rest; reading in the project is always allowed;
 * `acceptEdits` writes files; everything else needs a rule or is asked. Never throws. Source: specification of the
 * command line (permissions) and of the boundary §7.
 */
export function decide(asked: Asked & { tool: Pick<Tool, "name" | "kind"> }, policy: PermissionPolicy): Decision {
  const { tool, subject } = asked;
  const command = tool.name === "Bash" ? parseCommand(subject) : null;
  const denying = policy.deny.find((rule) => denies(rule, asked, command));
  if (denying !== undefined) return { behavior: "deny", reason: `The rule ${denying.text} denies it.` };
  if (tool.kind === "read" || tool.kind === "note") return ALLOW;
  if (policy.mode === "plan" && (command === null || !onlyLooks(subject))) {
    return {
      behavior: "deny",
      reason: `In plan mode nothing is changed: only tools and commands that read may run, and ${tool.name} ` +
        `${command === null ? "is not one of them" : "would run another one"}.`,
    };
  }
  if (policy.mode === "bypassPermissions") return ALLOW;
  if (policy.mode === "acceptEdits" && tool.kind === "write") return ALLOW;
  if (command === null) {
    if (policy.allow.some((rule) => allows(rule, asked, null))) return ALLOW;
    return { behavior: "ask", reason: askReason(tool, []) };
  }
  const open = commandParts(subject).filter((part) => coveringRule(part, policy.allow) === null);
  return open.length === 0 ? ALLOW : { behavior: "ask", reason: askReason(tool, open) };
}

const GIT_LOOKS = "status log diff show blame ls-files ls-tree rev-parse describe shortlog grep cat-file".split(" ");
const LOOKS = "ls cat head tail wc file stat du tree pwd rg grep egrep fgrep nl cut sort uniq diff cmp basename dirname"
  .split(" ");
const EXACT_LOOKS = ["git branch", "git branch -a", "git branch -v", "git remote -v", "git tag", "git stash list"];

/**
 * Returns whether everything that a line runs only reads, by rules that hold for everybody. In plan mode it may run
 * then as it may in the default mode: by a rule of the person, or after a question.
 */
export function onlyLooks(line: string): boolean {
  const rules = parseRules([
    ...GIT_LOOKS.map((name) => `Bash(git ${name}:*)`),
    ...LOOKS.map((program) => `Bash(${program}:*)`),
    ...EXACT_LOOKS.map((command) => `Bash(${command})`),
  ]);
  return commandParts(line).every((part) => coveringRule(part, rules) !== null);
}

/** Returns the rule that covers one command of a line, or null. */
export function coveringRule({ plain, command, piped }: CommandPart, allow: readonly Rule[]): Rule | null {
  const asked = { tool: { name: "Bash" }, subject: plain };
  const isProgram = piped && command.kind === "simple" && runsItsInput(command.argv);
  return allow.find((rule) => (rule.kind === "tool" || !isProgram) && allows(rule, asked, command)) ?? null;
}

function askReason(tool: Pick<Tool, "name" | "kind">, open: readonly CommandPart[]): string {
  if (tool.kind === "write") return `${tool.name} changes a file, and no rule allows it.`;
  if (tool.name !== "Bash") return `${tool.name} acts outside of the session, and no rule allows it.`;
  const complexity = open.flatMap(({ command }) => command.kind === "complex" ? [command.reason] : [])[0];
  return complexity === undefined
    ? "No rule allows this command."
    : `The command ${complexity}, so rules for command prefixes do not cover it.`;
}

function names(rule: Rule, tool: string): boolean {
  if (rule.tool === tool) return true;
  // It calls the tools of MCP servers, whatever name the rules have for them.
  if (rule.tool.toLowerCase() === MCP_CALL.toLowerCase()) return tool.startsWith("mcp__");
  if (!rule.tool.startsWith("mcp__")) return rule.tool.toLowerCase() === tool.toLowerCase();
  const server = rule.tool.endsWith("__*") ? rule.tool.slice(0, -1) : rule.tool + "__";
  return tool.startsWith(server);
}

/**
 * Returns whether an allowing rule covers what is asked, under each of its names. In doubt it does not. `command` is
 * the parsed subject of Bash.
 */
function allows(rule: Rule, asked: Asked, command: ParsedCommand | null): boolean {
  if (!names(rule, asked.tool.name)) return false;
  switch (rule.kind) {
    case "tool":
      return true;
    case "path": {
      const { paths = [] } = asked;
      return paths.length > 0 && paths.every((path) => {
        const form = formFor(rule, path, asked);
        return isAbsolute(form) === rule.absolute && rule.exact.some((pattern) => pattern.matches(namesOf(form)));
      });
    }
    case "command": {
      if (command?.kind !== "simple") return false;
      const { argv } = command;
      if (!rule.words.every((word, index) => argv[index] === word)) return false;
      return rule.prefix ? !escapesPrefix(argv, rule.words.length) : argv.length === rule.words.length;
    }
  }
}

/**
 * Returns whether a denying rule covers what is asked. In doubt it does: a command rule counts as a prefix, for the
 * program under any path, with other words in between, and in any part of a compound command; a path rule of Write or
 * Edit counts for both and under each name of the file, so no link leads around it, and letter case does not matter.
 */
function denies(rule: Rule, asked: Asked, command: ParsedCommand | null): boolean {
  if (rule.kind === "path" && isWriter(rule.tool) && isWriter(asked.tool.name)) return deniesPath(rule, asked);
  if (!names(rule, asked.tool.name)) return false;
  switch (rule.kind) {
    case "tool":
      return true;
    case "path":
      return deniesPath(rule, asked);
    case "command":
      return command !== null && deniesCommand(rule, asked.subject, command);
  }
}

function isWriter(tool: string): boolean {
  return ["write", "edit"].includes(tool.toLowerCase());
}

function deniesPath(rule: PathRule, asked: Asked): boolean {
  const { paths = [asked.subject] } = asked;
  return paths.some((path) => {
    const names = namesOf(formFor(rule, path, asked));
    return rule.caseFolded.some((pattern) => pattern.matches(names));
  });
}

/** A path of the project as the rule writes it: an absolute rule is asked about the absolute path. */
function formFor(rule: PathRule, path: string, { root }: Asked): string {
  return rule.absolute && root !== undefined && !isAbsolute(path) ? join(root, path) : path;
}

function deniesCommand(rule: Rule & { kind: "command" }, subject: string, command: ParsedCommand): boolean {
  const wanted = looseWords(rule.words.join(" "));
  const words = looseWords(command.kind === "simple" ? command.argv.join(" ") : subject);
  // One plain program can only be denied by its own name; what can start others is searched entirely.
  const anywhere = command.kind === "complex" || escapesPrefix(command.argv, 1);
  return anywhere ? occurs(wanted, words) : sameProgram(words[0], wanted[0]) && occurs(wanted, words);
}

function sameProgram(word: string | undefined, wanted: string | undefined): boolean {
  if (word === undefined || wanted === undefined) return false;
  return word === wanted || programName(word) === wanted.toLowerCase();
}

/** Returns whether the wanted words come in this order, others in between allowed. */
function occurs(wanted: readonly string[], words: readonly string[]): boolean {
  let next = 0;
  for (const word of words) {
    if (next === 0 ? sameProgram(word, wanted[0]) : word === wanted[next]) next++;
    if (next >= wanted.length) return true;
  }
  return wanted.length === 0;
}

function namesOf(path: string): string[] {
  return normalize(path).split("/").filter((name) => name !== "" && name !== ".");
}

/**
 * The names of a file, as addressed and with links resolved: a link inside the project must not lead around a rule, for
 * reading and for writing. Relative to the project, or absolute outside of it.
 */
export function ruleNames(
  path: ResolvedPath,
  { root }: Pick<Workspace, "root">,
): { paths: string[]; root: string } {
  const real = relativeTo(root, path.real);
  return { paths: [...new Set([path.display, real])], root };
}

/**
 * Returns the deny rule, as it was written, by which a file may not be read, or null; undefined when no rule is about
 * reading. Asked by every tool that shows content, and for attachments.
 */
export function readDenials(
  workspace: Pick<Workspace, "root">,
  deny: readonly Rule[],
): ((path: ResolvedPath) => string | null) | undefined {
  const rules = deny.filter((rule) => rule.tool.toLowerCase() === "read");
  if (rules.length === 0) return undefined;
  return (path) => {
    const asked = { tool: { name: "Read" }, subject: "", ...ruleNames(path, workspace) };
    return rules.find((rule) => denies(rule, asked, null))?.text ?? null;
  };
}
