/** What a line that was typed is: words for the model, a command of the chat, or one of the project. */
import type { Label } from "../../boundary/policy/label.ts";
import type { AgentSession } from "../../runtime/agent_session.ts";
import { BESIDE_A_TURN, type CommandName, isTaken } from "./command_names.ts";
import { commandSource } from "./command_source.ts";
import { readCommand } from "./commands.ts";

/** Words for the model. `from` names the file of the project that they come from; null for typed ones. */
export interface TypedPrompt {
  kind: "prompt";
  text: string;
  /** Of that file; open for what was typed. */
  label: Label;
  from: string | null;
}

/** A command of the chat. */
export interface TypedCommand {
  kind: "command";
  name: CommandName;
  argument: string;
}

/** A line that was understood. */
export type TypedLine = TypedPrompt | TypedCommand;

/** The command of a line that need not wait for the turn that runs; null for any other line. */
export function readBeside(line: string): TypedCommand | null {
  const command = isTaken(/^\/([a-z]+)/.exec(line)?.[1] ?? "") ? readCommand(line) : null;
  return command !== null && BESIDE_A_TURN.has(command.name) ? { kind: "command", ...command } : null;
}

/**
 * Reads a line; a command of the chat goes before one of the project, and a space in front makes any line words.
 * Throws `usage` for a command that is not known, and what {@link customPrompt} throws.
 */
export async function readTyped(line: string, chat: AgentSession): Promise<TypedLine> {
  // As shells have it: nobody means a model by these words alone.
  if (/^(?:exit|quit)\s*$/.test(line)) return { kind: "command", name: "exit", argument: "" };
  const words: TypedLine = { kind: "prompt", text: line, label: "open", from: null };
  const typed = /^\/([a-z0-9][a-z0-9._-]{0,63})(?:\s+([^]*))?$/.exec(line.trim());
  if (line.startsWith(" ") || typed === null) return words;
  const [, word = "", argument = ""] = typed;
  if (isTaken(word)) {
    const known = readCommand(line);
    return known === null ? words : { kind: "command", ...known };
  }
  const source = commandSource(await chat.ready());
  const { customCommands, customPrompt } = await import("./custom_commands.ts");
  const customs = await customCommands(source);
  const command = customs.find(({ name }) => name === word);
  if (command === undefined) {
    readCommand(line, customs.map(({ name }) => name));
    return words;
  }
  const prompt = await customPrompt({ command, argument: argument.trim() }, source);
  return { kind: "prompt", ...prompt, from: command.file.display };
}
