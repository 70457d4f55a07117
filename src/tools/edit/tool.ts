/** Edit: replaces a text of a file that occurs once, or every one. */
import { counted } from "../../platform/number.ts";
import type { Label } from "../../boundary/policy/label.ts";
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { fileState, readWhole, refuseUnsaved, saveFile, unseenLines, WHOLE_FILE_LIMIT } from "../known_file.ts";
import { suggestPaths } from "../file_names.ts";
import { decodeEntities } from "../call_shapes.ts";
import { refuseLeftOut } from "../left_out.ts";
import { withoutInvisible } from "../signs.ts";
import { failure, isRefusal, refused, sourceOf, success } from "../result.ts";
import { countLines, type DecodedText, decodeText, encodeText, lineStart, lineStarts } from "../text.ts";
import type { LineRange, Tool, ToolContext, ToolResult } from "../tool.ts";
import { explainNoMatch, linesAt } from "./nearest.ts";
import { applyReplacements, matchEdit, type Replacement, standsAlready } from "./match.ts";
import { editDeclaration, type EditInput, type EditPart } from "../declarations.ts";
import { hunksOf, showChange } from "./report.ts";

/** Line numbers listed when a text occurs in several places. */
const LISTED_LINES = 10;

/** Characters of a text whose presence in a file is no coincidence. */
const TELLING = 8;

/** Failed edits of a file in a row after which lines may be named by their numbers. */
const OFFER_LINES_AT = 2;

export const editTool: Tool<EditInput> = {
  ...editDeclaration,
  async run(input, context) {
    const planned = await plan(input, context);
    return "content" in planned ? planned : await change(planned, { input, context });
  },
  async precheck(input, context) {
    const planned = await plan(input, context);
    return "content" in planned ? planned : null;
  },
};

interface PlannedEdit extends Found {
  path: ResolvedPath;
  file: KnownText;
  /** The whole text after it, and as bytes of the file's encoding. */
  changed: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Where a call changes the file, and how the text there differs from old_string. */
interface Found {
  replacements: Replacement[];
  differs: "none" | "signs" | "white space";
}

type Wanted = Pick<EditInput, "replace_all" | "start_line" | "end_line" | "expected_replacements"> & EditPart;

async function plan(input: EditInput, context: ToolContext): Promise<PlannedEdit | ToolResult> {
  context.signal.throwIfAborted();
  const wanted: readonly Wanted[] = input.edits ?? [{ old_string: "", new_string: "", ...input }];
  const problem = wanted.map((one) => problemOf(one, input)).find((one) => one !== null);
  if (problem !== undefined) return failure(problem, context);
  const path = await context.workspace.resolve(input.file_path);
  if (isRefusal(path)) return refused(path, context);
  const refusal = await context.workspace.writable(path);
  if (refusal !== null) return refused(refusal, context);
  const file = await openText(path, context);
  if ("content" in file) return file;
  const planned = planIn(file, { wanted, path, context });
  const { failedEdits } = context.memory;
  if ("content" in planned) {
    if (planned.isError) failedEdits.set(path.real, (failedEdits.get(path.real) ?? 0) + 1);
    return planned;
  }
  return await refuseLeftOut(wanted.map((one) => one.new_string).join("\n"), {
    before: file.text,
    path,
    argument: "new_string",
    way: "Send the lines themselves, or leave them out of old_string and new_string.",
  }, context) ?? planned;
}

/** Why a place cannot be meant, before the file is read; null when it can. */
function problemOf({ old_string, new_string, start_line }: Wanted, { edits }: EditInput): string | null {
  // In a list, no old text stands for the end of the file.
  if (old_string === "" && start_line === undefined && (edits === undefined || new_string === "")) {
    return "old_string is empty. Give the text to replace, or use Write for a whole file.";
  }
  return old_string !== "" && old_string === new_string && start_line === undefined
    ? "old_string and new_string are identical, so nothing would change. Set new_string to the new text."
    : null;
}

/** The text of a file and its label: results show parts of it. */
interface KnownText extends DecodedText {
  label: Label;
  source: ReturnType<typeof sourceOf>;
  /** Why only an exact and unique old_string may change it; null where the session knows the file as it is. */
  unknown: string | null;
}

async function openText(path: ResolvedPath, context: ToolContext): Promise<KnownText | ToolResult> {
  const current = await readWhole(path, context);
  if (isRefusal(current)) {
    if (current.refused !== "absent") return refused(current, context);
    return failure(
      `${path.display} does not exist. ${await suggestPaths(path, context)} To create it, call Write.`,
      context,
    );
  }
  const unsaved = await refuseUnsaved(path, current, context);
  if (unsaved !== null) return unsaved;
  const state = await fileState(path, current, context.memory);
  const unknown = state === "known"
    ? null
    : `${path.display} ${state === "unread" ? "was not read in this session" : "has changed since it was read"}`;
  // The result shows the lines around the change: nobody may get lines of an unreadable file that way.
  if (unknown !== null && (context.readDenied?.(path) ?? null) !== null) {
    return failure(`${unknown}, and a rule denies reading it. Go on without it, or tell the user.`, context);
  }
  if (current.bytes === null) {
    return failure(
      `${path.display} is larger than ${counted(WHOLE_FILE_LIMIT, "byte")}. Change it with a command, such as sed -i.`,
      context,
    );
  }
  const text = decodeText(current.bytes);
  if (text === null) {
    return failure(`${path.display} is not a text file. Edit changes text files only; use a command.`, context);
  }
  return { ...text, label: current.label, source: sourceOf(path, current.rule, context), unknown };
}

interface Call {
  path: ResolvedPath;
  context: ToolContext;
}

function planIn(file: KnownText, call: Call & { wanted: readonly Wanted[] }): PlannedEdit | ToolResult {
  const { wanted, path, context } = call;
  const told = { label: file.label, ...file.source };
  const found: Found[] = [];
  for (const [index, one] of wanted.entries()) {
    const place = findPlace(file, { wanted: one, path, context });
    if (typeof place !== "string") found.push(place);
    else {
      const which = wanted.length === 1 ? "" : `Edit ${index + 1} of ${wanted.length} failed; nothing was written. `;
      return failure(which + place, context, told);
    }
  }
  const replacements = found.flatMap((one) => one.replacements).sort((one, other) => one.start - other.start);
  const open = replacements.filter((one) => !standsAlready(file.text, one));
  if (open.some(({ start }, index) => start < (open[index - 1]?.end ?? 0))) {
    return failure(
      "The edits overlap; nothing was written. Send them as one edit, or one call for each.",
      context,
      told,
    );
  }
  const changed = applyReplacements(file.text, open);
  if (changed === file.text) {
    const place = listLines(linesAt(file.text, [replacements[0]?.start ?? 0]));
    return success(
      `${path.display} is already as new_string says (line ${place}); nothing was written. Go on.`,
      context,
      told,
    );
  }
  const bytes = encodeText(changed, file);
  if (bytes === null) {
    const foreign = foreignCharacters(wanted.map((one) => one.new_string).join(""));
    return failure(
      `${path.display} is Latin-1 text, which has no ${foreign}. Replace them in new_string.`,
      context,
      told,
    );
  }
  const differs = found.map((one) => one.differs).find((one) => one !== "none") ?? "none";
  return { path, file, replacements: open, differs, changed, bytes };
}

/** The place of one change, or why there is none, for the model. */
function findPlace(file: KnownText, call: Call & { wanted: Wanted }): Found | string {
  const { wanted, path, context } = call;
  const { old_string: old, start_line: line } = wanted;
  const byLines = line === undefined ? null : lineSpan(file, { ...call, first: line });
  if (old === "") {
    if (byLines !== null) return byLines;
    const text = (file.text === "" || file.text.endsWith("\n") ? "" : "\n") + wanted.new_string;
    return { replacements: [{ start: file.text.length, end: file.text.length, text }], differs: "none" };
  }
  const edit = { old, new: wanted.new_string };
  const first = matchEdit(file.text, { ...edit, all: wanted.replace_all === true });
  const isCounted = first.kind === "several" && first.positions.length === wanted.expected_replacements;
  const match = isCounted && first.differs === "none" ? matchEdit(file.text, { ...edit, all: true }) : first;
  if (
    match.kind === "found" && (file.unknown === null || (match.differs === "none" && match.replacements.length === 1))
  ) {
    return { ...match, replacements: match.replacements.map((one) => wholeLines(file.text, one)) };
  }
  if (file.unknown !== null) return `${file.unknown}. Call Read, then Edit again.`;
  if (match.kind === "several") {
    const at = wanted.after === undefined ? -1 : file.text.indexOf(wanted.after.trim());
    const start = at === -1 ? undefined : match.positions.find((one) => one > at);
    const text = wanted.new_string;
    if (start !== undefined && match.differs === "none") {
      return { replacements: [{ start, end: start + old.length, text }], differs: "none" };
    }
    const lines = listLines(linesAt(file.text, match.positions));
    return match.differs === "none"
      ? `old_string occurs ${match.positions.length} times in ${path.display}: lines ${lines}. Add surrounding lines to make it unique, or set replace_all.`
      : `old_string was not found exactly in ${path.display}; ${match.positions.length} places differ only in ${match.differs}: lines ${lines}. Copy one of them exactly.`;
  }
  for (const plainer of PLAINER) {
    const plain = plainer(old);
    const copied = plain === null || plain === old
      ? null
      : matchEdit(file.text, { old: plain, new: plainer(wanted.new_string) ?? wanted.new_string, all: false });
    if (copied?.kind === "found") return copied;
  }
  if (byLines !== null) return byLines;
  const near = explainNoMatch(file.text, old);
  const offered = near.lines !== null && (context.memory.failedEdits.get(path.real) ?? 0) + 1 >= OFFER_LINES_AT
    ? ` Or replace whole lines: send file_path, new_string, start_line ${near.lines[0]} and end_line ${near.lines[1]}.`
    : "";
  const done = wanted.new_string.trim().length < TELLING ? -1 : file.text.indexOf(wanted.new_string.trim());
  const made = done === -1
    ? ""
    : ` new_string stands there already, in line ${linesAt(file.text, [done])[0]}: if it is what you want, go on.`;
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

async function change(
  planned: PlannedEdit,
  { input, context }: { input: EditInput; context: ToolContext },
): Promise<ToolResult> {
  const { path, file, replacements, changed, bytes } = planned;
  const unseen = unseenAfter(unseenLines(path, context.memory), { file: file.text, replacements });
  const failed = await saveFile(path, { bytes, unseen }, context);
  if (failed !== null) return refused(failed, context);
  context.memory.failedEdits.delete(path.real);
  const parts = input.edits ?? [input];
  const { syntaxNote } = await import("../syntax.ts");
  const note = await syntaxNote(path, { before: file.text, after: changed }, context);
  return success(report(changed, planned) + note, context, {
    label: file.label,
    ...file.source,
    details: {
      filePath: path.path,
      oldString: parts.map((one) => one.old_string ?? "").join("\n"),
      newString: parts.map((one) => one.new_string ?? "").join("\n"),
      structuredPatch: hunksOf(file.text, replacements),
    },
    change: { name: path.display, before: file.text, after: changed },
  });
}

/** The unseen lines after a change: those that were replaced the model knows, and those after move. */
function unseenAfter(
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

/** Returns some of the characters that Latin-1 does not have, quoted. */
function foreignCharacters(text: string): string {
  const foreign = [...new Set(text.match(/[^\0-\xff]/gu))].slice(0, 5);
  return foreign.map((character) => JSON.stringify(character)).join(" ");
}

function listLines(lines: number[]): string {
  const listed = lines.slice(0, LISTED_LINES).join(", ");
  return lines.length > LISTED_LINES ? `${listed}, … (${lines.length} in all)` : listed;
}

/** Returns the sentence about a text that did not match old_string exactly. */
const HOW: Readonly<Record<Found["differs"], string>> = {
  none: "",
  signs: " (quotes, dashes or spaces differed; the file's were kept)",
  "white space": " (white space differed; the file's indentation was kept)",
};

function report(changed: string, { path, replacements, differs }: PlannedEdit): string {
  const [first] = replacements;
  const places = replacements.length === 1 ? "" : ` ${replacements.length} places`;
  const shown = first === undefined
    ? ""
    : `\n${showChange(changed, { start: first.start, length: first.text.length })}`;
  return `Edited ${path.display}${places}${HOW[differs]}.${shown}`;
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

/** How models write a text plainer than the file: tried one by one where old_string is not found as it is, each for old_string and new_string alike; null where it does not apply. */
const PLAINER: readonly ((text: string) => string | null)[] = [
  withoutLineNumbers,
  withoutSomeNumbers,
  withoutInvisible,
  unescaped,
  decodeEntities,
];
