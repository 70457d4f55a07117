/** Searches files through the workspace: the way that is always there. */
import { highestLabel, type Label } from "../../boundary/label.ts";
import type { LabelledBytes, Refusal, ResolvedPath, Workspace } from "../../boundary/workspace.ts";
import type { PathPattern } from "../path_pattern.ts";
import { count, isRefusal, sourceOf } from "../result.ts";
import { type FoundFile, walkFiles } from "../walk.ts";
import { LATE_NOTE } from "./late_note.ts";
import type { LineMatcher } from "./line_matcher.ts";
import type { SearchReport } from "./report.ts";
import { isNoText, searchText, textOf } from "./search_text.ts";

/** What to search, and for how long. */
export interface TreeSearch {
  workspace: Workspace;
  signal: AbortSignal;
  matcher: LineMatcher;
  /** Which files below the start; all when null. */
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
  /** The first protected file that the report shows. */
  source?: { path: string; rule: string };
}

/** Files that are being read at the same time, because each read waits for the system. */
const READ_AT_ONCE = 32;
/** Bytes read first; most files are shorter, and most long ones show here that they are no text. */
const FIRST_READ = 1024 * 1024;
/** Longest file that is searched, in bytes. */
export const FILE_LIMIT = 64 * 1024 * 1024;

/** Searches a file, or all files below a directory in the order of their paths. Throws the abort reason. */
export async function searchTree(
  start: ResolvedPath,
  search: TreeSearch & { isFile: boolean },
): Promise<SearchEnd> {
  const state: State = {
    labels: new Set([search.workspace.ambientLabel]),
    unread: 0,
    withheld: 0,
    denied: 0,
    skipped: 0,
    late: false,
  };
  const files = search.isFile ? [{ path: start, names: [] }] : walkFiles(start, search);
  // The oldest first: reads end in any order, but are reported in that of the paths.
  const reading: { file: FoundFile; bytes: Promise<LabelledBytes | Refusal> }[] = [];
  for await (const file of files) {
    if (search.glob?.matches(file.names) === false) continue;
    const rule = search.readDenied?.(file.path) ?? null;
    if (rule !== null) {
      state.denied++;
      if (search.isFile) state.refusal = `not searched: the rule ${rule} denies reading it`;
      continue;
    }
    reading.push({ file, bytes: readText(file.path, search.workspace) });
    if (reading.length < READ_AT_ONCE) continue;
    if (!await searchOldest(reading, search, state)) break;
  }
  while (reading.length > 0 && await searchOldest(reading, search, state)) {
    // The rest of what is being read.
  }
  await Promise.allSettled(reading.map((one) => one.bytes));
  const { labels, source } = state;
  return { label: highestLabel(labels), notes: notesOf(state), ...(source === undefined ? {} : { source }) };
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

/** Searches the file that was asked for first; false when there is no need for more. */
async function searchOldest(
  reading: { file: FoundFile; bytes: Promise<LabelledBytes | Refusal> }[],
  search: TreeSearch,
  state: State,
): Promise<boolean> {
  const oldest = reading.shift();
  if (oldest === undefined) return false;
  const read = await oldest.bytes;
  search.signal.throwIfAborted();
  if (isRefusal(read) && read.refused === "protected") {
    state.withheld++;
    // Who asked for this very file is told the rule.
    if (oldest.file.names.length === 0) state.refusal = read.message;
  } else if (isRefusal(read) || read.more) state.unread++;
  else {
    const text = textOf(read.bytes);
    const watch = { late: search.late, skipped: () => state.skipped++ };
    const found = text === null ? null : searchText(text, search.matcher, { ...search.report.wanted, watch });
    if (found !== null) {
      state.labels.add(read.label);
      state.source ??= sourceOf(oldest.file.path, read.rule, search).source;
      search.report.add(oldest.file.path.display, found);
    }
  }
  state.late = search.late();
  return !search.report.full && !state.late;
}

async function readText(path: ResolvedPath, workspace: Workspace): Promise<LabelledBytes | Refusal> {
  const first = await workspace.read(path, { limit: FIRST_READ });
  if (isRefusal(first) || !first.more) return first;
  if (isNoText(first.bytes)) return { ...first, more: false };
  return await workspace.read(path, { limit: FILE_LIMIT });
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
