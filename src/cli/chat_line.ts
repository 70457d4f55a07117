/** The command line that names no command, on a terminal: a chat, unless it asks for something else. */
import { closest } from "../config/suggest.ts";
import { normalize, type Normalized } from "./command_line.ts";
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

/** Commands of other programs, each behind what does the same here. */
const KNOWN_ELSEWHERE: readonly (readonly [does: string, ...names: string[]])[] = [
  ['agentcli run "<prompt>" runs one turn', "exec", "ask", "prompt"],
  ["agentcli -r lists sessions to continue, -c continues the last one", "resume", "continue"],
  ["agentcli sessions list lists the stored sessions", "list", "ls", "history"],
  ["agentcli upgrade looks for a newer release", "update", "self-update"],
  ["agentcli providers set-key <name> stores the key of a provider; no account is needed", "login", "signin"],
  ["agentcli providers unset-key <name> removes the key of a provider", "logout", "signout"],
  ["agentcli local-model serve starts a model server", "serve"],
  ["agentcli chat opens the chat, which has /undo and /rewind", "undo"],
];

/** Returns what does the same as a command of other programs; undefined for any other word. */
export function knownElsewhere(word: string): string | undefined {
  return KNOWN_ELSEWHERE.find(([, ...names]) => names.includes(word))?.[0];
}
