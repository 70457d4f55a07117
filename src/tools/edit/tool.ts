/** Edit: replaces a text of a file that occurs once, or every one. */
import type { Label } from "../../boundary/policy/label.ts";
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { fileState, readWhole, saveFile, unseenLines, WHOLE_FILE_LIMIT } from "../known_file.ts";
import { suggestPaths } from "../file_names.ts";
import { refuseLeftOut } from "../left_out.ts";
import { count, failure, isRefusal, refused, sourceOf, success } from "../result.ts";
import { cutText, type DecodedText, decodeText, encodeText } from "../text.ts";
import type { LineRange, Tool, ToolContext, ToolResult } from "../tool.ts";
import { explainNoMatch, linesAt } from "./nearest.ts";
import { applyReplacements, matchEdit, type Replacement, standsAlready } from "./match.ts";
import { editDeclaration, type EditInput } from "./declaration.ts";

/** Line numbers listed when a text stands in several places. */
const LISTED_LINES = 10;

/** Replaces text in files. */
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

/** A planned edit. */
interface PlannedEdit {
  path: ResolvedPath;
  file: KnownText;
  replacements: Replacement[];
  exact: boolean;
  /** The whole text after it, and as bytes of the file's encoding. */
  changed: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Plans the change, or returns the result of an impossible one. */
async function plan(input: EditInput, context: ToolContext): Promise<PlannedEdit | ToolResult> {
  context.signal.throwIfAborted();
  if (input.old_string === "") {
    return failure("old_string is empty. Give the text to replace, or use Write for a whole file.", context);
  }
  if (input.old_string === input.new_string) {
    return failure(
      "old_string and new_string are identical, so nothing would change. Set new_string to the new text.",
      context,
    );
  }
  const path = await context.workspace.resolve(input.file_path);
  if (isRefusal(path)) return refused(path, context);
  const refusal = await context.workspace.writable(path);
  if (refusal !== null) return refused(refusal, context);
  const file = await openText(path, context);
  if ("content" in file) return file;
  const planned = planIn(file, { input, path, context });
  if ("content" in planned) return planned;
  return await refuseLeftOut(input.new_string, {
    before: file.text,
    path,
    argument: "new_string",
    way: "Send the lines themselves, or leave them out of old_string and new_string.",
  }, context) ?? planned;
}

/** The text of a file and its label: results show parts of it. */
interface KnownText extends DecodedText {
  label: Label;
  source: ReturnType<typeof sourceOf>;
}

/** The text of a file that the session knows as it is; else the result that says what to do. */
async function openText(path: ResolvedPath, context: ToolContext): Promise<KnownText | ToolResult> {
  const current = await readWhole(path, context);
  if (isRefusal(current)) {
    if (current.refused !== "absent") return refused(current, context);
    return failure(
      `${path.display} does not exist. ${await suggestPaths(path, context)} To create it, call Write.`,
      context,
    );
  }
  const state = await fileState(path, current, context.memory);
  if (state === "unread") {
    return failure(`${path.display} was not read in this session. Call Read, then Edit again.`, context);
  }
  if (state === "changed") {
    return failure(`${path.display} has changed since it was read. Call Read, then Edit again.`, context);
  }
  if (current.bytes === null) {
    return failure(
      `${path.display} is larger than ${count(WHOLE_FILE_LIMIT, "byte")}. Change it with a command, such as sed -i.`,
      context,
    );
  }
  const text = decodeText(current.bytes);
  if (text === null) {
    return failure(`${path.display} is not a text file. Edit changes text files only; use a command.`, context);
  }
  return { ...text, label: current.label, source: sourceOf(path, current.rule, context) };
}

function planIn(
  file: KnownText,
  call: { input: EditInput; path: ResolvedPath; context: ToolContext },
): PlannedEdit | ToolResult {
  const { input, path, context } = call;
  const match = matchEdit(file.text, {
    old: input.old_string,
    new: input.new_string,
    all: input.replace_all === true,
  });
  if (match.kind === "none") {
    return failure(
      `old_string was not found in ${path.display}.${explainNoMatch(file.text, input.old_string)}`,
      context,
      { label: file.label, ...file.source },
    );
  }
  if (match.kind === "several") {
    const lines = listLines(linesAt(file.text, match.positions));
    return failure(
      match.exact
        ? `old_string occurs ${match.positions.length} times in ${path.display}: lines ${lines}. Add surrounding lines to make it unique, or set replace_all.`
        : `old_string was not found exactly in ${path.display}; ${match.positions.length} places differ only in white space: lines ${lines}. Copy one of them exactly.`,
      context,
      { label: file.label, ...file.source },
    );
  }
  const changed = applyReplacements(file.text, match.replacements);
  if (changed === file.text || match.replacements.every((one) => standsAlready(file.text, one))) {
    const [first] = match.replacements;
    const place = listLines(linesAt(file.text, [first?.start ?? 0]));
    return success(
      `${path.display} is already as new_string says (line ${place}); nothing was written. Go on.`,
      context,
      { label: file.label, ...file.source },
    );
  }
  const bytes = encodeText(changed, file);
  if (bytes === null) {
    return failure(
      `${path.display} is Latin-1 text, which has no ${
        foreignCharacters(input.new_string)
      }. Replace them in new_string.`,
      context,
      { label: file.label, ...file.source },
    );
  }
  return { path, file, replacements: match.replacements, exact: match.exact, changed, bytes };
}

async function change(
  planned: PlannedEdit,
  { input, context }: { input: EditInput; context: ToolContext },
): Promise<ToolResult> {
  const { path, file, replacements, exact, changed, bytes } = planned;
  const unseen = unseenAfter(unseenLines(path, context.memory), { file: file.text, replacements });
  const failed = await saveFile(path, { bytes, unseen }, context);
  if (failed !== null) return refused(failed, context);
  return success(report(changed, { path, replacements, exact }), context, {
    label: file.label,
    ...file.source,
    details: {
      filePath: path.path,
      oldString: input.old_string,
      newString: input.new_string,
      structuredPatch: hunksOf(file.text, replacements),
    },
  });
}

/** The unseen lines after a change: those that were replaced the model knows, and those behind move. */
function unseenAfter(
  unseen: readonly LineRange[],
  { file, replacements }: { file: string; replacements: readonly Replacement[] },
): readonly LineRange[] {
  let rest: readonly LineRange[] = unseen;
  // From the last to the first, so that the lines before stay what they are.
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

function report(
  changed: string,
  edit: { path: ResolvedPath; replacements: Replacement[]; exact: boolean },
): string {
  const [first] = edit.replacements;
  const places = edit.replacements.length === 1 ? "" : ` ${edit.replacements.length} places`;
  const how = edit.exact ? "" : " (white space differed; the file's indentation was kept)";
  const shown = first === undefined
    ? ""
    : `\n${showChange(changed, { start: first.start, length: first.text.length })}`;
  return `Edited ${edit.path.display}${places}${how}.${shown}`;
}

/** Lines around a change that are shown. */
const AROUND = 3;

/** Lines of a change that the model is shown: it knows what it wrote. */
const SHOWN_LINES = 12;

/** Changes that clients get in detail. */
const HUNK_LIMIT = 20;

/** One changed place, in the form of unified diffs: lines begin with a space, `-` or `+`. */
interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

/** A text as lines; a final line end begins no further line. */
function linesOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** A changed place of the new text as numbered lines, with what is around it. */
function showChange(changed: string, place: { start: number; length: number }): string {
  const { start, length } = place;
  const lines = linesOf(changed);
  const [first = 1, last = 1] = linesAt(changed, [start, start + Math.max(0, length - 1)]);
  const from = Math.max(1, first - AROUND);
  const to = Math.min(lines.length, last + AROUND, from + SHOWN_LINES - 1);
  const rows: string[] = [];
  for (let line = from; line <= to; line++) rows.push(`${line}\t${cutText(lines[line - 1] ?? "", 200)}`);
  return rows.join("\n");
}

/** Replacements whose lines touch or lie near each other, together. */
function grouped(
  file: string,
  replacements: readonly Replacement[],
): { first: number; last: number; members: Replacement[] }[] {
  const groups: { first: number; last: number; members: Replacement[] }[] = [];
  const lines = linesAt(file, replacements.flatMap(({ start, end }) => [start, Math.max(start, end - 1)]));
  for (const [index, replacement] of replacements.entries()) {
    const first = lines[index * 2] ?? 1;
    const last = lines[index * 2 + 1] ?? first;
    const open = groups.at(-1);
    if (open !== undefined && first <= open.last + 2 * AROUND) {
      open.last = last;
      open.members.push(replacement);
    } else groups.push({ first, last, members: [replacement] });
  }
  return groups;
}

/** The changes as hunks, at most twenty. */
export function hunksOf(file: string, replacements: readonly Replacement[]): Hunk[] {
  const lines = linesOf(file);
  const starts = [0];
  for (let at = file.indexOf("\n"); at !== -1; at = file.indexOf("\n", at + 1)) starts.push(at + 1);
  let shift = 0;
  return grouped(file, replacements).slice(0, HUNK_LIMIT).map(({ first, last, members }) => {
    // A replacement that takes the last line end may join the next line: it is part of the change.
    const end = Math.min(lines.length, last + 1);
    const begin = starts[first - 1] ?? 0;
    const stop = starts[end] ?? file.length;
    let text = "";
    let from = begin;
    for (const member of members) {
      text += file.slice(from, member.start) + member.text;
      from = member.end;
    }
    const before = lines.slice(first - 1, end);
    const after = linesOf(text + file.slice(from, stop));
    while (before.length > 0 && after.length > 0 && before.at(-1) === after.at(-1)) {
      before.pop();
      after.pop();
    }
    const above = lines.slice(Math.max(0, first - 1 - AROUND), first - 1);
    const tail = first - 1 + before.length;
    const below = lines.slice(tail, tail + AROUND);
    const hunk = {
      oldStart: first - above.length,
      oldLines: above.length + before.length + below.length,
      newStart: first - above.length + shift,
      newLines: above.length + after.length + below.length,
      lines: [
        ...above.map((line) => ` ${line}`),
        ...before.map((line) => `-${line}`),
        ...after.map((line) => `+${line}`),
        ...below.map((line) => ` ${line}`),
      ],
    };
    shift += after.length - before.length;
    return hunk;
  });
}
