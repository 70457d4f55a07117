/** What a person is told of a session before its first turn. */
import { baseBytes } from "../agent/chat_request.ts";
import type { Session } from "../agent/session.ts";
import { byteLength } from "../agent/tokens.ts";
import type { MarkerState } from "../boundary/policy/marker.ts";
import { hasAllPermissions } from "../platform/runtime.ts";
import type { StoredSession } from "../session/load.ts";

/** Which hosts the project opts in. */
export function endpointNotices({ localEndpoints, paths }: MarkerState): string[] {
  if (localEndpoints.length === 0) return [];
  return [`counts as local here: ${localEndpoints.join(", ")} (local-endpoints of ${paths[0]})`];
}

/** Entries of a project that a session looks at for its first line. */
const REPORT_LIMIT = 20_000;

/** What a remote session in a protected project does not see, one line. */
export async function hiddenNotice({ workspace, scanner }: Pick<Session, "workspace" | "scanner">): Promise<string[]> {
  const { protection, root, additional, local } = workspace;
  if (local || protection === undefined || !protection.any) return [];
  const { reportMarkers, summarizeReport } = await import("../boundary/policy/marker_report.ts");
  const report = await reportMarkers(protection, { roots: [root, ...additional], limit: REPORT_LIMIT });
  const notScanned = await scanner?.notScanned() ?? [];
  return [summarizeReport(report, { notScanned: notScanned.length })];
}

/** What the user must know of a session that was read back. */
export function storedNotices(stored: StoredSession): string[] {
  const withheld = stored.withheld === 0 ? [] : [
    `${stored.withheld} parts of the session were protected and not stored; placeholders stand for them`,
  ];
  return [...stored.problems, ...withheld];
}

/** That a file can be led elsewhere while it is written, where Deno does not hand paths to the system as they are. */
export function permissionNotices({ tools }: Pick<Session, "tools">): string[] {
  if (hasAllPermissions() || !tools.some(({ kind }) => kind === "write")) return [];
  return [
    "Deno's permissions are narrow: a file can land outside the project when its directory is replaced by a link " +
    "during the write; only -A rules that out",
  ];
}

/** What the first request holds before the user's words, by part, in bytes and roughly in tokens. */
export function breakdown(session: Session): string {
  const total = baseBytes(session);
  const tools = Math.max(total - byteLength(JSON.stringify(session.system.text)), 0);
  const parts = [...session.system.parts, { name: `${session.schemas.length} tools`, bytes: tools }];
  const listed = parts.map((part) => `${part.name} ${part.bytes}`).join(", ");
  return `prompt before your words: ${total} bytes, about ${Math.ceil(total / 4)} tokens (${listed})`;
}
