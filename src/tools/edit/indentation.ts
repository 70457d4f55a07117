/** Putting new lines where old ones stood when the model's indentation was not the file's. */
import type { Replacement } from "./match.ts";

/** An old text that stands at `span` of the file but for white space, and what should come in its place. */
export interface LooseEdit {
  /** From the first to the last character that is no white space. */
  span: { start: number; end: number };
  old: string;
  new: string;
}

function indentOf(line: string): string {
  const end = line.search(/[^ \t]/);
  return end === -1 ? line : line.slice(0, end);
}

function isBlank(line: string): boolean {
  return line.trim() === "";
}

/** Which indentation of the file stands for which of the model's, taken from the lines that correspond. */
function indentations(fileLines: string[], oldLines: string[]): Map<string, string> {
  const known = new Map<string, string>();
  const inFile = fileLines.filter((line) => !isBlank(line));
  const inOld = oldLines.filter((line) => !isBlank(line));
  // Lines that were broken differently correspond in the first one only.
  const pairs = inFile.length === inOld.length ? inOld.length : 1;
  // The first line last: a model often leaves out its indentation, and only its.
  for (let at = 1; at <= pairs; at++) {
    const index = at % pairs;
    const old = indentOf(inOld[index] ?? "");
    if (!known.has(old)) known.set(old, indentOf(inFile[index] ?? ""));
  }
  return known;
}

/** Spaces or tabs that one level has more than another, in the model's text and in the file. */
function levelOf(known: Map<string, string>): { old: number; file: string } | null {
  const entries = [...known].sort(([one], [other]) => one.length - other.length);
  let level: { old: number; file: string } | null = null;
  for (const [index, [old, file]] of entries.entries()) {
    const [lowerOld, lowerFile] = entries[index - 1] ?? [null, ""];
    if (lowerOld === null || file.length <= lowerFile.length || !file.startsWith(lowerFile)) continue;
    const step = old.length - lowerOld.length;
    if (level === null || step < level.old) level = { old: step, file: file.slice(lowerFile.length) };
  }
  return level;
}

/** The file's indentation for a line of the new text that is indented by `indent`. */
function translate(indent: string, known: Map<string, string>): string {
  const exact = known.get(indent);
  if (exact !== undefined) return exact;
  let base: string | null = null;
  for (const old of known.keys()) {
    if (indent.startsWith(old) && (base === null || old.length > base.length)) base = old;
  }
  const level = levelOf(known);
  if (base !== null) {
    const rest = indent.slice(base.length);
    const below = known.get(base) ?? "";
    if (level !== null && rest.length % level.old === 0) return below + level.file.repeat(rest.length / level.old);
    // Without a second known level: spaces under tabs are four to a tab, all else is taken as it is.
    if (/^\t+$/.test(below) && /^ +$/.test(rest)) return below + "\t".repeat(Math.ceil(rest.length / 4));
    return below + rest;
  }
  // Less indented than every known line: as much less than the least indented of them.
  const [least] = [...known.keys()].sort((one, other) => one.length - other.length);
  const file = known.get(least ?? "") ?? "";
  const missing = (least ?? "").length - indent.length;
  const remove = level === null ? missing : Math.round(missing / level.old) * level.file.length;
  return file.slice(
    0,
    Math.max(0, file.length - (/^\t+$/.test(file) && level === null ? Math.ceil(missing / 4) : remove)),
  );
}

/** `text` without blank lines at its beginning, at most `limit` of them, and how many were taken. */
function withoutLeadingBlank(text: string, limit: number): { text: string; taken: number } {
  let rest = text;
  let taken = 0;
  for (
    let end = rest.indexOf("\n");
    taken < limit && end !== -1 && isBlank(rest.slice(0, end));
    end = rest.indexOf("\n")
  ) {
    rest = rest.slice(end + 1);
    taken += 1;
  }
  return { text: rest, taken };
}

/** Where the line of a position begins, and where its content ends. */
function lineStart(file: string, position: number): number {
  return position === 0 ? 0 : file.lastIndexOf("\n", position - 1) + 1;
}

/**
 * The replacement for a match that differs in white space: whole lines are indented as the file's are, a part of a line
 * keeps what is around it. A line end that `old` closes with and `new` does not is taken away.
 */
export function reindent(file: string, edit: LooseEdit): Replacement {
  const plain = (text: string) => text.replaceAll("\r\n", "\n");
  const old = withoutLeadingBlank(plain(edit.old), Number.MAX_SAFE_INTEGER);
  const oldText = old.text.trimEnd();
  let newText = withoutLeadingBlank(plain(edit.new), old.taken).text;
  let { start, end } = edit.span;
  const begin = lineStart(file, start);
  const wholeLine = isBlank(file.slice(begin, start));
  if (/\n[ \t]*$/.test(old.text)) {
    const feed = file.indexOf("\n", end);
    const closed = feed !== -1 && isBlank(file.slice(end, feed));
    if (/\n[ \t]*$/.test(newText)) newText = newText.replace(/\n[ \t]*$/, "");
    else if (closed) end = feed + 1;
  }
  if (!wholeLine) {
    const led = /^[ \t]/.test(old.text);
    return { start, end, text: led ? newText.replace(/^[ \t]+/, "") : newText };
  }
  start = begin;
  const known = indentations(plain(file.slice(begin, edit.span.end)).split("\n"), oldText.split("\n"));
  const lines = newText.split("\n").map((line) => {
    if (isBlank(line)) return line;
    const indent = indentOf(line);
    return translate(indent, known) + line.slice(indent.length);
  });
  return { start, end, text: lines.join("\n") };
}
