/**
 * Asks ripgrep which files a pattern is found in, which is faster than to read them all here. It opens files itself, so
 * what it says is used only where nothing is protected; and it is told to look where {@link ../walk.ts} looks. What is
 * shown of a file is read and searched by us all the same.
 */
import { run } from "../../platform/process.ts";

/** One search of a directory. */
export interface RipgrepSearch {
  /** Absolute path of the program. */
  program: string;
  /** The pattern in its dialect. */
  pattern: string;
  /** Absolute path of the root that the start lies in. */
  root: string;
  /** Of the directory, relative to the root. */
  relative: string;
  /** Whether the root's `.gitignore` has to be named, because the search starts below it. */
  ignoreFile: boolean;
  /** Pattern for the name of files, without a slash. */
  nameGlob: string | null;
  signal: AbortSignal;
  timeoutMs: number;
  /** Whether the files come in the order of their paths: then it works alone, not with all processors. */
  ordered: boolean;
  /** It is ended when it has found more than this. */
  most: number;
  /** Called once it is running. */
  onStart?(): void;
}

/** What it found. */
export interface FoundNames {
  /** Paths below the directory. */
  names: string[];
  /** There were more than were wanted. */
  cut: boolean;
}

/** Bytes of complaints that are listened to. */
const COMPLAINTS_LIMIT = 256 * 1024;

/**
 * Options that make it look where we look. Source: `rg --help`, versions 13 to 15. Without `--max-filesize`: it asks for
 * the size of every file, which costs a fifth of a search (measured with version 13).
 */
const SAME_FILES = [
  ..."--no-config --hidden --no-ignore-dot --no-ignore-exclude --no-ignore-global --no-ignore-parent".split(" "),
  ..."--no-require-git --no-ignore-messages --no-mmap --crlf --glob !.git".split(" "),
];

/** The files that may hold a match; null when ripgrep could not do it in time. Throws the abort reason. */
export async function filesByRipgrep(search: RipgrepSearch): Promise<FoundNames | null> {
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

/** Whether exit code and output fit together. Else it is another program, or does not know an option or the pattern. */
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
    // A type narrows what is found; `--glob` would also take in again what `.gitignore` leaves out.
    ...(search.nameGlob === null ? [] : ["--type-add", `wanted:${search.nameGlob}`, "--type", "wanted"]),
    ...(search.ignoreFile ? ["--ignore-file", ".gitignore"] : []),
    "--regexp",
    search.pattern,
    "--",
    search.relative === "." ? "./" : search.relative,
  ];
}

/** Bytes of a stream. */
class Collected {
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  length = 0;
  /** Names that ended: each by a NUL byte. */
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
