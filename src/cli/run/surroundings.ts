/** What a session finds before a model is chosen: the home, the configuration, the project and its markers. */
import { findMarkers, type MarkerState } from "../../boundary/policy/marker.ts";
import { findProjectRoot } from "../../boundary/policy/project.ts";
import { loadConfiguration } from "../../config/load.ts";
import type { Configuration } from "../../config/types.ts";
import { type Home, openHome } from "../../platform/home.ts";
import type { Context } from "../verb.ts";

/** Where a session runs. */
export interface Surroundings {
  home: Home;
  /** The user's own directory; undefined where the environment does not name it. */
  userHome: string | undefined;
  configuration: Configuration;
  /** Real path. */
  projectRoot: string;
  markers: MarkerState;
  /** The project has protected paths. */
  isProtected: boolean;
}

/** Reads configuration and markers. Throws `config_invalid`, `home_unusable` and, for the directory, `usage`. */
export async function findSurroundings({ io, globals }: Context): Promise<Surroundings> {
  const home = await openHome(io);
  const userHome = io.env(io.os === "windows" ? "USERPROFILE" : "HOME");
  const [configuration, { projectRoot, markers }] = await Promise.all([
    loadConfiguration(home),
    findProject(globals.cwd, userHome),
  ]);
  return { home, userHome, configuration, projectRoot, markers, isProtected: markers.paths.length > 0 };
}

async function findProject(
  cwd: string,
  userHome: string | undefined,
): Promise<Pick<Surroundings, "projectRoot" | "markers">> {
  const projectRoot = await findProjectRoot(cwd, userHome);
  return { projectRoot, markers: await findMarkers(projectRoot) };
}
