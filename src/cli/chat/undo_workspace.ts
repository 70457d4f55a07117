/** A workspace that keeps what was in a file before a tool writes it. */
import type { Label } from "../../boundary/label.ts";
import { highestLabel } from "../../boundary/label.ts";
import type { ResolvedPath, Workspace } from "../../boundary/workspace.ts";
import type { FileChange } from "../../session/undo.ts";

/** Most bytes of a file that are read to be kept. */
const CONTENT_LIMIT = 64 * 1024 * 1024 + 1;

/** Where changes go, and what the session holds. */
export interface UndoRecording {
  record(change: Omit<FileChange, "turn">): Promise<void>;
  /** Of the session: what a model writes after it read something protected is protected. */
  label(): Label;
}

/** The workspace; every write is recorded before it is made. */
export function recordingWorkspace(workspace: Workspace, recording: UndoRecording): Workspace {
  return {
    get root() {
      return workspace.root;
    },
    get additional() {
      return workspace.additional;
    },
    get cwd() {
      return workspace.cwd;
    },
    get ambientLabel() {
      return workspace.ambientLabel;
    },
    get local() {
      return workspace.local;
    },
    get protection() {
      return workspace.protection;
    },
    refresh: () => workspace.refresh(),
    ruleAt: (path) => workspace.ruleAt(path),
    resolve: (path) => workspace.resolve(path),
    read: (path, range) => workspace.read(path, range),
    status: (path) => workspace.status(path),
    list: (path) => workspace.list(path),
    writable: (path) => workspace.writable(path),
    async write(path, bytes) {
      await keep(path, { workspace, recording, after: bytes });
      return await workspace.write(path, bytes);
    },
  };
}

async function keep(
  path: ResolvedPath,
  given: { workspace: Workspace; recording: UndoRecording; after: Uint8Array<ArrayBuffer> },
): Promise<void> {
  const { workspace, recording, after } = given;
  const read = await workspace.read(path, { limit: CONTENT_LIMIT });
  // What cannot be read is not written either, but for what is not there yet.
  if ("refused" in read && read.refused !== "absent") return;
  const before = "refused" in read ? null : read;
  const covered = workspace.ruleAt(path) === null ? "open" : "no-cloud";
  const label = highestLabel([before?.label ?? "open", covered, recording.label()]);
  await recording.record({ path: path.path, before: before?.bytes ?? null, after, label });
}
