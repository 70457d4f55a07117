/** Completes commands, and paths of the project. */
import type { Workspace } from "../../boundary/workspace/workspace.ts";
import type { Candidate, CompletionQuery } from "../../terminal/editor_text.ts";
import { COMMAND_NAMES, type CommandSource } from "./typed_line.ts";

/** Offers that are listed. */
const MOST_OFFERS = 50;

/** The candidates for what was begun; none when there are none, or the directory cannot be listed. */
export async function candidatesFor(query: CompletionQuery, source: CommandSource | null): Promise<Candidate[]> {
  if (query.kind === "command") {
    const known = COMMAND_NAMES.filter(({ name }) => name.startsWith(query.word));
    const offers = known.map(({ name, brief }) => ({ text: `/${name}`, note: brief }));
    return source === null ? offers : [...offers, ...await customs(query.word, source)];
  }
  return source === null ? [] : await paths(query.word, source.workspace);
}

async function customs(word: string, source: CommandSource): Promise<Candidate[]> {
  const { briefOf, customCommands } = await import("./custom_commands.ts");
  const begun = (await customCommands(source)).filter(({ name }) => name.startsWith(word));
  const offers: Candidate[] = [];
  for (const command of begun.slice(0, MOST_OFFERS)) {
    offers.push({ text: `/${command.name}`, note: await briefOf(command, source) });
  }
  return offers;
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
