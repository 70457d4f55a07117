/** Hooks of both formats as they stand in their files: what each is called, and what is wrong with it. */
import { statSync } from "../platform/files_sync.ts";
import { basename, dirname, isWithin, resolve } from "../platform/path.ts";
import { isEvent } from "./events.ts";
import { dataOf, JsonProblem, nodeAt, parseJsonTree } from "./json_tree.ts";

/** A hook that stands in a file. */
export interface HookInFile {
  event: string;
  name: string;
  entry: unknown;
  problems: string[];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The command lines of an entry, bash first. */
function commandLines(entry: unknown): string[] {
  if (!isRecord(entry)) return [];
  return [entry.command, entry.powershell].filter((line) => typeof line === "string");
}

/** The words of a command line, quotes taken off; what a shell would expand stays as it is. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|[^\s'"();|&]+/g)].map(([word, single, double]) =>
    single ?? double ?? word
  );
}

const SCRIPT = /\.(?:sh|bash|zsh|fish|ps1|cmd|bat|py|js|mjs|cjs|ts|rb|pl)$/i;

function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "");
}

/** A name for a hook of others: that of its script, else its command, else its event. */
function hookName(entry: unknown, event: string): string {
  const lines = commandLines(entry);
  for (const line of lines) {
    const script = wordsOf(line).find((word) => SCRIPT.test(word));
    const name = script === undefined ? "" : slug(basename(script.replaceAll("\\", "/")).replace(SCRIPT, ""));
    if (name !== "") return name;
  }
  return slug((lines[0] ?? "").split(/\|\||&&|[;|]/)[0] ?? "") || slug(event) || "hook";
}

/** Before a path of the project, in lines of hooks that run in a new worktree of it. */
const IN_PROJECT = /^\$\{?(?:env:)?ROOT_WORKSPACE_PATH[^\\/]*[\\/]/;

/** The files that an entry names and that lie beside the hooks file or below it: its scripts. Absolute paths. */
export function scriptsOfHook(entry: unknown, { hooksFile, base }: { hooksFile: string; base: string }): string[] {
  const directory = isRecord(entry) ? entry.working_directory : undefined;
  const from = typeof directory === "string" ? resolve(base, directory) : base;
  const beside = dirname(hooksFile);
  const named = commandLines(entry).flatMap(wordsOf).filter((word) => /[\\/]/.test(word) || SCRIPT.test(word))
    .map((word) => resolve(IN_PROJECT.test(word) ? base : from, word.replace(IN_PROJECT, "").replaceAll("\\", "/")))
    .filter((path) => path !== hooksFile && isWithin(beside, path) && statSync(path)?.kind === "file");
  return [...new Set(named)];
}

/** The scripts that any entry of the text of a hooks file names; none where the text cannot be read. */
export function scriptsIn(text: string, { hooksFile, base }: { hooksFile: string; base: string }): string[] {
  try {
    const hooks = text.trim() === "" ? null : nodeAt(parseJsonTree(text), ["hooks"]);
    const lists = hooks?.kind === "object" ? hooks.children.map(({ value }) => dataOf(value)) : [];
    return lists.flatMap((list) =>
      Array.isArray(list) ? list.flatMap((entry) => scriptsOfHook(entry, { hooksFile, base })) : []
    );
  } catch (error) {
    if (error instanceof JsonProblem) return [];
    throw error;
  }
}

function entryProblems(entry: unknown): string[] {
  if (!isRecord(entry)) return ["the entry is no object"];
  const problems: string[] = [];
  if (commandLines(entry).length === 0) problems.push("it has no command line");
  const { show_output, working_directory } = entry;
  if (show_output !== undefined && typeof show_output !== "boolean") {
    problems.push("its show_output is no true or false");
  }
  if (working_directory !== undefined && typeof working_directory !== "string") {
    problems.push("its working_directory is no text");
  } else if (working_directory?.startsWith("~")) {
    problems.push("its working_directory starts with ~, which the editor does not know");
  }
  return problems;
}

/** The hooks of one member of `hooks`; null when it is no list. */
export function hooksOfEvent(event: string, value: unknown): HookInFile[] | null {
  if (!Array.isArray(value)) return null;
  const unknown = isEvent(event) ? [] : [`the editor knows no event "${event}"`];
  return value.map((entry) => ({
    event,
    name: hookName(entry, event),
    entry,
    problems: [...unknown, ...entryProblems(entry)],
  }));
}

/**
 * The hooks of one member of the other agent's file: groups with a `matcher` for names of tools, and hooks in each. Null
 * when it is no list. Its events are its own and are not judged.
 */
export function hooksOfOtherAgent(event: string, value: unknown): HookInFile[] | null {
  if (!Array.isArray(value)) return null;
  return value.flatMap((group): HookInFile[] => {
    const inner = isRecord(group) ? group.hooks : undefined;
    if (!isRecord(group) || !Array.isArray(inner)) {
      return [{ event, name: slug(event) || "hook", entry: group, problems: ["the group has no list of hooks"] }];
    }
    const matcher = typeof group.matcher === "string" && group.matcher !== "" ? { matcher: group.matcher } : {};
    return inner.map((hook) => {
      const lacks = isRecord(hook) && (hook.type !== "command" || typeof hook.command === "string");
      const entry = isRecord(hook) ? { ...matcher, ...hook } : hook;
      return { event, name: hookName(hook, event), entry, problems: lacks ? [] : ["it has no command line"] };
    });
  });
}
