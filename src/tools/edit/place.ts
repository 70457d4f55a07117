/** Finds the place of a change in a file: by its old text, by its lines, or at the end. */
import { counted } from "../../platform/number.ts";
import type { Label } from "../../boundary/policy/label.ts";
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { unseenLines } from "../known_file.ts";
import { decodeEntities } from "../call_shapes.ts";
import type { EditInput, EditPart } from "../declarations.ts";
import type { sourceOf } from "../result.ts";
import { withoutInvisible } from "../signs.ts";
import { countLines, type DecodedText, lineStart, lineStarts } from "../text.ts";
import type { LineRange, ToolContext } from "../tool.ts";
import { type Match, matchEdit, type Replacement } from "./match.ts";
import { explainNoMatch, linesAt } from "./nearest.ts";

/** Line numbers listed when a text occurs in several places. */
const LISTED_LINES = 10;

/** Characters of a text whose presence in a file is no coincidence. */
const TELLING = 8;

/** Failed edits of a file in a row after which lines may be named by their numbers. */
const OFFER_LINES_AT = 2;

/** Where a call changes the file, and how the text there differs from old_string. */
export type Found = Omit<Match & { kind: "found" }, "kind">;

export type Wanted = Pick<EditInput, "replace_all" | "start_line" | "end_line" | "expected_replacements"> & EditPart;

/** The text of a file and its label: results show parts of it. */
export interface KnownText extends DecodedText {
  label: Label;
  source: ReturnType<typeof sourceOf>;
  /** Why only an exact and unique old_string may change it; null where the session knows the file as it is. */
  unknown: string | null;
}

interface Call {
  path: ResolvedPath;
  context: ToolContext;
}

/** The place of one change, or why there is none, for the model. */
export function findPlace(file: KnownText, call: Call & { wanted: Wanted }): Found | string {
  const { wanted } = call;
  const { old_string: old, start_line: line } = wanted;
  const byLines = line === undefined ? null : lineSpan(file, { ...call, first: line });
  if (old === "") return byLines ?? endOf(file, wanted);
  const match = bestMatch(file, wanted);
  const isExact = match.kind === "found" && match.differs === "none" && match.replacements.length === 1;
  if (match.kind === "found" && (file.unknown === null || isExact)) {
    return { ...match, replacements: match.replacements.map((one) => wholeLines(file.text, one)) };
  }
  if (file.unknown !== null) return `${file.unknown}. Call Read, then Edit again.`;
  if (match.kind === "several") return amongSeveral(file, { ...call, match });
  return plainerPlace(file, wanted) ?? byLines ?? noPlace(file, call);
}

function endOf({ text: file }: KnownText, { new_string }: Wanted): Found {
  const text = (file === "" || file.endsWith("\n") ? "" : "\n") + new_string;
  return { replacements: [{ start: file.length, end: file.length, text }], differs: "none" };
}

function bestMatch({ text }: KnownText, wanted: Wanted): Match {
  const edit = { old: wanted.old_string, new: wanted.new_string };
  const first = matchEdit(text, { ...edit, all: wanted.replace_all === true });
  const isCounted = first.kind === "several" && first.positions.length === wanted.expected_replacements;
  return isCounted && first.differs === "none" ? matchEdit(text, { ...edit, all: true }) : first;
}

/** Of several places the first behind the line that the call names. */
function amongSeveral(
  file: KnownText,
  { wanted, path, match }: Call & { wanted: Wanted; match: Match & { kind: "several" } },
): Found | string {
  const { positions, differs } = match;
  const at = wanted.after === undefined ? -1 : file.text.indexOf(wanted.after.trim());
  const start = at === -1 ? undefined : positions.find((one) => one > at);
  if (start !== undefined && differs === "none") {
    return {
      replacements: [{ start, end: start + wanted.old_string.length, text: wanted.new_string }],
      differs: "none",
    };
  }
  const lines = listLines(linesAt(file.text, positions));
  return differs === "none"
    ? `old_string occurs ${positions.length} times in ${path.display}: lines ${lines}. Add surrounding lines to make it unique, or set replace_all.`
    : `old_string was not found exactly in ${path.display}; ${positions.length} places differ only in ${differs}: lines ${lines}. Copy one of them exactly.`;
}

/** The place where old_string is meant in a plainer form; null for none. */
function plainerPlace({ text }: KnownText, { old_string: old, new_string }: Wanted): Found | null {
  for (const plainer of PLAINER) {
    const plain = plainer(old);
    if (plain === null || plain === old) continue;
    const copied = matchEdit(text, { old: plain, new: plainer(new_string) ?? new_string, all: false });
    if (copied.kind === "found") return copied;
  }
  return null;
}

function noPlace({ text }: KnownText, { wanted, path, context }: Call & { wanted: Wanted }): string {
  const near = explainNoMatch(text, wanted.old_string);
  const offered = near.lines !== null && (context.memory.failedEdits.get(path.real) ?? 0) + 1 >= OFFER_LINES_AT
    ? ` Or replace whole lines: send file_path, new_string, start_line ${near.lines[0]} and end_line ${near.lines[1]}.`
    : "";
  const done = wanted.new_string.trim().length < TELLING ? -1 : text.indexOf(wanted.new_string.trim());
  const made = done === -1
    ? ""
    : ` new_string stands there already, in line ${linesAt(text, [done])[0]}: if it is what you want, go on.`;
  return `old_string was not found in ${path.display}.${made}${near.text}${offered}`;
}

/** Removed text that fills its lines is removed together with them. */
function wholeLines(file: string, replacement: Replacement): Replacement {
  const { start, end, text } = replacement;
  if (text !== "" || start === end || file.slice(start, end).endsWith("\n")) return replacement;
  const first = lineStart(file, start);
  const feed = file.indexOf("\n", end);
  const isWhole = feed !== -1 && file.slice(first, start).trim() === "" && file.slice(end, feed).trim() === "";
  return isWhole ? { start: first, end: feed + 1, text } : replacement;
}

/** The lines that a call names by their numbers. Only lines that the session has seen can be meant. */
function lineSpan(file: KnownText, call: Call & { wanted: Wanted; first: number }): Found | string {
  const { wanted, first, path, context } = call;
  const total = countLines(file.text);
  const last = wanted.end_line ?? first;
  if (file.unknown !== null) return `${file.unknown}. Call Read, then Edit again.`;
  if (first < 1 || first > total + 1 || last < first - 1 || last > total) {
    return `${path.display} has ${
      counted(total, "line")
    }: there are no lines ${first}-${last}. Call Read and send lines that are there.`;
  }
  const unseen = unseenLines(path, context.memory).find(([from, to]) => from <= last && to >= first);
  if (unseen !== undefined) {
    return `Line ${
      Math.max(unseen[0], first)
    } of ${path.display} was not shown yet. Call Read with that offset, then Edit again.`;
  }
  const starts = lineStarts(file.text);
  const start = starts[first - 1] ?? file.text.length;
  const end = starts[last] ?? file.text.length;
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  const plain = (withoutLineNumbers(wanted.new_string) ?? wanted.new_string).replaceAll("\r\n", "\n");
  const lines = plain.replaceAll("\n", ending);
  const text = lines === "" || lines.endsWith("\n") || (end === file.text.length && !file.text.endsWith("\n"))
    ? lines
    : lines + ending;
  return { replacements: [{ start, end, text }], differs: "none" };
}

/** The unseen lines after a change: those that were replaced the model knows, and those after move. */
export function unseenAfter(
  unseen: readonly LineRange[],
  { file, replacements }: { file: string; replacements: readonly Replacement[] },
): readonly LineRange[] {
  let rest: readonly LineRange[] = unseen;
  // From the last to the first, so that earlier lines stay where they are.
  for (const { start, end, text } of unseen.length === 0 ? [] : replacements.toReversed()) {
    const [first = 1, last = 1] = linesAt(file, [start, Math.max(start, end - 1)]);
    const grown = text.split("\n").length - file.slice(start, end).split("\n").length;
    rest = rest.flatMap(([from, to]): LineRange[] => [
      [from, Math.min(to, first - 1)],
      [Math.max(from, last + 1) + grown, to + grown],
    ]).filter(([from, to]) => from <= to);
  }
  return rest;
}

/** Returns line numbers for a message, the first of many. */
export function listLines(lines: number[]): string {
  const listed = lines.slice(0, LISTED_LINES).join(", ");
  return lines.length > LISTED_LINES ? `${listed}, … (${lines.length} in all)` : listed;
}

/** The line numbers that Read shows, and what stands after them. */
const NUMBERED = /^ *(\d{1,7})(?:\t|\u2192|: ?|\| ?)(.*)$/s;

/** Returns a text without the line numbers of Read, where every line has one and they follow each other; else null. */
function withoutLineNumbers(text: string): string | null {
  const parts = text.split("\n").map((line) => NUMBERED.exec(line));
  const first = Number(parts[0]?.[1]);
  if (!parts.every((part, index) => part !== null && Number(part[1]) === first + index)) return null;
  return parts.map((part) => part?.[2] ?? "").join("\n");
}

function withoutSomeNumbers(text: string): string {
  return text.replace(/^ *\d{1,7}[\t\u2192]/gm, "");
}

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/** A text that was escaped once too often. */
function unescaped(text: string): string {
  return text.replace(/\\([ntr"'\\])/g, (_, character) => ESCAPED[character] ?? character);
}

/**
 * How models write a text plainer than the file: tried one by one where old_string is not found as it is, each for
 * old_string and new_string alike; null where it does not apply.
 */
const PLAINER: readonly ((text: string) => string | null)[] = [
  withoutLineNumbers,
  withoutSomeNumbers,
  withoutInvisible,
  unescaped,
  decodeEntities,
];
