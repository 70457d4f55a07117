/** Where the commands of a project are read from: the session's workspace, under its rules. */
import type { ResolvedPath, Workspace } from "../../boundary/workspace/workspace.ts";
import { readDenials } from "../../tools/permission.ts";
import type { OpenSession } from "../../runtime/open_session.ts";

/** A place to read from, and by which deny rule a file may not be read. */
export interface CommandSource {
  workspace: Workspace;
  readDenied(path: ResolvedPath): string | null;
}

/** The source of a session; null before it is prepared. */
export function commandSource(prepared: OpenSession): CommandSource;
export function commandSource(prepared: OpenSession | null): CommandSource | null;
export function commandSource(prepared: OpenSession | null): CommandSource | null {
  if (prepared === null) return null;
  const { workspace, policy } = prepared.session;
  return { workspace, readDenied: readDenials(workspace, policy.deny) ?? (() => null) };
}
