/** Texts that an editor has for a file and has not saved. They have the label of the file. */
import type { ResolvedPath } from "../boundary/workspace/workspace.ts";
import type { CurrentFile } from "./known_file.ts";
import { failure } from "./result.ts";
import { decodeText } from "./text.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

/** Returns the unsaved text; null where the file on the disk is what the editor has, or nobody can be asked. */
export async function unsavedText(
  path: ResolvedPath,
  { bytes, status }: CurrentFile,
  { unsaved, signal }: ToolContext,
): Promise<string | null> {
  const saved = unsaved === undefined || bytes === null ? undefined : decodeText(bytes)?.text;
  if (unsaved === undefined || saved === undefined) return null;
  const text = await unsaved(path.path, { modified: status.modified, signal });
  const lines = (content: string) => content.replaceAll("\r\n", "\n");
  return text === null || lines(text) === lines(saved) ? null : text;
}

/** Refuses to change a file under the hands of a person; null where nothing is unsaved. */
export async function refuseUnsaved(
  path: ResolvedPath,
  file: CurrentFile,
  context: ToolContext,
): Promise<ToolResult | null> {
  if (await unsavedText(path, file, context) === null) return null;
  return failure(
    `${path.display} has unsaved changes in the editor; nothing was written. Ask the user to save or revert it first.`,
    context,
    { label: file.label },
  );
}
