/** The project context, read before a model is chosen: the home, the configuration, the project, its markers, and what to say of them. */
import { byteLength } from "../platform/text.ts";
import { MARKER_NAME } from "../boundary/policy/marker.ts";
import type { PathRules } from "../boundary/policy/path_rules.ts";
import { openProject, projectRootOf, realDirectory } from "../boundary/policy/project.ts";
import type { ProjectRecord } from "../boundary/policy/project_record.ts";
import { loadConfiguration } from "../config/load.ts";
import type { Configuration } from "../config/types.ts";
import { type Home, openHome, userHomeOf } from "../platform/home.ts";
import type { Io } from "../platform/io.ts";
import { join, resolve } from "../platform/path.ts";
import { baseBytes } from "../agent/chat_request.ts";
import type { Session } from "../agent/session.ts";
import { hasAllPermissions } from "../platform/runtime.ts";
import { readProjectRules } from "../config/project_rules.ts";
import type { StoredSession } from "../session/load.ts";

export interface ProjectContext {
  home: Home;
  userHome: string | undefined;
  configuration: Configuration;
  /** Permission rules that the person gave for this project. */
  projectRules: readonly string[];
  /** Real path. */
  projectRoot: string;
  /** Of the markers as they stand. */
  rules: PathRules;
  /** The values of `local-endpoints:` that have an effect. */
  localEndpoints: readonly string[];
  records: readonly ProjectRecord[];
  /** For stderr. */
  notices: string[];
  /** The project has protected paths. */
  isProtected: boolean;
}

/**
 * Reads configuration and markers; `addDir` are the directories of `--add-dir`. What is seen for the first time is recorded
 * in the home. Throws `config_invalid`, `home_unusable` and, for directories, `usage`.
 */
export async function findProjectContext(
  { io, cwd }: { io: Io; cwd: string },
  { addDir = [] }: { addDir?: readonly string[] } = {},
): Promise<ProjectContext> {
  const home = await openHome(io);
  const find = async () => {
    const root = projectRootOf(cwd, io);
    const additional = addDir.map((directory) => realDirectory(resolve(cwd, directory)));
    return await openProject(home, root, { additional, create: true });
  };
  const [configuration, { root, rules, localEndpoints, records, notices }] = await Promise.all([
    loadConfiguration(home),
    find(),
  ]);
  const isProtected = rules.markers.length > 0 || records.some(({ known }) => known);
  const projectRules = await readProjectRules(home, root);
  return {
    home,
    userHome: userHomeOf(io),
    configuration,
    projectRules,
    projectRoot: root,
    rules,
    localEndpoints,
    records,
    notices,
    isProtected,
  };
}

/** Which hosts the project opts in. */
export function endpointNotices(localEndpoints: readonly string[], root: string): string[] {
  if (localEndpoints.length === 0) return [];
  return [`counts as local here: ${localEndpoints.join(", ")} (local-endpoints of ${join(root, MARKER_NAME)})`];
}

/** Entries of a project that a session looks at for its first line. */
const REPORT_LIMIT = 20_000;

/** Returns a line on the paths that a remote session does not see. */
export async function hiddenNotice({ workspace, scanner }: Pick<Session, "workspace" | "scanner">): Promise<string[]> {
  const { protection, root, additional, local } = workspace;
  if (local || !protection.any) return [];
  const { reportMarkers, summarizeReport } = await import("./marker_report.ts");
  const report = await reportMarkers(protection, { roots: [root, ...additional], limit: REPORT_LIMIT });
  const notScanned = await scanner?.notScanned() ?? [];
  return [summarizeReport(report, { notScanned: notScanned.length })];
}

/** Returns notices about a session that was read back. */
export function storedNotices(stored: StoredSession): string[] {
  const redacted = stored.redacted === 0 ? [] : [
    `${stored.redacted} parts of the session were protected and not stored; placeholders stand for them`,
  ];
  return [...stored.problems, ...redacted];
}

/** That a file can be led elsewhere while it is written, where Deno does not hand paths to the system as they are. */
export function permissionNotices({ tools }: Pick<Session, "tools">): string[] {
  if (hasAllPermissions() || !tools.some(({ kind }) => kind === "write")) return [];
  return [
    "Deno's permissions are narrow: a file can land outside the project when its directory is replaced by a link " +
    "during the write; only -A rules that out",
  ];
}

/** The parts of the first request before the user's message, in bytes and roughly in tokens. */
export function breakdown(session: Session): string {
  const total = baseBytes(session);
  const tools = Math.max(total - byteLength(JSON.stringify(session.system.text)), 0);
  const parts = [...session.system.parts, { name: `${session.schemas.length} tools`, bytes: tools }];
  const listed = parts.map((part) => `${part.name} ${part.bytes}`).join(", ");
  return `prompt before your words: ${total} bytes, about ${Math.ceil(total / 4)} tokens (${listed})`;
}
