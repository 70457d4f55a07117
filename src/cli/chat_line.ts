/**
 * The command line that names no command: on a terminal a chat, unless it asks for something else; elsewhere an error.
 */
import { closest } from "../config/suggest.ts";
import { AgentcliError } from "../errors.ts";
import { type Command, GLOBAL_OPTIONS, type Group, shownCommands } from "./command.ts";
import { camelCase, kebabCase, meant, NO_COMMAND, normalize, type Normalized, usage } from "./command_line.ts";
import { COMMAND_NAMES, loadTree } from "./tree.ts";

/** Returns the line as a chat's; null where it asks for help or a version, or a command was likely meant. */
export async function readChatLine(argv: readonly string[]): Promise<Normalized | null> {
  const line = normalize(["chat", ...argv], await loadTree(["chat"]));
  const { globals, words, options } = line;
  const isBare = words.length === 0 && options.length === 0;
  const asks = globals.help ?? globals.version ?? globals.json ?? (isBare ? globals.verbose : undefined);
  const [first = ""] = words;
  // A misspelled command must not become a prompt.
  const isCommand = knownElsewhere(first) !== undefined ||
    /^[\w-]+$/.test(first) && closest(first, COMMAND_NAMES.filter((name) => !name.startsWith("_"))).length > 0;
  return asks !== undefined || isCommand ? null : line;
}

/** Commands of other programs, each with its counterpart here. */
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

/** Returns the counterpart of a command of other programs; undefined for any other word. */
function knownElsewhere(word: string): string | undefined {
  return KNOWN_ELSEWHERE.find(([, ...names]) => names.includes(word))?.[0];
}

/** Returns the error for a line that names no command. */
export function withoutCommand(line: Normalized, group: Group): AgentcliError {
  const [word = "", option] = [line.words[0], line.options[0]?.name];
  const near = meant(word, { names: shownCommands(group).map(([name]) => name), prefix: "" });
  const atRoot = line.path.length === 0;
  if (word === "") {
    if (option === undefined) return usage(line, "no command was given");
    // Options of a prompt: without a terminal there is no chat.
    if (atRoot && [group.commands["run"], group.commands["chat"]].some((command) => hasOption(command, option))) {
      return new AgentcliError("usage", `a command must come before --${option}`, { hint: NO_COMMAND });
    }
    const names = Object.keys(GLOBAL_OPTIONS).map(kebabCase);
    return usage(line, `unknown option --${option}${meant(option, { names, prefix: "--" })}`);
  }
  // An option before its command takes no value yet: the word after it may be one.
  const problem = atRoot && option !== undefined
    ? `a command must come before --${option}`
    : `unknown command "${word}"${near}`;
  if (!atRoot || near !== "") return usage(line, problem);
  return new AgentcliError("usage", problem, { hint: knownElsewhere(word) ?? NO_COMMAND });
}

function hasOption(command: Command | Group | undefined, option: string): boolean {
  return command?.kind === "command" && Object.hasOwn(command.options, camelCase(option));
}
