/** Searches files through the workspace: whichever way they were found, this is how they are opened. */
import { highestLabel, type Label } from "../../boundary/policy/label.ts";
import type { LabelledBytes, Refusal, ResolvedPath, Workspace } from "../../boundary/workspace/workspace.ts";
import type { PathPattern } from "../path_pattern.ts";
import { count, isRefusal, sourceOf } from "../result.ts";
import type { FoundFile } from "../walk.ts";
import { LATE_NOTE } from "./late_note.ts";
import type { LineMatcher } from "./line_matcher.ts";
import type { SearchReport } from "./report.ts";
import { isNoText, searchText, textOf } from "./search_text.ts";

/** What to search, and for how long. */
export interface TreeSearch {
  workspace: Workspace;
  signal: AbortSignal;
  matcher: LineMatcher;
  /** Which of the files; all when null. */
  glob: PathPattern | null;
  report: SearchReport;
  /** The rule by which a file may not be read, or null. */
  readDenied?: ((path: ResolvedPath) => string | null) | undefined;
  /** Whether the time is up. */
  late(): boolean;
}

/** What came of it besides the report. */
export interface SearchEnd {
  label: Label;
  notes: string[];
  /** Files whose content is not for this model. */
  withheld: number;
  /** The first protected file that the report shows. */
  source?: { path: string; rule: string };
}

/** Bytes read first; most files are shorter, and most long ones show here that they are no text. */
const FIRST_READ = 1024 * 1024;
/** Longest file that is searched, in bytes. */
const FILE_LIMIT = 64 * 1024 * 1024;

/**
 * Searches files in the order in which they come, until the report is full or the time is up. A file without names is one
 * that was asked for itself. Throws the abort reason.
 */
export async function searchFiles(
  files: Iterable<FoundFile[]> | AsyncIterable<FoundFile[]>,
  search: TreeSearch,
): Promise<SearchEnd> {
  const state: State = {
    labels: new Set([search.workspace.ambientLabel]),
    unread: 0,
    withheld: 0,
    denied: 0,
    skipped: 0,
    late: false,
  };
  for await (const some of files) {
    if (!await searchSome(some, search, state)) break;
  }
  const { labels, source, withheld } = state;
  return { label: highestLabel(labels), notes: notesOf(state), withheld, ...(source === undefined ? {} : { source }) };
}

interface State {
  labels: Set<Label>;
  /** Files that are too long, or could not be read. */
  unread: number;
  /** Files whose content is not for this model. */
  withheld: number;
  /** Files that a rule of the user denies. */
  denied: number;
  /** Lines that are too long for the pattern. */
  skipped: number;
  late: boolean;
  refusal?: string;
  source?: { path: string; rule: string } | undefined;
}

/** Searches some files; false when that was enough. */
async function searchSome(files: readonly FoundFile[], search: TreeSearch, state: State): Promise<boolean> {
  const { glob, workspace } = search;
  const wanted = glob === null ? files : files.filter(({ names }) => glob.matches(names));
  for (const { file, read } of beginnings(wanted, search)) {
    if ("denied" in read) {
      state.denied++;
      if (file.names.length === 0) state.refusal = `not searched: the rule ${read.denied} denies reading it`;
    } else if (isRefusal(read) || !read.more) searchFile({ file, read }, search, state);
    else searchFile({ file, read: await wholeText(read, file, workspace) }, search, state);
    search.signal.throwIfAborted();
    state.late = search.late();
    if (search.report.full || state.late) return false;
  }
  return true;
}

interface Beginning {
  file: FoundFile;
  read: LabelledBytes | Refusal | { denied: string };
}

/** The beginning of each file, in order, unless a rule denies reading it. */
function* beginnings(files: readonly FoundFile[], { workspace, readDenied }: TreeSearch): Generator<Beginning> {
  let allowed: FoundFile[] = [];
  for (const file of files) {
    const denied = readDenied?.(file.path) ?? null;
    if (denied === null) allowed.push(file);
    else {
      yield* readBeginnings(allowed, workspace);
      allowed = [];
      yield { file, read: { denied } };
    }
  }
  yield* readBeginnings(allowed, workspace);
}

function* readBeginnings(files: readonly FoundFile[], workspace: Workspace): Generator<Beginning> {
  const paths = files.map(({ path }) => path);
  let index = 0;
  for (const read of workspace.readAll(paths, { limit: FIRST_READ })) {
    const file = files[index++];
    if (file !== undefined) yield { file, read };
  }
}

/** All of a text whose beginning was read. */
async function wholeText(
  beginning: LabelledBytes,
  { path }: FoundFile,
  workspace: Workspace,
): Promise<LabelledBytes | Refusal> {
  if (isNoText(beginning.bytes)) return { ...beginning, more: false };
  return await workspace.read(path, { limit: FILE_LIMIT });
}

function searchFile(
  { file, read }: { file: FoundFile; read: LabelledBytes | Refusal },
  search: TreeSearch,
  state: State,
): void {
  if (isRefusal(read) && read.refused === "protected") {
    state.withheld++;
    // Who asked for this very file is told the rule.
    if (file.names.length === 0) state.refusal = read.message;
  } else if (isRefusal(read) || read.more) state.unread++;
  else {
    const text = textOf(read.bytes);
    const watch = { late: search.late, skipped: () => state.skipped++ };
    const found = text === null ? null : searchText(text, search.matcher, { ...search.report.wanted, watch });
    if (found === null) return;
    state.labels.add(read.label);
    state.source ??= sourceOf(file.path, read.rule, search).source;
    search.report.add(file.path.display, found);
  }
}

function notesOf({ unread, withheld, denied, skipped, late, refusal }: State): string[] {
  const notes: string[] = [];
  const leftOut = (amount: number, { noun, why }: { noun: string; why: string }) => {
    if (amount > 0) notes.push(`${count(amount, noun)} not searched: ${why}`);
  };
  if (refusal !== undefined) notes.push(refusal);
  else {
    leftOut(withheld, { noun: "file", why: "protected by a marker" });
    leftOut(denied, { noun: "file", why: "a deny rule covers reading" });
  }
  if (late) notes.push(LATE_NOTE);
  leftOut(unread, { noun: "file", why: "unreadable, or longer than 64 MiB" });
  leftOut(skipped, { noun: "line", why: "too long for this pattern" });
  return notes;
}
