/** Finds and replaces old_string, exactly or up to indentation. */
import { PLAIN, SIGN, withPlainSigns } from "../signs.ts";
import { lineStart } from "../text.ts";
import { findAll } from "./nearest.ts";

export interface Replacement extends Span {
  text: string;
}

interface Span {
  start: number;
  end: number;
}

/** How the text of the file differs from old_string: not at all, in typographic characters, or in white space. */
type Difference = "none" | "signs" | "white space";

export type Match =
  | { kind: "found"; replacements: Replacement[]; differs: Difference }
  | { kind: "several"; positions: number[]; differs: Difference }
  | { kind: "none" };

interface Reduced {
  text: string;
  /** Position in the full text of each character. */
  origin: Uint32Array;
}

function reduce(text: string, keep: (code: number, at: number) => boolean): Reduced {
  const origin = new Uint32Array(text.length);
  const pieces: string[] = [];
  let kept = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (keep(text.charCodeAt(at), at)) origin[kept++] = at;
    else {
      if (from < at) pieces.push(text.slice(from, at));
      from = at + 1;
    }
  }
  pieces.push(text.slice(from));
  return { text: pieces.join(""), origin: origin.subarray(0, kept) };
}

/** Space, tab, line feed, carriage return, form feed, vertical tab. */
function isWhite(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function lineEndOf(text: string): "\r\n" | "\n" {
  let feeds = 0;
  let pairs = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    feeds += 1;
    if (text[at - 1] === "\r") pairs += 1;
  }
  return pairs * 2 > feeds ? "\r\n" : "\n";
}

/** `text` with the line ends of the file; a file without any leaves it as it is. */
function withLineEndsOf(file: string, text: string): string {
  if (!file.includes("\n")) return text;
  const plain = text.replaceAll("\r\n", "\n");
  return lineEndOf(file) === "\r\n" ? plain.replaceAll("\n", "\r\n") : plain;
}

/** Returns whether a position lies between the CR and the LF of one line end: no edit may begin or end there. */
function partsLineEnd(file: string, position: number): boolean {
  return file[position] === "\n" && file[position - 1] === "\r";
}

/** Matches in the text without the CR of line ends; positions are those of the full text. */
function findIgnoringLineEnds(file: string, old: string): Span[] {
  if (!file.includes("\r\n") && !old.includes("\r\n")) return [];
  const reduced = reduce(file, (code, at) => !(code === 13 && file.charCodeAt(at + 1) === 10));
  const pattern = old.replaceAll("\r\n", "\n");
  return findAll(reduced.text, pattern).map((at) => {
    const first = reduced.origin[at] ?? 0;
    // A match that begins with a line feed takes the CR before it along; otherwise it would be left behind.
    const start = partsLineEnd(file, first) ? first - 1 : first;
    return { start, end: (reduced.origin[at + pattern.length - 1] ?? 0) + 1 };
  });
}

/** Matches in the text without any white space, from the first to the last other character. */
function findIgnoringWhiteSpace(file: string, old: string): Span[] {
  const pattern = reduce(old, (code) => !isWhite(code)).text;
  if (pattern === "") return [];
  const reduced = reduce(file, (code) => !isWhite(code));
  return findAll(reduced.text, pattern).map((at) => ({
    start: reduced.origin[at] ?? 0,
    end: (reduced.origin[at + pattern.length - 1] ?? 0) + 1,
  }));
}

function choose(
  spans: Span[],
  options: { all: boolean; text(span: Span): string; differs?: Difference },
): Match {
  const { differs = "none" } = options;
  if (spans.length > 1 && !options.all) {
    return { kind: "several", positions: spans.map((span) => span.start), differs };
  }
  const replacements: Replacement[] = [];
  for (const span of spans) {
    if (span.start >= (replacements.at(-1)?.end ?? 0)) replacements.push({ ...span, text: options.text(span) });
  }
  return { kind: "found", replacements, differs };
}

function findIgnoringSigns(file: string, old: string): Span[] {
  const [plainFile, plainOld] = [withPlainSigns(file), withPlainSigns(old)];
  if (plainFile === file && plainOld === old) return [];
  const exact = findAll(plainFile, plainOld).map((start) => ({ start, end: start + plainOld.length }))
    .filter(({ start, end }) => !partsLineEnd(file, start) && !partsLineEnd(file, end));
  return exact.length > 0 ? exact : findIgnoringLineEnds(plainFile, plainOld);
}

/** `new` with the characters of the file: where it repeats `old`, and for those that `old` got wrong. */
function withSignsOf(found: string, edit: { old: string; new: string }): string {
  const lines = (text: string) => text.replaceAll("\r\n", "\n").split("\n");
  const [inFile, inOld, inNew] = [lines(found), lines(edit.old), lines(edit.new)];
  const wrong = new Map<string, string>();
  for (const [index, line] of inOld.entries()) {
    const real = inFile[index] ?? "";
    for (let at = 0; at < line.length; at++) {
      const [one = "", other = ""] = [line[at], real[at]];
      if (one !== other && PLAIN.has(one)) wrong.set(one, other);
    }
  }
  const mended = (text: string) => text.replace(SIGN, (sign) => wrong.get(sign) ?? sign);
  return inNew.map((line, index) => {
    const same = inOld.indexOf(line);
    if (same !== -1) return inFile[same] ?? line;
    const [old, real] = inNew.length === inOld.length ? [inOld[index] ?? "", inFile[index] ?? ""] : ["", ""];
    let head = 0;
    while (head < old.length && head < line.length && old[head] === line[head]) head += 1;
    let tail = 0;
    const most = Math.min(old.length, line.length) - head;
    while (tail < most && old[old.length - 1 - tail] === line[line.length - 1 - tail]) tail += 1;
    return real.slice(0, head) + mended(line.slice(head, line.length - tail)) + real.slice(real.length - tail);
  }).join("\n");
}

/**
 * Finds what an edit replaces: the exact text; else the text with other line ends; else with other quotes, dashes and
 * spaces; else the one place that differs in white space only, with `new` indented as the file is. Everything outside
 * of the replacements stays as it is.
 */
export function matchEdit(file: string, request: { old: string; new: string; all: boolean }): Match {
  const { old, all } = request;
  const asWritten = { all, text: () => withLineEndsOf(file, request.new) };
  const exact = findAll(file, old).map((start) => ({ start, end: start + old.length }))
    .filter(({ start, end }) => !partsLineEnd(file, start) && !partsLineEnd(file, end));
  if (exact.length > 0) return choose(exact, asWritten);
  const otherEnds = findIgnoringLineEnds(file, old);
  if (otherEnds.length > 0) return choose(otherEnds, asWritten);
  const otherSigns = findIgnoringSigns(file, old);
  if (otherSigns.length > 0) {
    const text = ({ start, end }: Span) =>
      withLineEndsOf(file, withSignsOf(file.slice(start, end), { old, new: request.new }));
    return choose(otherSigns, { all, text, differs: "signs" });
  }
  const plainOld = withPlainSigns(old);
  const loose = findIgnoringWhiteSpace(withPlainSigns(file), plainOld);
  const [only] = loose;
  if (only === undefined) return { kind: "none" };
  if (loose.length > 1) {
    return { kind: "several", positions: loose.map((span) => span.start), differs: "white space" };
  }
  // A character that only old_string has, and not the file, does not belong to the new text either.
  const mended = request.new.replace(
    SIGN,
    (sign) => old.includes(sign) && !file.includes(sign) ? PLAIN.get(sign) ?? sign : sign,
  );
  const placed = reindent(file, { span: only, old: plainOld, new: mended });
  const replacement = { ...placed, text: withLineEndsOf(file, placed.text) };
  return { kind: "found", replacements: [replacement], differs: "white space" };
}

/**
 * Returns whether the file has what a replacement inserts around its place: the same insertion was made before. White
 * space proves nothing: it is everywhere.
 */
export function standsAlready(file: string, { start, end, text }: Replacement): boolean {
  const old = file.slice(start, end);
  if (old === "" || text.replace(old, "").trim() === "") return false;
  return findAll(text, old).slice(0, 100).some((at) =>
    start >= at && file.startsWith(text.slice(0, at), start - at) && file.startsWith(text.slice(at + old.length), end)
  );
}

/** The file with the replacements, which are in order and do not overlap. */
export function applyReplacements(file: string, replacements: readonly Replacement[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, text } of replacements) {
    pieces.push(file.slice(from, start), text);
    from = end;
  }
  pieces.push(file.slice(from));
  return pieces.join("");
}

/** An old text that is at `span` of the file but for white space, and its replacement. */
interface LooseEdit {
  /** From the first to the last character that is not white space. */
  span: Span;
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

/** Whether all lines, two at least, are indented alike. */
function isFlat([first = "", ...others]: readonly string[]): boolean {
  return others.length > 0 && others.every((line) => indentOf(line) === indentOf(first));
}

/** Maps indentations of the model to those of the file, taken from the lines that correspond. */
function indentations(fileLines: string[], oldLines: string[]): Map<string, string> {
  const known = new Map<string, string>();
  const inFile = fileLines.filter((line) => !isBlank(line));
  const inOld = oldLines.filter((line) => !isBlank(line));
  // Lines that were broken differently, or lost their indentation, correspond in the first one only.
  const pairs = inFile.length === inOld.length && !isFlat(inOld) ? inOld.length : 1;
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
    // Without a second known level: four spaces count as a tab, everything else stays as it is.
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

/** `text` without blank lines at its beginning, at most `limit` of them, and how many were removed. */
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

/**
 * The replacement for a match that differs in white space: whole lines are indented as the file's are, a part of a line
 * keeps what is around it. A line end that only `old` closes with is removed.
 */
function reindent(file: string, edit: LooseEdit): Replacement {
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
  const [fileLines, oldLines] = [plain(file.slice(begin, edit.span.end)).split("\n"), oldText.split("\n")];
  const newLines = newText.split("\n");
  const flat = flattened(fileLines, { oldLines, newLines });
  const known = indentations(fileLines, oldLines);
  const lines = newLines.map((line, index) => {
    if (isBlank(line)) return line;
    const indent = indentOf(line);
    return (flat?.[index] ?? translate(indent, known)) + line.slice(indent.length);
  });
  return { start, end, text: lines.join("\n") };
}

/**
 * The file's indentation of each new line, where `old` left out what distinguishes its lines: that of the line with the
 * same text, or at the same place, else that of the line before. Null where indentations distinguish them.
 */
function flattened(
  fileLines: readonly string[],
  { oldLines, newLines }: { oldLines: readonly string[]; newLines: readonly string[] },
): string[] | null {
  const inFile = fileLines.filter((line) => !isBlank(line));
  const inOld = oldLines.filter((line) => !isBlank(line));
  const inNew = newLines.filter((line) => !isBlank(line));
  // A new text with indentation distinguishes its own lines.
  if (inFile.length !== inOld.length || isFlat(inFile) || !isFlat([...inOld, ...inNew])) return null;
  let last = indentOf(inFile[0] ?? "");
  let place = 0;
  return newLines.map((line) => {
    if (isBlank(line)) return "";
    const same = inOld.findIndex((old, at) => at >= place && old.trim() === line.trim());
    const at = same !== -1 ? same : inNew.length === inOld.length ? inNew.indexOf(line) : -1;
    if (same !== -1) place = same + 1;
    return last = at === -1 ? last : indentOf(inFile[at] ?? "");
  });
}
