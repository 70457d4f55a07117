/** Searches the texts of files through the workspace, which opens them however they were found. */
import { cutText } from "../../platform/text.ts";
import { counted } from "../../platform/number.ts";
import { decodeText, isUtf16, lineStart } from "../text.ts";
import type { LineMatcher, SearchWatch } from "./line_matcher.ts";
import { highestLabel, type Label } from "../../boundary/policy/label.ts";
import type { LabeledBytes, Refusal, ResolvedPath, Workspace } from "../../boundary/workspace/workspace.ts";
import type { PathPattern } from "../path_pattern.ts";
import { isRefusal, sourceOf } from "../result.ts";
import type { FoundFile } from "../walk.ts";
import { LATE_NOTE, type SearchReport } from "./report.ts";

interface FoundLine {
  /** From 1. */
  number: number;
  /** Cut to {@link LINE_LIMIT} characters. */
  text: string;
  /** False for context. */
  match: boolean;
}

export interface FileMatches {
  /** Matching lines; at least 1. Counting ends at the requested limit. */
  count: number;
  /** Empty when lines were not requested. */
  lines: FoundLine[];
}

export interface SearchLimits {
  /** Most matching lines. */
  most: number;
  /** Lines around each match; null when no lines are wanted. */
  context: number | null;
}

/** Characters of a line that are shown. */
const LINE_LIMIT = 400;

function shownLine(text: string): string {
  const line = text.endsWith("\r") ? text.slice(0, -1) : text;
  return line.length <= LINE_LIMIT ? line : `${cutText(line, LINE_LIMIT)}…`;
}

/** Returns whether bytes at the start of a file already show that it is not text. */
function isNoText(head: Uint8Array): boolean {
  return !isUtf16(head) && head.includes(0);
}

/** The text of a file as Read shows it; null for what is not text: here a NUL byte anywhere decides that. */
function textOf(bytes: Uint8Array): string | null {
  const text = decodeText(bytes)?.text ?? null;
  if (text === null || text.includes("\0")) return null;
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

/** The matching lines of a text, with those around them; null when there are none. */
function searchText(
  text: string,
  matcher: LineMatcher,
  limits: SearchLimits & { watch: SearchWatch },
): FileMatches | null {
  const found: [number, number][] = [];
  for (const [start, end] of matcher.lines(text, limits.watch)) {
    found.push([start, end]);
    if (found.length >= limits.most) break;
  }
  if (found.length === 0) return null;
  return { count: found.length, lines: limits.context === null ? [] : linesAround(text, found, limits.context) };
}

function linesAround(text: string, found: readonly [number, number][], context: number): FoundLine[] {
  const lines: FoundLine[] = [];
  const matching = new Set(found.map(([start]) => start));
  let number = 1;
  let counted = 0;
  let written = 0;
  for (const [start] of found) {
    for (let at = text.indexOf("\n", counted); at >= 0 && at < start; at = text.indexOf("\n", at + 1)) {
      number++;
      counted = at + 1;
    }
    let first = start;
    let before = 0;
    for (; before < context && first > written; before++) first = lineStart(text, Math.max(first - 1, 0));
    let lineNumber = number - before;
    let last = start;
    for (let at = first, after = 0; at < text.length || at === start;) {
      const end = text.indexOf("\n", at);
      const stop = end < 0 ? text.length : end;
      if (at >= written) {
        lines.push({ number: lineNumber, text: shownLine(text.slice(at, stop)), match: matching.has(at) });
      }
      last = stop + 1;
      lineNumber++;
      if (at >= start && after++ >= context) break;
      at = stop + 1;
    }
    written = Math.max(written, last);
  }
  return lines;
}

interface TreeSearch {
  workspace: Workspace;
  signal: AbortSignal;
  matcher: LineMatcher;
  /** Pattern of the files; all when null. */
  glob: PathPattern | null;
  report: SearchReport;
  /** The rule by which a file may not be read, or null. */
  readDenied?: ((path: ResolvedPath) => string | null) | undefined;
  late(): boolean;
}

export interface SearchEnd {
  label: Label;
  notes: string[];
  /** Files whose content is not for this model. */
  redacted: number;
  source?: { path: string; rule: string };
}

/** Bytes read first; most files are shorter, and most long ones show here that they are not text. */
const FIRST_READ = 1024 * 1024;
/** Longest file that is searched, in bytes. */
const FILE_LIMIT = 64 * 1024 * 1024;

/**
 * Searches files in the order in which they come, until the report is full or the time is up. A file without names
 * was requested itself. Throws the abort reason.
 */
export async function searchFiles(
  files: Iterable<FoundFile[]> | AsyncIterable<FoundFile[]>,
  search: TreeSearch,
): Promise<SearchEnd> {
  const state: State = {
    labels: new Set([search.workspace.ambientLabel]),
    searched: new Map(),
    unread: 0,
    redacted: 0,
    denied: 0,
    skipped: 0,
    late: false,
  };
  for await (const some of files) {
    if (!await searchSome(some, search, state)) break;
  }
  const { labels, searched, redacted } = state;
  // Where only protected files were searched, "nothing matched" reveals something about them, too.
  for (const label of searched.has("open") ? [] : searched.keys()) labels.add(label);
  const source = state.source ?? (labels.has("no-cloud") ? searched.get("no-cloud") : undefined);
  return { label: highestLabel(labels), notes: notesOf(state), redacted, source };
}

interface State {
  labels: Set<Label>;
  /** The first source of each label that a searched file had. */
  searched: Map<Label, State["source"]>;
  /** Files that are too long, or could not be read. */
  unread: number;
  /** Files whose content is not for this model. */
  redacted: number;
  /** Files that a rule of the user denies. */
  denied: number;
  /** Lines that are too long. */
  skipped: number;
  late: boolean;
  refusal?: string;
  source?: { path: string; rule: string } | undefined;
}

async function searchSome(files: readonly FoundFile[], search: TreeSearch, state: State): Promise<boolean> {
  const { glob, workspace } = search;
  const wanted = glob === null ? files : files.filter(({ names }) => glob.matches(names));
  for (const file of wanted) {
    const denied = search.readDenied?.(file.path) ?? null;
    if (denied === null) {
      const read = workspace.peek(file.path, { limit: FIRST_READ });
      const isWhole = isRefusal(read) || !read.more;
      searchFile({ file, read: isWhole ? read : await wholeText(read, file, workspace) }, search, state);
    } else {
      state.denied++;
      if (file.names.length === 0) state.refusal = `not searched: the rule ${denied} denies reading it`;
    }
    search.signal.throwIfAborted();
    state.late = search.late();
    if (search.report.full || state.late) return false;
  }
  return true;
}

async function wholeText(
  beginning: LabeledBytes,
  { path }: FoundFile,
  workspace: Workspace,
): Promise<LabeledBytes | Refusal> {
  if (isNoText(beginning.bytes)) return { ...beginning, more: false };
  return await workspace.read(path, { limit: FILE_LIMIT });
}

function searchFile(
  { file, read }: { file: FoundFile; read: LabeledBytes | Refusal },
  search: TreeSearch,
  state: State,
): void {
  if (isRefusal(read) && read.refused === "protected") {
    state.redacted++;
    // Whoever asked for this very file gets the rule.
    if (file.names.length === 0) state.refusal = read.message;
  } else if (isRefusal(read) || read.more) state.unread++;
  else {
    const { source } = sourceOf(file.path, read.rule, search);
    if (!state.searched.has(read.label)) state.searched.set(read.label, source);
    const text = textOf(read.bytes);
    const watch = { late: search.late, skipped: () => state.skipped++ };
    const found = text === null ? null : searchText(text, search.matcher, { ...search.report.wanted, watch });
    if (found === null) return;
    state.labels.add(read.label);
    state.source ??= source;
    search.workspace.noteUsed(file.path);
    search.report.add(file.path.display, found);
  }
}

function notesOf({ unread, redacted, denied, skipped, late, refusal }: State): string[] {
  const notes: string[] = [];
  const leftOut = (amount: number, { noun, why }: { noun: string; why: string }) => {
    if (amount > 0) notes.push(`${counted(amount, noun)} not searched: ${why}`);
  };
  if (refusal !== undefined) notes.push(refusal);
  else {
    leftOut(redacted, { noun: "file", why: "protected by a marker" });
    leftOut(denied, { noun: "file", why: "a deny rule covers reading" });
  }
  if (late) notes.push(LATE_NOTE);
  leftOut(unread, { noun: "file", why: "unreadable, or longer than 64 MiB" });
  leftOut(skipped, { noun: "line", why: "longer than a million characters" });
  return notes;
}
