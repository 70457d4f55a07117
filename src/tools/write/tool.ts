/** Write: a whole file, new or replaced. What the session has not seen as it is now is not replaced. */
import { counted } from "../../platform/number.ts";
import { sameBytes } from "../../platform/text.ts";
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { type CurrentFile, fileState, readWhole, refuseUnsaved, saveFile, unseenLines } from "../known_file.ts";
import { refuseLeftOut } from "../left_out.ts";
import { failure, isRefusal, refused, success } from "../result.ts";
import { countLines, decodeText } from "../text.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import { writeDeclaration, type WriteInput } from "../declarations.ts";

export const writeTool: Tool<WriteInput> = {
  ...writeDeclaration,
  async run(input, context) {
    const planned = await plan(input, context);
    if ("content" in planned) return planned;
    const { path, bytes, existing } = planned;
    const failed = await saveFile(path, { bytes }, context);
    if (failed !== null) return refused(failed, context);
    const size = `${counted(countLines(input.content), "line")}, ${counted(bytes.length, "byte")}`;
    const before = existing === null ? "" : `; it had ${sizeOf(existing)}`;
    const { syntaxNote } = await import("../syntax.ts");
    const note = await syntaxNote(path, { before: textOf(existing), after: input.content }, context);
    return success(`${existing === null ? "Created" : "Updated"} ${path.display} (${size}${before}).${note}`, context, {
      // Only a reader of a protected file may know how many lines it had.
      label: note !== "" && context.workspace.ruleAt(path) !== null ? "no-cloud" : existing?.label ?? "open",
      details: { type: existing === null ? "create" : "update", filePath: path.path },
      change: { name: path.display, before: existing === null ? null : textOf(existing), after: input.content },
    });
  },
  async precheck(input, context) {
    const planned = await plan(input, context);
    return "content" in planned ? planned : null;
  },
};

interface PlannedWrite {
  path: ResolvedPath;
  bytes: Uint8Array<ArrayBuffer>;
  /** The file that is replaced. */
  existing: CurrentFile | null;
}

async function plan(input: WriteInput, context: ToolContext): Promise<PlannedWrite | ToolResult> {
  context.signal.throwIfAborted();
  const path = await context.workspace.resolve(input.file_path);
  if (isRefusal(path)) return refused(path, context);
  const refusal = await context.workspace.writable(path);
  if (refusal !== null) return refused(refusal, context);
  const bytes = new TextEncoder().encode(input.content);
  const existing = await context.workspace.status(path) === null ? null : await readWhole(path, context);
  if (isRefusal(existing)) return refused(existing, context);
  const problem = existing === null
    ? null
    : await refuseUnsaved(path, existing, context) ?? await precheck({ path, bytes, existing }, context);
  return problem ?? await leftOut(input.content, { path, existing }, context) ?? { path, bytes, existing };
}

function textOf(existing: CurrentFile | null): string {
  return existing?.bytes == null ? "" : decodeText(existing.bytes)?.text ?? "";
}

async function leftOut(
  content: string,
  { path, existing }: Pick<PlannedWrite, "path" | "existing">,
  context: ToolContext,
): Promise<ToolResult | null> {
  const before = textOf(existing);
  const { warned } = context.memory;
  const key = `${path.real}\0`;
  if (existing !== null && content.trim() === "" && before.trim() !== "" && !warned.has(key)) {
    warned.add(key);
    return failure(
      `content is empty, and ${path.display} has ${
        sizeOf(existing)
      }: nothing was written. Send its whole content. If ` +
        "it is to be empty, send the same call again.",
      context,
      { label: existing.label },
    );
  }
  const way = existing === null
    ? "Call Write with the whole content of the file."
    : "To change a part of the file call Edit; to replace it call Write with its whole content.";
  return await refuseLeftOut(content, { before, path, argument: "content", way }, context);
}

/** The result when an existing file need not or may not be replaced; null to go on. */
async function precheck(
  { path, bytes, existing }: PlannedWrite & { existing: CurrentFile },
  context: ToolContext,
): Promise<ToolResult | null> {
  const { display } = path;
  // An empty file has nothing to lose.
  if (existing.status.size === 0) return null;
  const fail = (content: string) => failure(content, context, { label: existing.label });
  const state = await fileState(path, existing, context.memory);
  if (state === "unread") {
    return fail(
      `${display} exists (${sizeOf(existing)}) and was not read in this session. ` +
        "To change a part of it call Edit; to replace all of it call Read first; or write to another path.",
    );
  }
  if (state === "changed") return fail(`${display} has changed since it was read. Call Read, then Write again.`);
  if (existing.bytes !== null && sameBytes(existing.bytes, bytes)) {
    return success(`${display} already has exactly this content; nothing was written.`, context, {
      label: existing.label,
    });
  }
  const [unseen] = unseenLines(path, context.memory);
  if (unseen === undefined) return null;
  const [line, last] = unseen;
  const way = isText(existing) && line !== last
    ? `to replace all of it call Read with offset ${line} first`
    : "to replace all of it remove it with a command first, or write to another path";
  return fail(
    `${display} has ${sizeOf(existing)}, and you have not seen all of it${
      isText(existing) ? ` (line ${line})` : ""
    }: ` +
      `Write would replace it whole. To change a part call Edit; ${way}.`,
  );
}

function isText({ bytes }: CurrentFile): boolean {
  return bytes === null || decodeText(bytes) !== null;
}

/** The lines of a file, or its bytes where it is not text. */
function sizeOf({ bytes, status }: CurrentFile): string {
  const text = bytes === null ? null : decodeText(bytes)?.text ?? null;
  return text === null ? counted(status.size, "byte") : counted(countLines(text), "line");
}
