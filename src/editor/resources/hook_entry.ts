/** Hook entries: how one is recognized in a list, and the problems of one. */
import { orProblem } from "../limits.ts";
import { isRecord } from "../../platform/record.ts";
import { canonical, dataOf, type JsonContainer, type JsonNode, nodeAt, parseJsonTree } from "./json_tree.ts";
import { basename, dirname, isWithin, resolve } from "../../platform/path.ts";
import { isFile } from "../../platform/real_path.ts";
import { isEvent } from "../hooks/events.ts";

/** Returns what runs: the entry itself, or the handlers of a group with a matcher. */
export function handlersOf(entry: unknown): Record<string, unknown>[] {
  if (!isRecord(entry)) return [];
  return Array.isArray(entry.hooks) ? entry.hooks.filter(isRecord) : [entry];
}

function linesOf(value: unknown, member: "command" | "powershell"): string[] {
  return handlersOf(value).map((handler) => handler[member]).filter((line) => typeof line === "string");
}

/**
 * The identity of an entry, and how the same hook is found: the entry itself, or its line for bash; where one of
 * them has none, that for PowerShell. That alone proves little: many hooks do nothing there in the same words.
 */
export function keysOfHook(entry: unknown): { own: string[]; sought: string[] } {
  const [commands, powershells] = [linesOf(entry, "command"), linesOf(entry, "powershell")];
  const shared = [`entry ${canonical(entry)}`, ...commands.map((line) => `command ${line}`)];
  const [alone, without] = [powershells.map(powershellKey), powershells.map((line) => `no command ${line}`)];
  return {
    own: [...shared, ...alone, ...(commands.length > 0 ? [] : without)],
    sought: [...shared, ...(commands.length > 0 ? without : alone)],
  };
}

function powershellKey(line: string): string {
  return `powershell ${line}`;
}

interface HookSearch {
  /** How it is or was written, newest first. */
  versions: readonly unknown[];
  /** Whether an entry, in canonical form, is known to be another. */
  isOther(entry: string): boolean;
  /** It is known to be there, so an entry with the same line for PowerShell alone is it, changed by hand. */
  loosely: boolean;
}

/** Finds entries of lists by their content. Each is read once, until it is replaced. */
export class HookFinder {
  readonly #known = new WeakMap<JsonNode, { entry: string; keys: ReadonlySet<string> }>();

  /** The place of an entry in a list; -1 when it is not there. */
  find({ children }: JsonContainer, { versions, isOther, loosely }: HookSearch): number {
    const known = children.map(({ value }) => this.#read(value));
    for (const version of versions.map(canonical)) {
      const equal = known.findIndex(({ entry }) => entry === version);
      if (equal >= 0) return equal;
    }
    const first = (keys: readonly string[]) =>
      known.findIndex((one) => keys.some((key) => one.keys.has(key)) && !isOther(one.entry));
    const same = first(versions.flatMap((version) => keysOfHook(version).sought));
    if (same >= 0 || !loosely) return same;
    return first(versions.flatMap((version) => linesOf(version, "powershell")).map(powershellKey));
  }

  #read(value: JsonNode): { entry: string; keys: ReadonlySet<string> } {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const data = dataOf(value);
    const read = { entry: canonical(data), keys: new Set(keysOfHook(data).own) };
    this.#known.set(value, read);
    return read;
  }
}

export interface HookInFile {
  event: string;
  name: string;
  entry: unknown;
  problems: string[];
}

/** Returns the command lines of an entry, bash first. */
function commandLines(entry: unknown): string[] {
  return handlersOf(entry).flatMap(({ command, powershell, commandWindows }) =>
    [command, powershell, commandWindows].filter((line) => typeof line === "string")
  );
}

/** Returns the words of a command line without quotes; what a shell would expand stays as it is. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|[^\s'"();|&]+/g)].map(([word, single, double]) =>
    single ?? double ?? word
  );
}

const SCRIPT = /\.(?:sh|bash|zsh|fish|ps1|cmd|bat|py|js|mjs|cjs|ts|rb|pl)$/i;

function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "");
}

/** Returns a name for a hook of others: that of its script, else its command, else its event. */
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

/** Returns the files that an entry names beside the hooks file or below it: its scripts. Absolute paths. */
export function scriptsOfHook(entry: unknown, { hooksFile, base }: { hooksFile: string; base: string }): string[] {
  const directory = isRecord(entry) ? entry.working_directory : undefined;
  const from = typeof directory === "string" ? resolve(base, directory) : base;
  const beside = dirname(hooksFile);
  const named = commandLines(entry).flatMap(wordsOf).filter((word) => /[\\/]/.test(word) || SCRIPT.test(word))
    .map((word) => resolve(IN_PROJECT.test(word) ? base : from, word.replace(IN_PROJECT, "").replaceAll("\\", "/")))
    .filter((path) => path !== hooksFile && isWithin(beside, path) && isFile(path));
  return [...new Set(named)];
}

/** Returns the scripts that any entry of the text of a hooks file names; none where the text cannot be read. */
export function scriptsIn(text: string, { hooksFile, base }: { hooksFile: string; base: string }): string[] {
  const hooks = orProblem(() => text.trim() === "" ? null : nodeAt(parseJsonTree(text), ["hooks"]), () => null);
  const lists = hooks?.kind === "object" ? hooks.children.map(({ value }) => dataOf(value)) : [];
  return lists.flatMap((list) =>
    Array.isArray(list) ? list.flatMap((entry) => scriptsOfHook(entry, { hooksFile, base })) : []
  );
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

/** Returns the hooks of one member of `hooks`; null when it is no list. */
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
 * Returns the hooks of one member of the other agent's file: groups with a `matcher` for names of tools, and hooks in
 * each. Null when it is no list. Its events are its own and are not checked.
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
