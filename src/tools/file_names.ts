/** Shows names of files, and suggests names near one that does not exist. */
import type { ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import { closest } from "../config/suggest.ts";
import { basename, dirname, join } from "../platform/path.ts";
import type { FileStatus } from "../platform/files.ts";
import { failure, isRefusal, refused } from "./result.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

/**
 * One line for each file name, whatever it holds: control characters, and those that change the direction, are escaped.
 */
export function shownName(name: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what is searched for
  return name.replace(/[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** Returns the suffix of a protected path in a listing: ` [no-cloud]`; empty for the others. */
export function markOf(path: ResolvedPath, { workspace }: { workspace: Workspace }): string {
  const rule = workspace.ruleAt(path);
  return rule === null ? "" : ` [${rule.tier}]`;
}

/** Directories searched for a file of the same name: a suggestion may not cost a walk of a huge tree. */
const DIRECTORY_LIMIT = 200;

/** Directories that hold no files a person means. */
const SKIPPED = new Set([".git", "node_modules"]);

async function namesIn(
  directory: string,
  context: Pick<ToolContext, "workspace">,
): Promise<{ name: string; directory: boolean }[]> {
  const path = await context.workspace.resolve(directory);
  if (isRefusal(path)) return [];
  const entries = await context.workspace.list(path);
  if (isRefusal(entries)) return [];
  return entries.map((entry) => ({ name: entry.name, directory: entry.kind === "directory" }));
}

/** Returns the files of that name below the project root, nearest to the root first. */
export async function sameName(name: string, context: Pick<ToolContext, "workspace" | "signal">): Promise<string[]> {
  const wanted = name.toLowerCase();
  const found: string[] = [];
  const waiting = [context.workspace.root];
  for (let visited = 0; visited < waiting.length && visited < DIRECTORY_LIMIT && found.length < 3; visited++) {
    context.signal.throwIfAborted();
    const directory = waiting[visited] ?? context.workspace.root;
    for (const entry of await namesIn(directory, context)) {
      if (entry.directory && !SKIPPED.has(entry.name)) waiting.push(join(directory, entry.name));
      else if (!entry.directory && entry.name.toLowerCase() === wanted) found.push(join(directory, entry.name));
    }
  }
  return found.slice(0, 3);
}

/** Returns a sentence about an absent path: near names beside it, files of that name in the project, or how to look. */
export async function suggestPaths(path: ResolvedPath, context: ToolContext): Promise<string> {
  const directory = dirname(path.path);
  const beside = closest(basename(path.path), (await namesIn(directory, context)).map((entry) => entry.name));
  const paths = beside.length > 0
    ? beside.map((name) => join(directory, name))
    : await sameName(basename(path.path), context);
  const shown: string[] = [];
  for (const found of paths) {
    const resolved = await context.workspace.resolve(found);
    if (!isRefusal(resolved)) shown.push(resolved.display);
  }
  return shown.length > 0 ? `Did you mean ${shown.join(" or ")}?` : await whatIsThere(directory, context);
}

/** How many names of a directory are shown. */
const SHOWN_NAMES = 12;

/** Returns a sentence with the names in the nearest existing directory. */
async function whatIsThere(directory: string, context: ToolContext): Promise<string> {
  for (let at = directory;; at = dirname(at)) {
    const path = await context.workspace.resolve(at);
    if (isRefusal(path)) break;
    const names = (await namesIn(at, context)).filter(({ name }) => !SKIPPED.has(name));
    if (names.length === 0 && at !== context.workspace.root && at !== dirname(at)) continue;
    if (names.length === 0) break;
    const shown = names.slice(0, SHOWN_NAMES).map((entry) => shownName(entry.name) + (entry.directory ? "/" : ""));
    const more = names.length - shown.length;
    const where = path.display === "." ? "The project" : shownName(path.display);
    return `${where} has: ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
  }
  return "List the directory or search for the name.";
}

/** Returns a path that leads to something, and what it leads to; or the result that says what to do. */
export async function existing(
  given: string,
  context: ToolContext,
): Promise<{ path: ResolvedPath; status: FileStatus } | ToolResult> {
  const path = await context.workspace.resolve(given);
  if (isRefusal(path)) return refused(path, context);
  const status = await context.workspace.status(path);
  if (status !== null) return { path, status };
  return failure(`${path.display} does not exist. ${await suggestPaths(path, context)}`, context);
}
