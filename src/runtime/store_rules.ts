/** Stores the rules that a person gives for always, from whichever surface. Loaded with the first. */
import type { Session } from "../agent/session.ts";
import { addProjectRules } from "../config/project_file.ts";
import { asAgentcliError } from "../errors.ts";
import { openHome } from "../platform/home.ts";
import type { Host } from "./host.ts";

/** Stores rules for the project of a session; returns whether they are stored, and warns if not. */
export async function storeRules(
  rules: readonly string[],
  { session: { workspace, scanner }, host }: { session: Session; host: Host },
): Promise<boolean> {
  try {
    await addProjectRules(await openHome(host.io), {
      root: workspace.root,
      rules,
      holdsProtected: async (text) => await scanner?.checkWrite(text, "it") != null,
    });
    return true;
  } catch (error) {
    await host.warn(`the rule was not written: ${asAgentcliError(error).message}`);
    return false;
  }
}
