/** Write: a whole file, new or replaced. What the session has not seen as it is now is not replaced. */
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { fileState, readWhole, saveFile } from "../known_file.ts";
import { count, failure, isRefusal, refused, success } from "../result.ts";
import { countLines } from "../text.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import { writeDeclaration, type WriteInput } from "./declaration.ts";

/** Creates and replaces files. */
export const writeTool: Tool<WriteInput> = {
  ...writeDeclaration,
  async run(input, context) {
    const planned = await plan(input, context);
    if ("content" in planned) return planned;
    const { path, bytes, existing } = planned;
    const failed = await saveFile(path, bytes, context);
    if (failed !== null) return refused(failed, context);
    const size = `${count(countLines(input.content), "line")}, ${count(bytes.length, "byte")}`;
    return success(`${existing ? "Updated" : "Created"} ${path.display} (${size}).`, context, {
      details: { type: existing ? "update" : "create", filePath: path.path },
    });
  },
  async precheck(input, context) {
    const planned = await plan(input, context);
    return "content" in planned ? planned : null;
  },
};

/** Plans the write, or returns the result of an impossible or needless one. */
async function plan(
  input: WriteInput,
  context: ToolContext,
): Promise<{ path: ResolvedPath; bytes: Uint8Array<ArrayBuffer>; existing: boolean } | ToolResult> {
  context.signal.throwIfAborted();
  const path = await context.workspace.resolve(input.file_path);
  if (isRefusal(path)) return refused(path, context);
  const refusal = await context.workspace.writable(path);
  if (refusal !== null) return refused(refusal, context);
  const bytes = new TextEncoder().encode(input.content);
  const existing = await context.workspace.status(path) !== null;
  const problem = existing ? await precheck(path, { bytes, context }) : null;
  return problem ?? { path, bytes, existing };
}

/** The result when an existing file need not or may not be replaced; null to go on. */
async function precheck(
  path: ResolvedPath,
  options: { bytes: Uint8Array; context: ToolContext },
): Promise<ToolResult | null> {
  const { bytes, context } = options;
  const current = await readWhole(path, context);
  if (isRefusal(current)) return refused(current, context);
  switch (await fileState(path, current, context.memory)) {
    case "unread":
      return failure(
        `${path.display} exists and was not read in this session. Call Read, then Write again, or write to another path.`,
        context,
      );
    case "changed":
      return failure(`${path.display} has changed since it was read. Call Read, then Write again.`, context);
    case "known":
      return current.bytes !== null && sameBytes(current.bytes, bytes)
        ? success(`${path.display} already has exactly this content; nothing was written.`, context, {
          label: current.label,
        })
        : null;
  }
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
