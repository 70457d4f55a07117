/** Grep: the lines of files that match a regular expression. */
import type { ResolvedPath } from "../../boundary/workspace.ts";
import { isWithin, join, relativeTo } from "../../platform/path.ts";
import { findExecutable } from "../../platform/process.ts";
import { compilePattern, type PathPattern } from "../path_pattern.ts";
import { failure, isRefusal, refused, success } from "../result.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import { type LineMatcher, lineMatcher } from "./line_matcher.ts";
import { SearchReport } from "./report.ts";
import { meetsForeignIgnoreFile } from "./ignore_files.ts";
import { searchWithRipgrep } from "./ripgrep.ts";
import { type SearchEnd, searchTree } from "./search_tree.ts";
import { grepDeclaration, type GrepInput } from "./declaration.ts";

export type { GrepInput };

/** How it searches; tests set these. */
export interface GrepOptions {
  /** Milliseconds for one search. */
  deadlineMs: number;
  /** Whether ripgrep is used where it may be. */
  ripgrep: boolean;
}

const MOST_CONTEXT = 20;

/** Searches files. */
export const grepTool: Tool<GrepInput> = makeGrepTool({ deadlineMs: 20_000, ripgrep: true });

/** The tool with other limits. */
export function makeGrepTool(options: GrepOptions): Tool<GrepInput> {
  return {
    ...grepDeclaration,
    run: (input, context) => grep(input, { context, options }),
  };
}

async function grep(
  input: GrepInput,
  call: { context: ToolContext; options: GrepOptions },
): Promise<ToolResult> {
  const { context } = call;
  context.signal.throwIfAborted();
  const matcher = lineMatcher(input.pattern);
  if ("problem" in matcher) return failure(matcher.problem, context);
  const start = await context.workspace.resolve(input.path ?? ".");
  if (isRefusal(start)) return refused(start, context);
  const status = await context.workspace.status(start);
  if (status === null) return failure(`${start.display} does not exist. Find files with Glob.`, context);
  const lines = Math.min(Math.max(0, input.context ?? 0), MOST_CONTEXT);
  const report = new SearchReport(input.output_mode ?? "content", lines);
  const search = { ...call, input, matcher, report };
  const end = status.kind === "directory"
    ? await searchDirectory(start, search)
    : await ownSearch(start, { ...search, glob: null, isFile: true });
  if ("problem" in end) return failure(end.problem, context);
  const { label, source, report: found } = end;
  const details = { ...found.totals };
  return success(found.text(end.notes), context, { label, details, ...(source === undefined ? {} : { source }) });
}

interface Search {
  input: GrepInput;
  context: ToolContext;
  options: GrepOptions;
  matcher: LineMatcher;
  report: SearchReport;
}

type Done = SearchEnd & { report: SearchReport };

async function ownSearch(
  start: ResolvedPath,
  search: Search & { glob: PathPattern | null; isFile: boolean },
): Promise<Done> {
  const { options, matcher, report, glob, isFile } = search;
  const { workspace, signal, io, readDenied } = search.context;
  const end = io.clock.monotonic() + options.deadlineMs;
  const late = () => io.clock.monotonic() > end;
  return { ...await searchTree(start, { workspace, signal, readDenied, matcher, report, glob, isFile, late }), report };
}

async function searchDirectory(start: ResolvedPath, search: Search): Promise<Done | { problem: string }> {
  const wanted = search.input.glob;
  const byName = wanted === undefined || wanted.includes("/") ? wanted : `**/${wanted}`;
  const glob = byName === undefined ? null : compilePattern(byName);
  if (byName !== undefined && glob === null) return { problem: "The glob is too long or has too many alternatives." };
  // A report of its own: one that ends half-way is thrown away.
  return await fastSearch(start, { ...search, report: search.report.fresh() }) ??
    await ownSearch(start, { ...search, glob, isFile: false });
}

/** By ripgrep, where it is there, may open the files, and would find the same; else null. */
async function fastSearch(start: ResolvedPath, search: Search): Promise<Done | null> {
  const { context, input, matcher, options, report } = search;
  const { workspace } = context;
  // Rules about reading are asked file by file.
  if (!options.ripgrep || matcher.rust === null || context.readDenied !== undefined) return null;
  if (input.glob !== undefined && !/^[\w.*-]+$/.test(input.glob)) return null;
  const roots = [workspace.root, ...workspace.additional];
  const root = roots.find((one) => isWithin(one, start.real));
  if (root === undefined) return null;
  const relative = relativeTo(root, start.real);
  if (await hasRulesBetween(root, relative, context)) return null;
  // Asked late: it looks at the directories of the project.
  if (workspace.ambientLabel !== "open" || workspace.protection?.any !== false) return null;
  const program = await findExecutable("rg", context.io.env("PATH") ?? "", { notBelow: roots });
  if (program === null) return null;
  const rules = await kindOf(join(root, ".gitignore"), context);
  // It would be opened at once, and a pipe waited for.
  if (rules !== null && rules !== "file") return null;
  const ignoreFile = relative !== "." && rules !== null;
  const timeoutMs = options.deadlineMs;
  const where = { program, root, relative, ignoreFile, nameGlob: input.glob ?? null, timeoutMs };
  const pattern = matcher.rust;
  return await unlessForeign(context, {
    check: (signal) => meetsForeignIgnoreFile(start, { workspace, signal }),
    search: async (signal) => {
      const notes = await searchWithRipgrep(start, { ...where, pattern, report, signal });
      return notes && { label: workspace.ambientLabel, notes, report };
    },
  });
}

/**
 * What `search` gives, or null as soon as `check` finds that it would not find the same: that looks while the other
 * searches, and is through before it in most projects.
 */
async function unlessForeign(
  context: ToolContext,
  parts: { check(signal: AbortSignal): Promise<boolean>; search(signal: AbortSignal): Promise<Done | null> },
): Promise<Done | null> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const check = async () => {
    const foreign = await parts.check(signal);
    if (foreign) stop.abort();
    return foreign;
  };
  try {
    const [done, foreign] = await Promise.all([parts.search(signal), check()]);
    return foreign ? null : done;
  } catch (error) {
    context.signal.throwIfAborted();
    if (stop.signal.aborted) return null;
    throw error;
  } finally {
    stop.abort();
  }
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
