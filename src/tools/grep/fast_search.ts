/** Searches a directory with the help of ripgrep, where it may open the files and would find the same. */
import type { ResolvedPath, Workspace } from "../../boundary/workspace/workspace.ts";
import { isWithin, join, relativeTo } from "../../platform/path.ts";
import { findExecutable } from "../../platform/process.ts";
import { isRefusal } from "../result.ts";
import type { ToolContext } from "../tool.ts";
import type { FoundFile } from "../walk.ts";
import type { LineMatcher } from "./line_matcher.ts";
import type { SearchReport } from "./report.ts";
import { filesByRipgrep, type FoundNames, type RipgrepSearch } from "./ripgrep.ts";
import { type SearchEnd, searchFiles } from "./search_tree.ts";

/** What to search for. */
export interface FastSearch {
  context: ToolContext;
  matcher: LineMatcher;
  /** Which files, as the model wrote it. */
  glob: string | undefined;
  /** Filled only when the search succeeds in this way. */
  report: SearchReport;
  /** Milliseconds that ripgrep may take: one long file can cost it more than reading the others costs us. */
  timeoutMs: number;
  /** Whether the time for all is up. */
  late(): boolean;
}

/** Files with a match that are asked for at first: where there are more, the first ones by path are enough. */
const MOST_FILES = 2_000;
/** Of the files in order; each fills at least one line of a report, unless ripgrep took it for another text. */
const MOST_ORDERED = 1_000;

/** The end of the search, or null where it has to be done without ripgrep. Throws the abort reason. */
export async function fastSearch(start: ResolvedPath, search: FastSearch): Promise<SearchEnd | null> {
  const where = await placeOf(start, search);
  if (where === null) return null;
  const stop = new AbortController();
  const signal = AbortSignal.any([search.context.signal, stop.signal]);
  try {
    const found = await foundWhereOpen(start, { where: { ...where, signal }, workspace: search.context.workspace });
    return found && await searchFound(start, { ...search, found });
  } finally {
    stop.abort();
  }
}

type Where = Omit<RipgrepSearch, "ordered" | "most" | "onStart">;

/** Where ripgrep may look, as far as it costs nothing to tell; null where it may not. */
async function placeOf(start: ResolvedPath, search: FastSearch): Promise<Omit<Where, "signal"> | null> {
  const { context, matcher, glob } = search;
  const { workspace } = context;
  // Rules about reading are asked file by file.
  if (matcher.rust === null || context.readDenied !== undefined) return null;
  if (glob !== undefined && !/^[\w.*-]+$/.test(glob)) return null;
  if (mayProtect(workspace)) return null;
  const roots = [workspace.root, ...workspace.additional];
  const root = roots.find((one) => isWithin(one, start.real));
  if (root === undefined) return null;
  const relative = relativeTo(root, start.real);
  if (await hasRulesBetween(root, relative, context)) return null;
  const program = await findExecutable("rg", context.io.env("PATH") ?? "", { notBelow: roots });
  if (program === null) return null;
  const rules = await kindOf(join(root, ".gitignore"), context);
  // It would be opened at once, and a pipe waited for.
  if (rules !== null && rules !== "file") return null;
  const ignoreFile = relative !== "." && rules !== null;
  return {
    program,
    pattern: matcher.rust,
    root,
    relative,
    ignoreFile,
    nameGlob: glob ?? null,
    timeoutMs: search.timeoutMs,
  };
}

/** Whether the markers that were met so far protect anything. */
function mayProtect({ ambientLabel, protection }: Workspace): boolean {
  return protection === undefined || ambientLabel !== "open" || protection.rules.length > 0;
}

/**
 * What ripgrep finds, or null where it may not be believed. The boundary walks the tree meanwhile, and until it is through
 * nothing of what ripgrep says is looked at: where anything turns out to be protected, even whether it found something
 * would tell of protected content.
 */
async function foundWhereOpen(
  start: ResolvedPath,
  { where, workspace }: { where: Where; workspace: Workspace },
): Promise<FoundNames | null> {
  const running = Promise.withResolvers<void>();
  const ended = new AbortController();
  const signal = AbortSignal.any([where.signal, ended.signal]);
  const first = filesByRipgrep({ ...where, signal, ordered: false, most: MOST_FILES, onStart: running.resolve });
  // Judged below; until then nobody waits for it.
  first.catch(() => {});
  await Promise.race([running.promise, first]);
  if (!isOpen(start, workspace)) {
    ended.abort();
    await first.catch(() => {});
    where.signal.throwIfAborted();
    return null;
  }
  const found = await first;
  return found?.cut === true ? await filesByRipgrep({ ...where, ordered: true, most: MOST_ORDERED }) : found;
}

/** Whether nothing is protected, and ripgrep understands what tells it what to leave out as we do. Walks the roots. */
function isOpen(start: ResolvedPath, workspace: Workspace): boolean {
  const { protection } = workspace;
  // A command of the same reply may have changed the tree.
  protection?.refresh();
  if (protection?.any !== false || workspace.ambientLabel !== "open") return false;
  // Version 13 obeys a `.rgignore` whatever it is told, and a pipe is opened by all, and waited for.
  return protection.ignoreFiles?.every(({ path, kind }) => {
    const foreign = path.endsWith("/.rgignore") || (path.endsWith("/.gitignore") && kind !== "file");
    return !foreign || !isWithin(start.real, path);
  }) ?? false;
}

/** Reads and searches what was found, as without ripgrep; null when that has not all that belongs into the report. */
async function searchFound(
  start: ResolvedPath,
  { found, context, matcher, report, late }: FastSearch & { found: FoundNames },
): Promise<SearchEnd | null> {
  const { workspace, signal } = context;
  const end = await searchFiles([inOrder(start, found.names)], {
    workspace,
    signal,
    matcher,
    report,
    glob: null,
    late,
  });
  // A marker that appeared meanwhile.
  if (end.withheld > 0 || end.label !== "open") return null;
  return found.cut && !report.full && !late() ? null : end;
}

/** In the order of a walk: name by name. */
function inOrder(start: ResolvedPath, paths: readonly string[]): FoundFile[] {
  const split = paths.map((path) => ({ names: path.split("/"), key: path.replaceAll("/", "\0") }));
  split.sort((one, other) => one.key < other.key ? -1 : 1);
  return split.map(({ names }) => {
    const path = names.join("/");
    return {
      names,
      path: {
        path: `${start.path}/${path}`,
        real: `${start.real}/${path}`,
        display: start.display === "." ? path : `${start.display}/${path}`,
      },
    };
  });
}

/** Rules between the root and the directory cannot be told to ripgrep for where they stand. */
async function hasRulesBetween(root: string, relative: string, context: ToolContext): Promise<boolean> {
  if (relative === ".") return false;
  const names = relative.split("/");
  for (let depth = 1; depth <= names.length; depth++) {
    for (const name of depth < names.length ? [".gitignore", ".git"] : [".git"]) {
      if (await kindOf(join(root, ...names.slice(0, depth), name), context) !== null) return true;
    }
  }
  return false;
}

async function kindOf(path: string, { workspace }: ToolContext): Promise<string | null> {
  const resolved = await workspace.resolve(path);
  return isRefusal(resolved) ? null : (await workspace.status(resolved))?.kind ?? null;
}
