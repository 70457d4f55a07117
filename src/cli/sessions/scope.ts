/** Which sessions a verb means. */
import { findProjectRoot } from "../../boundary/policy/project.ts";
import { type Home, openHome } from "../../platform/home.ts";
import { findSession, type SessionScope, type SessionSummary } from "../../session/list.ts";
import type { Context } from "../verb.ts";

/** The home, and the project of the working directory, or all of them. With `all` the directory need not exist. */
export async function openScope(
  { io, globals }: Context,
  options: { all: boolean },
): Promise<{ home: Home; scope: SessionScope }> {
  const home = await openHome(io);
  if (options.all) return { home, scope: "all" };
  const userHome = io.env(io.os === "windows" ? "USERPROFILE" : "HOME");
  return { home, scope: { projectRoot: await findProjectRoot(globals.cwd, userHome) } };
}

/** The one session that a verb was given. Throws `unknown_session`. */
export async function openNamed(
  context: Context,
  given: { id: string; all: boolean },
): Promise<{ home: Home; session: SessionSummary }> {
  const { home, scope } = await openScope(context, given);
  return { home, session: await findSession(home, given.id, scope) };
}
