/** What a permission rule covers. Apart from the reading of rules, since that is done at every start. */
import { isAbsolute, join, normalize } from "../platform/path.ts";
import { escapesPrefix } from "./command_escape.ts";
import { looseWords, type ParsedCommand } from "../shell/command.ts";
import type { PathRule, Rule } from "./permission_rule.ts";

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
  return normalize(path).split("/").filter((name) => name !== "" && name !== ".");
}
