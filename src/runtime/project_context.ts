/** The project context, read before a model is chosen: the home, the configuration, the project and its markers. */
import { MARKER_NAME } from "../boundary/policy/marker.ts";
import { linksTo, openProject, projectRootOf, realDirectory } from "../boundary/policy/project.ts";
import type { ProjectRecord } from "../boundary/policy/project_record.ts";
import { gitUserOf } from "../boundary/sandbox/sandbox.ts";
import { loadConfiguration } from "../config/load.ts";
import type { Configuration } from "../config/types.ts";
import { type Home, openHome } from "../platform/home.ts";
import type { Io } from "../platform/io.ts";
import { join, resolve } from "../platform/path.ts";
import { readProjectRules } from "../config/project_file.ts";
import type { GitUser } from "../shell/git.ts";

export interface ProjectContext {
  home: Home;
  user: GitUser;
  configuration: Configuration;
  /** Permission rules that the user keeps for this project. */
  projectRules: readonly string[];
  /** Real path. */
  projectRoot: string;
  /** The values of `local-endpoints:` that have an effect. */
  localEndpoints: readonly string[];
  records: readonly ProjectRecord[];
  /** For the user, about configuration and markers. */
  notices: string[];
  /** Whether the project has protected paths. */
  isProtected: boolean;
}

/**
 * Reads configuration and markers; `addDir` are the directories of `--add-dir`. What is seen for the first time is
 * recorded in the home. Throws `config_invalid`, `home_unusable` and, for directories, `usage`.
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
  const [configuration, { root, rules, localEndpoints, records, notices: found }] = await Promise.all([
    loadConfiguration(home),
    find(),
  ]);
  for (const link of linksTo([cwd, ...addDir.map((one) => resolve(cwd, one))], io)) rules.rule(link);
  const { warnings, damaged } = rules;
  const notices = [
    ...configuration.warnings,
    ...found,
    ...localEndpoints.length === 0
      ? []
      : [`counts as local here: ${localEndpoints.join(", ")} (local-endpoints of ${join(root, MARKER_NAME)})`],
    ...warnings,
    ...damaged === null ? [] : [`${damaged.marker}: ${damaged.damaged}; everything counts as protected`],
  ];
  const isProtected = rules.markers.length > 0 || records.some(({ known }) => known);
  const projectRules = await readProjectRules(home, root);
  return {
    home,
    user: gitUserOf(io),
    configuration,
    projectRules,
    projectRoot: root,
    localEndpoints,
    records,
    notices,
    isProtected,
  };
}
