/** What a session finds before a model is chosen: the home, the configuration, the project and its markers. */
import type { MarkerState } from "../boundary/policy/marker.ts";
import { findProjectRoot, openProject, realDirectory } from "../boundary/policy/project.ts";
import type { ProjectRecord } from "../boundary/policy/project_record.ts";
import { loadConfiguration } from "../config/load.ts";
import type { Configuration } from "../config/types.ts";
import { type Home, openHome } from "../platform/home.ts";
import type { Io } from "../platform/io.ts";
import { resolve } from "../platform/path.ts";

/** Where a session runs. */
export interface ProjectContext {
  home: Home;
  /** The user's own directory; undefined where the environment does not name it. */
  userHome: string | undefined;
  configuration: Configuration;
  /** Real path. */
  projectRoot: string;
  markers: MarkerState;
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
  const userHome = io.env(io.os === "windows" ? "USERPROFILE" : "HOME");
  const find = async () => {
    const root = await findProjectRoot(cwd, userHome);
    const additional = await Promise.all(addDir.map((directory) => realDirectory(resolve(cwd, directory))));
    return await openProject(home, root, { additional, create: true });
  };
  const [configuration, { root, markers, records, notices }] = await Promise.all([loadConfiguration(home), find()]);
  const isProtected = markers.paths.length > 0 || records.some(({ known }) => known);
  return { home, userHome, configuration, projectRoot: root, markers, records, notices, isProtected };
}
