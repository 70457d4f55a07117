/**
 * Searches with ripgrep, which is faster. It opens files itself, so it is used only where nothing is protected; and it is
 * told to find what {@link ./search_tree.ts} finds.
 */
import type { ResolvedPath } from "../../boundary/workspace.ts";
import { run } from "../../platform/process.ts";
import { decodeText } from "../text.ts";
import { LATE_NOTE } from "./late_note.ts";
import type { SearchReport } from "./report.ts";
import { type FileMatches, type FoundLine, shownLine } from "./search_text.ts";
import { FILE_LIMIT } from "./search_tree.ts";

/** One search of a directory. */
export interface RipgrepSearch {
  /** Absolute path of the program. */
  program: string;
  /** The pattern in its dialect. */
  pattern: string;
  /** Absolute path of the root that the start lies in. */
  root: string;
  /** Whether the root's `.gitignore` has to be named, because the search starts below it. */
  ignoreFile: boolean;
  /** Pattern for the name of files, without a slash. */
  nameGlob: string | null;
  report: SearchReport;
  signal: AbortSignal;
  timeoutMs: number;
  /** Of the directory, relative to the root. */
  relative: string;
}

/** Lines of its output longer than this are given up, in characters: a match in one line of many megabytes. */
const LINE_LIMIT = 8 * 1024 * 1024;

/** Options that make it look where we look. Source: `rg --help`, versions 13 to 15. */
const SAME_FILES = [
  ..."--no-config --hidden --no-ignore-dot --no-ignore-exclude --no-ignore-global".split(" "),
  ..."--no-ignore-parent --no-require-git --no-messages --no-mmap --crlf --glob !.git --max-filesize".split(" "),
  `${FILE_LIMIT}`,
];

/** The notes for the result, or null when ripgrep could not do it and the other way must be taken. */
export async function searchWithRipgrep(
  start: ResolvedPath,
  search: RipgrepSearch,
): Promise<string[] | null> {
  const { report } = search;
  const enough = new AbortController();
  const reader = new JsonReader(start, search);
  const outcome = await run({
    argv: [search.program, ...ripgrepArguments(search)],
    cwd: search.root,
    env: {},
    signal: AbortSignal.any([search.signal, enough.signal]),
    timeoutMs: search.timeoutMs,
    onOutput(bytes, stream) {
      if (stream === "stderr" || enough.signal.aborted) return;
      if (!reader.add(bytes) || report.full) enough.abort();
    },
  });
  search.signal.throwIfAborted();
  if (reader.damaged) return null;
  if (outcome.ended === "timeout") return [LATE_NOTE];
  // 1: nothing found. 2 and more: an option or pattern it does not know, or a file that it could not read.
  return outcome.ended === "abort" || outcome.code <= 1 || reader.sawSummary ? [] : null;
}

function ripgrepArguments(search: RipgrepSearch): string[] {
  const { context, most } = search.report.wanted;
  return [
    ...SAME_FILES,
    "--json",
    "--sort",
    "path",
    ...(context === null || context === 0 ? [] : ["--context", `${context}`]),
    ...(most === Infinity ? [] : ["--max-count", `${most}`]),
    ...where(search),
    "--regexp",
    search.pattern,
    "--",
    search.relative === "." ? "./" : search.relative,
  ];
}

function where(search: Pick<RipgrepSearch, "nameGlob" | "ignoreFile">): string[] {
  return [
    // A type narrows what is found; `--glob` would also take in again what `.gitignore` leaves out.
    ...(search.nameGlob === null ? [] : ["--type-add", `wanted:${search.nameGlob}`, "--type", "wanted"]),
    ...(search.ignoreFile ? ["--ignore-file", ".gitignore"] : []),
  ];
}

interface Message {
  type: "begin" | "match" | "context" | "end" | "summary";
  data: {
    path?: Text;
    lines?: Text;
    line_number?: number | null;
    binary_offset?: number | null;
  };
}
type Text = { text: string } | { bytes: string };

/** Reads its output line by line and reports each file when it is complete. */
class JsonReader {
  readonly #decoder = new TextDecoder();
  readonly #search: RipgrepSearch;
  readonly #start: ResolvedPath;
  #rest = "";
  #lines: FoundLine[] = [];
  #count = 0;
  damaged = false;
  sawSummary = false;

  constructor(start: ResolvedPath, search: RipgrepSearch) {
    this.#start = start;
    this.#search = search;
  }

  /** Takes the next bytes; false when it makes no sense to go on. */
  add(bytes: Uint8Array): boolean {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    let from = 0;
    for (let end = this.#rest.indexOf("\n"); end >= 0; end = this.#rest.indexOf("\n", from)) {
      const line = this.#rest.slice(from, end);
      from = end + 1;
      if (!this.#take(line)) return false;
      if (this.#search.report.full) return true;
    }
    this.#rest = this.#rest.slice(from);
    this.damaged ||= this.#rest.length > LINE_LIMIT;
    return !this.damaged;
  }

  #take(line: string): boolean {
    try {
      this.#message(JSON.parse(line) as Message);
    } catch {
      this.damaged = true;
    }
    return !this.damaged;
  }

  #message({ type, data }: Message): void {
    switch (type) {
      case "begin":
        this.#lines = [];
        this.#count = 0;
        break;
      case "match":
      case "context":
        this.#line(type === "match", data);
        break;
      case "end":
        this.#flush(data);
        break;
      case "summary":
        this.sawSummary = true;
    }
  }

  #line(match: boolean, data: Message["data"]): void {
    if (match) this.#count++;
    if (this.#search.report.wanted.context === null) return;
    const text = textIn(data.lines);
    this.#lines.push({
      number: data.line_number ?? 0,
      text: shownLine(text.endsWith("\n") ? text.slice(0, -1) : text),
      match,
    });
  }

  #flush(data: Message["data"]): void {
    // A NUL byte after the first matches: not a text after all.
    if (this.#count === 0 || (data.binary_offset ?? null) !== null) return;
    const found: FileMatches = { count: this.#count, lines: this.#lines };
    this.#search.report.add(this.#display(textIn(data.path)), found);
  }

  /** Its paths are relative to the root, the result's to where the workspace starts counting. */
  #display(path: string): string {
    const relative = path.startsWith("./") ? path.slice(2) : path;
    const below = this.#search.relative === "." ? relative : relative.slice(this.#search.relative.length + 1);
    return this.#start.display === "." ? below : `${this.#start.display}/${below}`;
  }
}

function textIn(text: Text | undefined): string {
  if (text === undefined) return "";
  if ("text" in text) return text.text;
  const bytes = Uint8Array.fromBase64(text.bytes);
  return decodeText(bytes)?.text ?? new TextDecoder().decode(bytes);
}
