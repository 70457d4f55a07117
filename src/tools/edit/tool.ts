/** Edit: replaces a part of a file and leaves every other byte as it was. */
import type { Label } from "../../boundary/policy/label.ts";
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { knowledgeOf, readWhole, saveFile, WHOLE_FILE_LIMIT } from "../known_file.ts";
import { suggestPaths } from "../near_names.ts";
import { count, failure, isRefusal, refused, sourceOf, success } from "../result.ts";
import { type DecodedText, decodeText, encodeText } from "../text.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import { linesAt } from "./find.ts";
import { applyReplacements, matchEdit, type Replacement } from "./match.ts";
import { explainNoMatch } from "./nearest.ts";
import { hunksOf, showChange } from "./patch.ts";
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
  async objection(input, context) {
    const planned = await plan(input, context);
    return "content" in planned ? planned : null;
  },
};

/** What an edit would come to. */
interface PlannedEdit {
  path: ResolvedPath;
  file: KnownText;
  replacements: Replacement[];
  exact: boolean;
  /** The whole text after it, and as bytes of the file's encoding. */
  changed: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** What would be changed, or the result when nothing can be. */
async function plan(input: EditInput, context: ToolContext): Promise<PlannedEdit | ToolResult> {
  context.signal.throwIfAborted();
  if (input.old_string === "") {
    return failure("old_string is empty. Give the text to replace, or use Write for a whole file.", context);
  }
  if (input.old_string === input.new_string) {
    return failure("old_string and new_string are the same; nothing to do.", context);
  }
  const path = await context.workspace.resolve(input.file_path);
  if (isRefusal(path)) return refused(path, context);
  const refusal = await context.workspace.writable(path);
  if (refusal !== null) return refused(refusal, context);
  const file = await openText(path, context);
  return "content" in file ? file : planIn(file, { input, path, context });
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
      `${path.display} does not exist. ${await suggestPaths(path, context)} Write creates files.`,
      context,
    );
  }
  const knowledge = await knowledgeOf(path, current, context.memory);
  if (knowledge === "unread") return failure(`${path.display} was not read in this session. Read it first.`, context);
  if (knowledge === "changed") {
    return failure(`${path.display} has changed since it was read. Read it again, then edit.`, context);
  }
  if (current.bytes === null) {
    return failure(
      `${path.display} is larger than ${count(WHOLE_FILE_LIMIT, "byte")}; use a command to edit it.`,
      context,
    );
  }
  const text = decodeText(current.bytes);
  if (text === null) return failure(`${path.display} is no text file; Edit changes text only.`, context);
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
        ? `old_string stands ${match.positions.length} times in ${path.display}: lines ${lines}. Add lines around it to mean one, or set replace_all.`
        : `old_string was not found exactly in ${path.display}; ${match.positions.length} places differ only in white space: lines ${lines}. Copy one of them exactly.`,
      context,
      { label: file.label, ...file.source },
    );
  }
  const changed = applyReplacements(file.text, match.replacements);
  if (changed === file.text) {
    return failure(`${path.display} already is as new_string says; nothing was written.`, context, {
      label: file.label,
      ...file.source,
    });
  }
  const bytes = encodeText(changed, file);
  if (bytes === null) {
    return failure(
      `${path.display} is Latin-1 text and cannot hold some characters of new_string. Use others.`,
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
  const failed = await saveFile(path, bytes, context);
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
