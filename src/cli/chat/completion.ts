/** What can be completed: commands, and paths of the project. */
import type { Workspace } from "../../boundary/workspace.ts";
import type { Candidate, CompletionQuery } from "../../terminal/editor_completion.ts";
import { COMMAND_NAMES } from "./command_names.ts";

/** Offers that are listed. */
const MOST_OFFERS = 50;

/** The candidates for what was begun; none when there are none, or the directory cannot be listed. */
export async function candidatesFor(query: CompletionQuery, workspace: Workspace | null): Promise<Candidate[]> {
  if (query.kind === "command") {
    return COMMAND_NAMES.filter(({ name }) => name.startsWith(query.word)).map(({ name, brief }) => ({
      text: `/${name}`,
      note: brief,
    }));
  }
  return workspace === null ? [] : await paths(query.word, workspace);
}

async function paths(word: string, workspace: Workspace): Promise<Candidate[]> {
  const slash = word.lastIndexOf("/") + 1;
  const [directory, begun] = [word.slice(0, slash), word.slice(slash)];
  const resolved = await workspace.resolve(directory === "" ? "." : directory);
  if ("refused" in resolved) return [];
  const entries = await workspace.list(resolved);
  if ("refused" in entries) return [];
  const wanted = begun.toLowerCase();
  const shown = entries.filter(({ name }) =>
    name.toLowerCase().startsWith(wanted) && (begun.startsWith(".") || !name.startsWith(".")) && !/\s/.test(name)
  );
  const offers: Candidate[] = [];
  for (const { name, kind } of shown.slice(0, MOST_OFFERS)) {
    const path = await workspace.resolve(`${directory}${name}`);
    const isProtected = !("refused" in path) && workspace.ruleAt(path) !== null;
    offers.push({
      text: `@${directory}${name}${kind === "directory" ? "/" : ""}`,
      note: isProtected ? "[no-cloud]" : "",
    });
  }
  return offers;
}
