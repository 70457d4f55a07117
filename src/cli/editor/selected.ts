/** Artifacts by the words of the command line: a name, or kind:name. */
import { didYouMean } from "../../config/suggest.ts";
import { artifactId } from "../../editor/resources/artifact.ts";
import type { Installed } from "../../editor/plan/ledger.ts";
import { AgentcliError } from "../../errors.ts";

/** Those that the words name; every word has to name one. Throws `usage`. */
export function selectInstalled(words: readonly string[], installed: readonly Installed[]): Installed[] {
  const selected = words.flatMap((word) => {
    const found = installed.filter((one) => artifactId(one) === word || one.name === word);
    if (found.length === 0) {
      throw new AgentcliError("usage", `"${word}" was not installed from here`, {
        hint: didYouMean(word, installed.flatMap((one) => [one.name, artifactId(one)])) ?? "see: agentcli editor list",
      });
    }
    return found;
  });
  return [...new Set(selected)];
}
