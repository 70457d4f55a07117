/** Tracks the files of a session: read, changed by others since, or written by the session. */
import { highestLabel, type Label } from "../boundary/policy/label.ts";
import type { ProtectionRule } from "../boundary/policy/protection_rule.ts";
import { textsOf } from "../boundary/scan/normalize.ts";
import type { Refusal, ResolvedPath } from "../boundary/workspace/workspace.ts";
import { sha256 } from "../platform/digest.ts";
import type { FileStatus } from "../platform/files.ts";
import { failure, isRefusal } from "./result.ts";
import { decodeText } from "./text.ts";
import type { LineRange, SessionMemory, ToolContext, ToolResult } from "./tool.ts";

/** Files up to this many bytes are read whole and known by their content; larger ones by size and time. */
export const WHOLE_FILE_LIMIT = 16 * 1024 * 1024;
/** Bytes of a file that are read to be kept: one more than a store takes. */
const KEPT_LIMIT = 64 * 1024 * 1024 + 1;

/** A file as it is now. `bytes` is null when it is larger than {@link WHOLE_FILE_LIMIT}. */
export interface CurrentFile {
  bytes: Uint8Array<ArrayBuffer> | null;
  status: FileStatus;
  label: Label;
  rule?: ProtectionRule | undefined;
}

/** Reads a file whole, or its beginning when it is too large for that (then `bytes` is null). */
export async function readWhole(path: ResolvedPath, context: ToolContext): Promise<CurrentFile | Refusal> {
  const read = await context.workspace.read(path, { limit: WHOLE_FILE_LIMIT });
  if (isRefusal(read)) return read;
  return { bytes: read.more ? null : read.bytes, status: read.status, label: read.label, rule: read.rule };
}

export const ALL_LINES: readonly LineRange[] = [[1, Infinity]];

/** Remembers the file as written in this session, but for the lines that stay `unseen`. */
async function remember(
  path: ResolvedPath,
  file: Omit<CurrentFile, "label">,
  { memory, unseen = [] }: { memory: SessionMemory; unseen?: readonly LineRange[] },
): Promise<void> {
  const { modified, size, inode } = file.status;
  // An empty digest: too large, known by the other facts alone.
  const digest = file.bytes === null ? "" : await sha256(file.bytes);
  memory.files.set(path.real, { modified, size, inode, digest, ...unseen.length === 0 ? {} : { unseen } });
}

/** Remembers lines of the file as shown; what was shown of it before stays so while the file is the same. */
export async function rememberShown(
  path: ResolvedPath,
  file: Omit<CurrentFile, "label">,
  { memory, shown }: { memory: SessionMemory; shown: readonly LineRange[] },
): Promise<void> {
  const before = await fileState(path, file, memory) === "known"
    ? memory.files.get(path.real)?.unseen ?? []
    : ALL_LINES;
  await remember(path, file, { memory, unseen: shown.reduce(withoutLines, before) });
}

function withoutLines(ranges: readonly LineRange[], [from, to]: LineRange): readonly LineRange[] {
  const parts = ranges.flatMap(([first, last]): LineRange[] => [
    [first, Math.min(last, from - 1)],
    [Math.max(first, to + 1), last],
  ]);
  return parts.filter(([first, last]) => first <= last && first < Infinity);
}

/** The lines of the file that the session has not seen. */
export function unseenLines(path: ResolvedPath, memory: SessionMemory): readonly LineRange[] {
  const known = memory.files.get(path.real);
  return known === undefined ? ALL_LINES : known.unseen ?? [];
}

/** Returns whether the session has seen the file as it is now. */
export async function fileState(
  path: ResolvedPath,
  file: Omit<CurrentFile, "label">,
  memory: SessionMemory,
): Promise<"unread" | "changed" | "known"> {
  const known = memory.files.get(path.real);
  if (known === undefined) return "unread";
  if (file.bytes !== null && known.digest !== "") {
    return await sha256(file.bytes) === known.digest ? "known" : "changed";
  }
  const { modified, size, inode } = file.status;
  return known.modified === modified && known.size === size && known.inode === inode ? "known" : "changed";
}

/**
 * Replaces or creates the file and remembers it, with the lines that the session still has not seen. The one way by
 * which tools change files.
 */
export async function saveFile(
  path: ResolvedPath,
  { bytes, unseen = [] }: { bytes: Uint8Array<ArrayBuffer>; unseen?: readonly LineRange[] },
  context: ToolContext,
): Promise<Refusal | null> {
  // A session that holds protected content could carry it into a file that anybody may read, now or later.
  if (context.sessionLabel !== "open" && !await context.workspace.lasts(path)) {
    for (const text of [...textsOf(bytes), path.display]) {
      const found = await context.checkWrite?.(text, path.display) ?? null;
      if (found !== null) return found;
    }
  }
  await keepPrevious(path, bytes, context);
  const status = await context.workspace.write(path, bytes);
  if (isRefusal(status)) return status;
  await remember(path, { bytes, status }, { memory: context.memory, unseen });
  return null;
}

/** Keeps the previous version. An existing file that cannot be read is not overwritten either. */
async function keepPrevious(path: ResolvedPath, after: Uint8Array<ArrayBuffer>, context: ToolContext): Promise<void> {
  const { workspace, sessionLabel } = context;
  if (context.keepPrevious === undefined) return;
  const read = await workspace.read(path, { limit: KEPT_LIMIT });
  if (isRefusal(read) && read.refused !== "absent") return;
  const before = isRefusal(read) ? null : read;
  const covered = workspace.ruleAt(path) === null ? "open" : "no-cloud";
  const known = highestLabel([before?.label ?? "open", covered, sessionLabel ?? "no-cloud"]);
  // The model may have seen a few lines of an open file: no label says what the others are copies of.
  const isOpen = known === "open" && await isFree([before?.bytes, after], path, context);
  const label = isOpen ? "open" : "no-cloud";
  const mode = before?.status.mode ?? null;
  await context.keepPrevious({ path: path.real, before: before?.bytes ?? null, after, mode, label });
}

/** Returns whether contents hold nothing of a protected file, as far as the leak scanner sees. */
async function isFree(
  contents: readonly (Uint8Array | undefined)[],
  { display }: ResolvedPath,
  { checkWrite }: ToolContext,
): Promise<boolean> {
  const text = contents.flatMap((bytes) => bytes === undefined ? [] : textsOf(bytes)).join("\n");
  return checkWrite === undefined || await checkWrite(text, display) === null;
}

/**
 * Returns what an editor has for a file and has not saved, with the label of the file; null where the file on the disk
 * is the same, or no editor can be asked.
 */
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

/** Refuses to change a file that a person is editing; null where nothing is unsaved. */
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
