/** Checks the name that a person gives a session. Loaded with the first. */
import type { Session } from "../agent/session.ts";
import { scannerOfOthers } from "../boundary/scan/leak_scanner.ts";
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { protectedProjects } from "./make_session.ts";

/** Longest name, in characters. */
const LONGEST = 100;

/**
 * Returns the text in one line, as a name that may be stored. Throws `usage` if it is too long, and `policy_refused` if it
 * holds what any project protects.
 */
export async function titleOf(
  text: string,
  { home, scanner }: { home: Home; scanner?: Session["scanner"] },
): Promise<string> {
  const title = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  if (title.length > LONGEST) {
    throw new AgentcliError("usage", `the name has ${title.length} characters; a session's has at most ${LONGEST}`);
  }
  const refusal = await scanner?.checkWrite(title, { display: "the name", others: false }) ?? null;
  const everywhere = scannerOfOthers(protectedProjects(home).all, []);
  if (refusal !== null || await everywhere.check([title]) !== null) {
    throw new AgentcliError("policy_refused", "the name holds protected content, which is not stored", {
      hint: "choose another name",
    });
  }
  return title;
}
