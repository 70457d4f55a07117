/** Completes commands of the chat and of the project; paths are searched once one is begun. */
import type { Candidate, CompletionQuery } from "../../../terminal/editor_text.ts";
import type { SearchOptions } from "./path_search.ts";
import { COMMAND_NAMES, type CommandSource } from "./typed_line.ts";

const MOST_OFFERS = 50;

/** The candidates for what was begun; none when there are none, or the directory cannot be listed. */
export async function candidatesFor(
  query: CompletionQuery,
  source: CommandSource | null,
  { clock }: Pick<SearchOptions, "clock">,
): Promise<Candidate[]> {
  if (query.kind === "command") {
    const known = COMMAND_NAMES.filter(({ name }) => name.startsWith(query.word));
    const offers = known.map(({ name, brief }) => ({ text: `/${name}`, note: brief }));
    return source === null ? offers : [...offers, ...await customs(query.word, source)];
  }
  if (source === null) return [];
  const { findPaths } = await import("./path_search.ts");
  return await findPaths(query.word, source.workspace, { most: MOST_OFFERS, clock });
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
