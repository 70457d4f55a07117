/** Grep: the lines of files that match a regular expression. */
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { compilePattern, LIMITS_EXCEEDED, type PathPattern } from "../path_pattern.ts";
import { existing } from "../file_names.ts";
import { failure, success } from "../result.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import { walkFiles } from "../walk.ts";
import { grepDeclaration, type GrepInput } from "../declarations.ts";
import { fastSearch } from "./ripgrep.ts";
import { type LineMatcher, lineMatcher } from "./line_matcher.ts";
import { SearchReport } from "./report.ts";
import { type SearchEnd, searchFiles } from "./search.ts";

/** Options of the search; tests set these. */
export interface GrepOptions {
  /** Milliseconds for one search. */
  deadlineMs: number;
  /** True if ripgrep is used where it may be. */
  ripgrep: boolean;
}

const MOST_CONTEXT = 20;

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
  const matcher = await lineMatcher(input.pattern);
  if ("problem" in matcher) return failure(matcher.problem, context);
  const there = await existing(input.path ?? ".", context);
  if ("content" in there) return there;
  const { path: start, status } = there;
  const lines = Math.min(Math.max(0, input.context ?? 0), MOST_CONTEXT);
  const report = new SearchReport(input.output_mode ?? "content", { context: lines, limit: context.resultBytes });
  const search = { ...call, input, matcher, report };
  const end = status.kind === "directory"
    ? await searchDirectory(start, search)
    : await searchIn([[{ path: start, names: [] }]], search);
  if ("problem" in end) return failure(end.problem, context);
  const { label, source, report: found } = end;
  const details = { ...found.totals };
  return success(found.text(end.notes), context, { label, details, source });
}

interface Search {
  input: GrepInput;
  context: ToolContext;
  options: GrepOptions;
  matcher: LineMatcher;
  report: SearchReport;
}

type Done = SearchEnd & { report: SearchReport };

async function searchIn(
  files: Parameters<typeof searchFiles>[0],
  search: Search,
  { glob = null, late = timeLimit(search) }: { glob?: PathPattern | null; late?: () => boolean } = {},
): Promise<Done> {
  const { matcher, report, context: { workspace, signal, readDenied } } = search;
  return { ...await searchFiles(files, { workspace, signal, readDenied, matcher, report, glob, late }), report };
}

function timeLimit({ options, context }: Search): () => boolean {
  const { clock } = context.io;
  const end = clock.monotonic() + options.deadlineMs;
  return () => clock.monotonic() > end;
}

async function searchDirectory(start: ResolvedPath, search: Search): Promise<Done | { problem: string }> {
  const wanted = search.input.glob;
  const byName = wanted === undefined || wanted.includes("/") ? wanted : `**/${wanted}`;
  const glob = byName === undefined ? null : compilePattern(byName);
  if (byName !== undefined && glob === null) return { problem: LIMITS_EXCEEDED };
  const { context, matcher, options } = search;
  const { workspace, signal, io: { clock } } = context;
  const late = timeLimit(search);
  const ownSearch = () => searchIn(walkFiles(start, { workspace, signal, clock }), search, { glob, late });
  if (!options.ripgrep) return await ownSearch();
  // A report of its own: one that ends halfway is discarded.
  const report = search.report.fresh();
  const timeoutMs = options.deadlineMs / 2;
  const end = await fastSearch(start, { context, matcher, glob: wanted, report, timeoutMs, late });
  return end === null ? await ownSearch() : { ...end, report };
}
