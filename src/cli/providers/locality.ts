/** Local or remote, as the boundary sees it from the project at hand. */
import { isLocal } from "../../boundary/policy/locality.ts";
import { findMarkers } from "../../boundary/policy/marker.ts";
import { findProjectRoot } from "../../boundary/policy/project.ts";
import type { Context } from "../verb.ts";

/** Tells whether a base URL is local: loopback, or opted in by the marker of the project that the directory is in. */
export async function localityOf({ io, globals }: Context): Promise<(baseUrl: string) => boolean> {
  const userHome = io.env(io.os === "windows" ? "USERPROFILE" : "HOME");
  const { localEndpoints } = await findMarkers(await findProjectRoot(globals.cwd, userHome));
  return (baseUrl) => isLocal(baseUrl, localEndpoints);
}
