/** Edit: replaces a text of a file that occurs once, or every one. */
import { counted } from "../../platform/number.ts";
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { fileState, readWhole, refuseUnsaved, saveFile, unseenLines, WHOLE_FILE_LIMIT } from "../known_file.ts";
import { suggestPaths } from "../file_names.ts";
import { refuseLeftOut } from "../left_out.ts";
import { failure, isRefusal, refused, sourceOf, success } from "../result.ts";
import { decodeText, encodeText } from "../text.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import { linesAt } from "./nearest.ts";
import { applyReplacements, standsAlready } from "./match.ts";
import { editDeclaration, type EditInput } from "../declarations.ts";
import { findPlace, type Found, type KnownText, listLines, unseenAfter, type Wanted } from "./place.ts";
import { hunksOf, showChange } from "./report.ts";

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

function planIn(
  file: KnownText,
  call: { wanted: readonly Wanted[]; path: ResolvedPath; context: ToolContext },
): PlannedEdit | ToolResult {
  const { wanted, path, context } = call;
  const origin = { label: file.label, ...file.source };
  const found: Found[] = [];
  for (const [index, one] of wanted.entries()) {
    const place = findPlace(file, { wanted: one, path, context });
    if (typeof place !== "string") found.push(place);
    else {
      const which = wanted.length === 1 ? "" : `Edit ${index + 1} of ${wanted.length} failed; nothing was written. `;
      return failure(which + place, context, origin);
    }
  }
  const replacements = found.flatMap((one) => one.replacements).sort((one, other) => one.start - other.start);
  const open = replacements.filter((one) => !standsAlready(file.text, one));
  if (open.some(({ start }, index) => start < (open[index - 1]?.end ?? 0))) {
    return failure(
      "The edits overlap; nothing was written. Send them as one edit, or one call for each.",
      context,
      origin,
    );
  }
  const changed = applyReplacements(file.text, open);
  if (changed === file.text) {
    const place = listLines(linesAt(file.text, [replacements[0]?.start ?? 0]));
    return success(
      `${path.display} is already as new_string says (line ${place}); nothing was written. Go on.`,
      context,
      origin,
    );
  }
  const bytes = encodeText(changed, file);
  if (bytes === null) {
    const foreign = foreignCharacters(wanted.map((one) => one.new_string).join(""));
    return failure(
      `${path.display} is Latin-1 text, which has no ${foreign}. Replace them in new_string.`,
      context,
      origin,
    );
  }
  const differs = found.map((one) => one.differs).find((one) => one !== "none") ?? "none";
  return { path, file, replacements: open, differs, changed, bytes };
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

/** Returns some of the characters that Latin-1 does not have, quoted. */
function foreignCharacters(text: string): string {
  const foreign = [...new Set(text.match(/[^\0-\xff]/gu))].slice(0, 5);
  return foreign.map((character) => JSON.stringify(character)).join(" ");
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
