/** The command line that names no command, on a terminal: a chat, unless it asks for something else. */
import { closest } from "../config/suggest.ts";
import { knownElsewhere, normalize, type Normalized } from "./command_line.ts";
import { COMMAND_NAMES, loadTree } from "./tree.ts";

/** Returns the line as one of the chat; null where it asks for help or a version, or a command was likely meant. */
export async function readChatLine(argv: readonly string[]): Promise<Normalized | null> {
  const line = normalize(["chat", ...argv], await loadTree(["chat"]));
  const { globals, words, options } = line;
  const isBare = words.length === 0 && options.length === 0;
  const asks = globals.help ?? globals.version ?? globals.json ?? (isBare ? globals.verbose : undefined);
  const [first = ""] = words;
  // Who misspells a command shall not talk to a model about it.
  const isCommand = knownElsewhere(first) !== undefined ||
    /^[\w-]+$/.test(first) && closest(first, COMMAND_NAMES.filter((name) => !name.startsWith("_"))).length > 0;
  return asks !== undefined || isCommand ? null : line;
}
