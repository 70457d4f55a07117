/** Checks the name that a person gives a session. Loaded with the first. */
import type { ContentScanner } from "../agent/content_scanner.ts";
import { AgentcliError } from "../errors.ts";

/** Longest name, in characters. */
const LONGEST = 100;

/**
 * Returns the text in one line, as a name that may be stored. Throws `usage` if it is too long, and `policy_refused` if it
 * holds protected content.
 */
export async function titleOf(text: string, scanner: ContentScanner | undefined): Promise<string> {
  const title = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  if (title.length > LONGEST) {
    throw new AgentcliError("usage", `the name has ${title.length} characters; a session's has at most ${LONGEST}`);
  }
  if (await scanner?.checkWrite(title, "the name") != null) {
    throw new AgentcliError("policy_refused", "the name holds protected content, which is not stored", {
      hint: "choose another name",
    });
  }
  return title;
}
