/** Searches a directory with ripgrep, where it may open the files and would find the same. */
import type { ResolvedPath, Workspace } from "../../boundary/workspace/workspace.ts";
import { isWithin, join, relativeTo } from "../../platform/path.ts";
import { findProgram } from "../../boundary/programs.ts";
import { run } from "../../platform/process.ts";
import { isRefusal } from "../result.ts";
import type { ToolContext } from "../tool.ts";
import type { FoundFile } from "../walk.ts";
import type { LineMatcher } from "./line_matcher.ts";
import type { SearchReport } from "./report.ts";
import { type SearchEnd, searchFiles } from "./search.ts";

interface FastSearch {
  context: ToolContext;
  matcher: LineMatcher;
  glob: string | undefined;
  /** Filled only when the search succeeds in this way. */
  report: SearchReport;
  /** Milliseconds that ripgrep may take: one long file can take it longer than we need to read the others. */
  timeoutMs: number;
  /** Returns whether the time for all is up. */
  late(): boolean;
}

/** Files with a match that are requested at first: where there are more, the first ones by path are enough. */
const MOST_FILES = 2_000;
/** Most files in order; each fills at least one line of a report, unless ripgrep decoded it differently. */
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

/** Returns where ripgrep may search, from cheap checks alone; null where it may not. */
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
  const program = await findProgram("rg", { path: context.io.env("PATH") ?? "", roots, io: context.io });
  if (program === null) return null;
  const rules = await kindOf(join(root, ".gitignore"), context);
  // It would be opened at once, and a pipe would block.
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

function mayProtect({ ambientLabel, protection }: Workspace): boolean {
  return ambientLabel !== "open" || protection.rules.length > 0;
}

/**
 * Returns what ripgrep finds, or null where that cannot be trusted. The boundary walks the tree meanwhile, and until it
 * is done, no output of ripgrep is used: where anything turns out to be protected, even whether it found
 * something would reveal protected content.
 */
async function foundWhereOpen(
  start: ResolvedPath,
  { where, workspace }: { where: Where; workspace: Workspace },
): Promise<FoundNames | null> {
  const running = Promise.withResolvers<void>();
  const ended = new AbortController();
  const signal = AbortSignal.any([where.signal, ended.signal]);
  const first = filesByRipgrep({ ...where, signal, ordered: false, most: MOST_FILES, onStart: running.resolve });
  // Checked below; until then nobody waits for it.
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

/** Returns whether nothing is protected and ripgrep reads the ignore files as we do. Walks the roots. */
function isOpen(start: ResolvedPath, workspace: Workspace): boolean {
  const { protection } = workspace;
  // A command of the same reply may have changed the tree.
  protection.refresh();
  if (protection.any || workspace.ambientLabel !== "open") return false;
  // Version 13 obeys a `.rgignore` whatever the options say, and every version blocks on a pipe.
  return protection.openDirectories.every(({ directory, entries }) =>
    entries !== null && (!isWithin(start.real, directory) ||
      entries.every(({ name, isFile }) => name !== ".rgignore" && (name !== ".gitignore" || isFile)))
  );
}

/** Reads and searches what was found, as without ripgrep; null when that is not everything the report needs. */
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
  if (end.redacted > 0 || end.label !== "open") return null;
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

/** ripgrep has no option for rules that stand between the root and the directory. */
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

interface RipgrepSearch {
  /** Absolute path of the program. */
  program: string;
  /** The pattern in its dialect. */
  pattern: string;
  /** Absolute path of the root that the start lies in. */
  root: string;
  /** Of the directory, relative to the root. */
  relative: string;
  /** True if the root's `.gitignore` has to be named, because the search starts below it. */
  ignoreFile: boolean;
  /** Pattern for the name of files, without a slash. */
  nameGlob: string | null;
  signal: AbortSignal;
  timeoutMs: number;
  /** True if the files come in the order of their paths: then it works alone, not with all processors. */
  ordered: boolean;
  /** It is ended when it has found more than this. */
  most: number;
  /** Called once it is running. */
  onStart?(): void;
}

interface FoundNames {
  names: string[];
  /** There were more than were wanted. */
  cut: boolean;
}

/** Bytes of error output that are read. */
const COMPLAINTS_LIMIT = 256 * 1024;

/**
 * Options that make it search the same files as this program. Source: `rg --help`, versions 13 to 15. Without
 * `--max-filesize`: it asks for the size of every file, which costs a fifth of a search (measured with version 13).
 */
const SAME_FILES = [
  ..."--no-config --hidden --no-ignore-dot --no-ignore-exclude --no-ignore-global --no-ignore-parent".split(" "),
  ..."--no-require-git --no-ignore-messages --no-mmap --crlf --no-unicode --glob !.git".split(" "),
];

/** The files that may hold a match; null when ripgrep could not do it in time. Throws the abort reason. */
async function filesByRipgrep(search: RipgrepSearch): Promise<FoundNames | null> {
  const enough = new AbortController();
  const output = new Collected();
  const complaints = new Collected();
  const outcome = await run({
    argv: [search.program, ...ripgrepArguments(search)],
    cwd: search.root,
    env: {},
    signal: AbortSignal.any([search.signal, enough.signal]),
    timeoutMs: search.timeoutMs,
    onStart: search.onStart,
    onOutput(bytes, stream) {
      (stream === "stdout" ? output : complaints).add(bytes);
      if (output.ends > search.most || complaints.length > COMPLAINTS_LIMIT) enough.abort();
    },
  });
  search.signal.throwIfAborted();
  if (complaints.length > COMPLAINTS_LIMIT || outcome.ended === "timeout") return null;
  const cut = output.ends > search.most;
  const names = output.text().split("\0");
  const rest = names.pop();
  if (!cut && (rest !== "" || !fits(outcome.code, { names, complaints: complaints.text() }))) return null;
  const above = search.relative === "." ? "./" : `${search.relative}/`;
  if (!names.every((name) => name.startsWith(above))) return null;
  return { names: names.slice(0, search.most).map((name) => name.slice(above.length)), cut };
}

/** Returns whether exit code and output agree; else it is another program, or rejects an option or the pattern. */
function fits(code: number, { names, complaints }: { names: readonly string[]; complaints: string }): boolean {
  if (code === 0) return names.length > 0;
  if (code === 1) return names.length === 0;
  // Files that it could not read are named.
  return code === 2 && /^(.*\(os error \d+\)\n)+$/.test(complaints);
}

function ripgrepArguments(search: RipgrepSearch): string[] {
  return [
    ...SAME_FILES,
    "--files-with-matches",
    "--null",
    ...(search.ordered ? ["--sort", "path"] : []),
    // A type narrows the search; `--glob` would also include what `.gitignore` leaves out.
    ...(search.nameGlob === null ? [] : ["--type-add", `wanted:${search.nameGlob}`, "--type", "wanted"]),
    ...(search.ignoreFile ? ["--ignore-file", ".gitignore"] : []),
    "--regexp",
    search.pattern,
    "--",
    search.relative === "." ? "./" : search.relative,
  ];
}

class Collected {
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  length = 0;
  /** Complete names: each ends with a NUL byte. */
  ends = 0;

  add(bytes: Uint8Array<ArrayBuffer>): void {
    this.#pieces.push(bytes);
    this.length += bytes.length;
    for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) this.ends++;
  }

  text(): string {
    const decoder = new TextDecoder();
    return this.#pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
  }
}
