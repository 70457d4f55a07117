/** Permission rules as people write them: `Bash`, `Bash(git log:*)`, `Bash(git status)`, `Write(migrations/**)`. */
import { AgentcliError } from "../errors.ts";
import { isAbsolute, join, normalise } from "../platform/path.ts";
import { escapesPrefix } from "./command_escape.ts";
import { looseWords, parseCommand, type ParsedCommand } from "./command_parse.ts";
import { compilePattern, type PathPattern } from "./path_pattern.ts";

/** A rule, ready to be asked. `text` is what was written, for messages. */
export type Rule =
  | { kind: "tool"; text: string; tool: string }
  | { kind: "command"; text: string; tool: string; words: readonly [string, ...string[]]; prefix: boolean }
  | PathRule;

interface PathRule {
  kind: "path";
  text: string;
  tool: string;
  absolute: boolean;
  exact: PathPattern[];
  /** Ignores letter case: for denying, on disks that ignore it too. */
  folded: PathPattern[];
}

/**
 * What a rule is asked about. `paths` are the names of one file, relative to the project or absolute outside of it: as it
 * was addressed, and with every link resolved.
 */
export interface Asked {
  tool: string;
  subject: string;
  paths: readonly string[];
  /** Of the project: what rules with an absolute path are compared by. */
  root?: string | undefined;
}

const PATH_TOOLS: readonly string[] = ["read", "write", "edit"];
const FORMS = "forms: Bash, Bash(git status), Bash(git log:*), Write(migrations/**)";

function malformed(text: string, why: string): AgentcliError {
  return new AgentcliError("usage", `the permission rule ${JSON.stringify(text.slice(0, 200))} ${why}`, {
    hint: FORMS,
  });
}

/** Reads rules. Throws `usage` that names the first malformed one. */
export function parseRules(texts: readonly string[]): Rule[] {
  return texts.map(parseRule);
}

function parseRule(text: string): Rule {
  const match = /^([A-Za-z][\w-]*(?:__\*)?)(?:\(([^]*)\))?$/.exec(text.trim());
  if (match === null) throw malformed(text, "is not the name of a tool with an optional pattern in parentheses");
  const tool = match[1] ?? "";
  const inner = match[2]?.trim();
  if (inner === undefined || inner === "*") return { kind: "tool", text, tool };
  if (inner === "") throw malformed(text, "has nothing between the parentheses");
  if (tool.toLowerCase() === "bash") return commandRule(text, inner);
  if (PATH_TOOLS.includes(tool.toLowerCase())) return pathRule(text, { tool, inner });
  throw malformed(text, "has a pattern, which only Bash, Read, Write and Edit take");
}

function commandRule(text: string, inner: string): Rule {
  const prefix = /(:|\s)\*$/.test(inner);
  const parsed = parseCommand(prefix ? inner.slice(0, -2) : inner);
  if (parsed.kind === "complex") {
    throw malformed(text, `${parsed.reason}; a rule names one simple command`);
  }
  return { kind: "command", text, tool: "Bash", words: parsed.argv, prefix };
}

function pathRule(text: string, { tool, inner }: { tool: string; inner: string }): Rule {
  const pattern = normalise(inner);
  if (pattern === ".." || pattern.startsWith("../")) throw malformed(text, "leads out of the project");
  // A directory covers what is below it.
  const forms = pattern === "." ? ["**"] : [pattern, `${pattern}/**`];
  const exact = forms.flatMap((form) => compilePattern(form) ?? []);
  const folded = forms.flatMap((form) => compilePattern(form, { ignoreCase: true }) ?? []);
  if (exact.length < forms.length || folded.length < forms.length) {
    throw malformed(text, "is too long or has too many alternatives");
  }
  return { kind: "path", text, tool, absolute: isAbsolute(pattern), exact, folded };
}

function names(rule: Rule, tool: string): boolean {
  if (rule.tool === tool) return true;
  if (!rule.tool.startsWith("mcp__")) return rule.tool.toLowerCase() === tool.toLowerCase();
  const server = rule.tool.endsWith("__*") ? rule.tool.slice(0, -1) : rule.tool + "__";
  return tool.startsWith(server);
}

/**
 * Whether an allowing rule covers what is asked, under each of its names. In doubt it does not. `command` is the parsed
 * subject of Bash.
 */
export function allows(rule: Rule, asked: Asked, command: ParsedCommand | null): boolean {
  if (!names(rule, asked.tool)) return false;
  switch (rule.kind) {
    case "tool":
      return true;
    case "path": {
      return asked.paths.length > 0 && asked.paths.every((path) => {
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
 * Whether a denying rule covers what is asked. In doubt it does: a command rule counts as a prefix, for the program
 * under any path, with other words in between, and in any part of a compound command; a path rule of Write or Edit
 * counts for both and under each name of the file, so no link leads around it, and letter case does not matter.
 */
export function denies(rule: Rule, asked: Asked, command: ParsedCommand | null): boolean {
  if (rule.kind === "path" && isWriter(rule.tool) && isWriter(asked.tool)) return deniesPath(rule, asked);
  if (!names(rule, asked.tool)) return false;
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
  const paths = asked.paths.length > 0 ? asked.paths : [asked.subject];
  return paths.some((path) => {
    const names = namesOf(formFor(rule, path, asked));
    return rule.folded.some((pattern) => pattern.matches(names));
  });
}

/** A path of the project as the rule writes it: an absolute rule is asked about the absolute path. */
function formFor(rule: PathRule, path: string, { root }: Asked): string {
  return rule.absolute && root !== undefined && !isAbsolute(path) ? join(root, path) : path;
}

function deniesCommand(rule: Rule & { kind: "command" }, subject: string, command: ParsedCommand): boolean {
  const wanted = looseWords(rule.words.join(" "));
  const words = looseWords(command.kind === "simple" ? command.argv.join(" ") : subject);
  // One plain program can only be denied by its own name; what can start others is searched all through.
  const anywhere = command.kind === "complex" || escapesPrefix(command.argv, 1);
  return anywhere ? occurs(wanted, words) : sameProgram(words[0], wanted[0]) && occurs(wanted, words);
}

function sameProgram(word: string | undefined, wanted: string | undefined): boolean {
  if (word === undefined || wanted === undefined) return false;
  const base = word.slice(word.lastIndexOf("/") + 1).toLowerCase().replace(/\.exe$/, "");
  return word === wanted || base === wanted.toLowerCase();
}

/** Whether the wanted words come in this order, others in between allowed. */
function occurs(wanted: readonly string[], words: readonly string[]): boolean {
  let next = 0;
  for (const word of words) {
    if (next === 0 ? sameProgram(word, wanted[0]) : word === wanted[next]) next++;
    if (next >= wanted.length) return true;
  }
  return wanted.length === 0;
}

function namesOf(path: string): string[] {
  return normalise(path).split("/").filter((name) => name !== "" && name !== ".");
}
