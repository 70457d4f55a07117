/** Reads typed lines: words for the model, a command of the chat, or one of the project; and completes them. */
import type { ResolvedPath, Workspace } from "../../../boundary/workspace/workspace.ts";
import { type PermissionPolicy, readDenials } from "../../../tools/permission.ts";
import type { OpenSession } from "../../../runtime/open_session.ts";
import { highestLabel, type Label } from "../../../boundary/policy/label.ts";
import type { AgentSession } from "../../../runtime/agent_session.ts";
import { mentionedPaths, type PromptInput } from "../../../runtime/prompts.ts";
import { didYouMean } from "../../../config/suggest.ts";
import { AgentcliError } from "../../../errors.ts";
import { lstatSync } from "../../../platform/files.ts";
import { quietly } from "../../../platform/real_path.ts";
import type { Candidate, CompletionQuery } from "../../../terminal/editor_text.ts";
import { type CommandName, COMMANDS } from "../commands/commands.ts";
import type { SearchOptions } from "./path_search.ts";

/** Commands of other programs, each with its counterpart here. */
const KNOWN_ELSEWHERE: readonly (readonly [hint: string, ...names: string[]])[] = [
  ["/clear begins a new session", "new", "reset"],
  ["/resume continues a stored session", "sessions", "continue", "threads"],
  ["/permissions sets the mode, as Shift-Tab does", "approvals", "mode", "auto", "yolo"],
  ["/permissions plan lets the model plan without changing anything", "plan", "ask", "architect"],
  ["/context shows what fills the window", "tokens", "cost", "usage", "stats", "ls"],
  [
    "@ and a part of its name attaches a file",
    "add",
    "file",
    "files",
    "attach",
    "image",
    "mention",
    "read",
    "read-only",
  ],
  ["! in front of a command runs it: !npm test", "run", "test", "bash", "shell", "sh"],
  ["Ctrl-G opens the line in $EDITOR", "editor", "edit"],
  ["/compact summarizes the older part", "summarize", "compress"],
  ["/rewind goes back to an earlier prompt", "checkpoints", "restore", "timeline"],
  ["/export writes the session to a file", "save", "share"],
];

function knownElsewhere(word: string): string | undefined {
  return KNOWN_ELSEWHERE.find(([, ...names]) => names.includes(word))?.[0];
}

function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

/** Whether a word is a command of the chat: no project can give it another meaning. */
export function isTaken(word: string): boolean {
  return word === "quit" || isCommandName(word);
}

/** A line that may begin with a command of the project, and what follows it. */
export const CUSTOM = /^\/([a-z0-9][a-z0-9._-]{0,63})(?:\s+([^]*))?$/;

/** A place to read from, and the deny rules for reading. */
export interface CommandSource {
  workspace: Workspace;
  readDenied(path: ResolvedPath): string | null;
}

/** The source of a session. */
export function commandSource({ session: { workspace, policy } }: OpenSession): CommandSource {
  return sourceOf(workspace, policy);
}

/** The source of a workspace under these rules. */
export function sourceOf(workspace: Workspace, { deny }: Pick<PermissionPolicy, "deny">): CommandSource {
  return { workspace, readDenied: readDenials(workspace, deny) ?? (() => null) };
}

/** Words for the model. `from` names the file of the project that they come from; null for typed ones. */
export interface TypedPrompt {
  kind: "prompt";
  typed: string;
  text: string;
  /** Of that file; open for what was typed. */
  label: Label;
  from: string | null;
}

export interface TypedCommand {
  kind: "command";
  name: CommandName;
  argument: string;
}

export interface TypedShell {
  kind: "shell";
  command: string;
  /** Whether the model is told: `!`, not `!!`. */
  isForModel: boolean;
}

type TypedLine = TypedPrompt | TypedCommand | TypedShell;

/** Whether a line is for the chat itself or for the shell, not for the model, as far as the line itself shows. */
export function isOwnLine(line: string): boolean {
  return /^\/[a-z]|^!\s*[^!\s]|^!!|^(?:exit|quit)\s*$/.test(line);
}

/** The command for the shell in a line; null for any other line. */
export function readShell(line: string): TypedShell | null {
  const found = /^(!!?)\s*([^!\s][^]*)$/.exec(line);
  return found === null ? null : { kind: "shell", command: (found[2] ?? "").trim(), isForModel: found[1] === "!" };
}

/**
 * The command of a line and what follows it; null for any other line. An unknown command is `usage`,
 * with the nearest one, `others` among them.
 */
export function readCommand(line: string, others: readonly string[] = []): TypedCommand | null {
  const match = /^\/([a-z][a-z0-9-]*)(?:\s+([^\n]*))?$/.exec(line.trim());
  if (match === null) return null;
  const word = match[1] ?? "";
  const name = word === "quit" ? "exit" : word;
  if (isCommandName(name)) return { kind: "command", name, argument: (match[2] ?? "").trim() };
  const names = [...Object.keys(COMMANDS), ...others].map((known) => `/${known}`);
  throw new AgentcliError("usage", `there is no command /${word}`, {
    hint: knownElsewhere(word) ?? didYouMean(`/${word}`, names) ??
      "see /help; a line that begins with a space is no command",
  });
}

/** The command of a line that need not wait for the turn that runs; null for any other line. */
export function readBeside(line: string): TypedCommand | null {
  const command = isTaken(/^\/([a-z]+)/.exec(line)?.[1] ?? "") ? readCommand(line) : null;
  return command !== null && COMMANDS[command.name].isBeside ? command : null;
}

/**
 * Reads a line; a command of the chat takes precedence over one of the project, and a leading space makes any line a
 * prompt. Throws `usage` for a command that is not known, and what reading the file of one throws.
 */
export async function readTyped(line: string, chat: AgentSession): Promise<TypedLine> {
  // As in shells: nobody addresses a model with these words alone.
  if (/^(?:exit|quit)\s*$/.test(line)) return { kind: "command", name: "exit", argument: "" };
  const shell = readShell(line);
  if (shell !== null) return shell;
  const words: TypedLine = { kind: "prompt", typed: line, text: line, label: "open", from: null };
  const named = !line.startsWith(" ") && /^\/[\w-]+:\S/.test(line) ? await ofServer(line, chat) : null;
  if (named !== null) return named;
  const typed = CUSTOM.exec(line.trim());
  if (line.startsWith(" ") || typed === null) return words;
  const [, word = ""] = typed;
  if (isTaken(word)) return readCommand(line) ?? words;
  const source = commandSource(await chat.ready());
  const { customCommands, readCustom } = await import("./custom_commands.ts");
  const prompt = await readCustom(line, source);
  if (prompt !== null) return { kind: "prompt", typed: line, ...prompt };
  // A pasted path at the beginning is not a command.
  if (knownElsewhere(word) === undefined && quietly(() => lstatSync(`/${word}`)) !== null) return words;
  readCommand(line, (await customCommands(source)).map(({ name }) => name));
  return words;
}

/** A prompt of an MCP server, `/server:prompt`; null for a line that names none. */
async function ofServer(line: string, chat: AgentSession): Promise<TypedPrompt | null> {
  const { serverPrompt } = await import("../commands/mcp.ts");
  const found = await serverPrompt(line, (await chat.ready()).servers, new AbortController().signal);
  return found === null ? null : { kind: "prompt", typed: line, ...found, from: "an MCP server" };
}

/** Returns what was typed as a prompt, with the files that its words name. Throws what opening the session throws. */
export async function promptOf(
  { typed, text, label, from }: TypedPrompt,
  chat: AgentSession,
  notice: (text: string) => void,
): Promise<PromptInput> {
  const { session } = await chat.ready();
  const mentions = from === null ? await mentionedPaths(text, session.workspace, notice) : [];
  if (from !== null || !/@[\w-]+:\S/.test(text)) return { typed, text, label, mentions };
  const { serverResources } = await import("../commands/mcp.ts");
  const { servers } = await chat.ready();
  const { parts, problems } = await serverResources(text, servers, new AbortController().signal);
  for (const problem of problems) notice(problem);
  const whole = [text, ...parts.map((part) => part.text)].join("\n\n");
  return { typed, text: whole, label: highestLabel([label, ...parts.map((part) => part.label)]), mentions };
}

/** The modes that a key goes through; the mode that asks nothing is chosen only by name. */
const CYCLED_MODES = ["default", "acceptEdits", "plan"] as const;

/** Takes the next of the modes that one key goes through. */
export function nextMode(chat: AgentSession): void {
  const at = CYCLED_MODES.findIndex((mode) => mode === chat.mode);
  chat.setMode(CYCLED_MODES[(at + 1) % CYCLED_MODES.length] ?? "default");
}

const MOST_OFFERS = 50;

/** The candidates for an incomplete word; none when there are none, or the directory cannot be listed. */
export async function candidatesFor(
  query: CompletionQuery,
  opened: OpenSession | null,
  options: Pick<SearchOptions, "clock">,
): Promise<Candidate[]> {
  const own = await ownCandidates(query, opened, options);
  if (opened === null || opened.servers === null) return own;
  const { serverCandidates } = await import("../commands/mcp.ts");
  return [...own, ...serverCandidates(query, opened.servers).slice(0, MOST_OFFERS)];
}

/** Those of the chat and of the project. */
async function ownCandidates(
  query: CompletionQuery,
  opened: OpenSession | null,
  { clock }: Pick<SearchOptions, "clock">,
): Promise<Candidate[]> {
  if (query.kind === "command") {
    const known = Object.entries(COMMANDS).filter(([name]) => name.startsWith(query.word));
    const offers = known.map(([name, { brief }]) => ({ text: `/${name}`, note: brief }));
    return opened === null ? offers : [...offers, ...await customs(query.word, commandSource(opened))];
  }
  if (opened === null) return [];
  const { findPaths } = await import("./path_search.ts");
  return await findPaths(query.word, opened.session.workspace, { most: MOST_OFFERS, clock });
}

async function customs(word: string, source: CommandSource): Promise<Candidate[]> {
  const { briefOf, customCommands } = await import("./custom_commands.ts");
  const begun = (await customCommands(source)).filter(({ name }) => name.startsWith(word));
  const offers: Candidate[] = [];
  for (const command of begun.slice(0, MOST_OFFERS)) {
    offers.push({ text: `/${command.name}`, note: briefOf(command, source) });
  }
  return offers;
}
