/** Local or remote, as the boundary sees it from the project at hand. */
import { isLocal } from "../../boundary/policy/locality.ts";
import { openScene } from "../secrets/scene.ts";
import type { Context } from "../verb.ts";

/** Tells whether a base URL is local: loopback, or opted in by the marker of the project that the directory is in. */
export async function localityOf(context: Context): Promise<(baseUrl: string) => boolean> {
  const { markers } = await openScene(context);
  return (baseUrl) => isLocal(baseUrl, markers.localEndpoints);
}
