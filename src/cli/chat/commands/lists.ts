/**
 * Commands that list: the commands and keys, the models, the tools, the MCP servers, what the project has. Loaded with
 * the first.
 */
import type { AgentSession } from "../../../runtime/agent_session.ts";
import { clean } from "../../../terminal/clean.ts";
import { type Row, row, span } from "../../../terminal/style.ts";
import { commandSource } from "../input/typed_line.ts";
import { entryRows } from "../view/event_rows.ts";
import { COMMANDS, type CommandTarget } from "./commands.ts";

/** Shows the commands and the keys. */
export async function help(argument: string, { chat, view }: CommandTarget): Promise<void> {
  const width = view.width();
  const known = Object.entries(COMMANDS).flatMap(([name, { brief }]) =>
    entryRows(`/${name}`, brief, { column: 13, width })
  );
  const keys = KEYS.flatMap(([key, does]) => entryRows(key, does, { column: 22, width }));
  view.print(argument === "keys" ? keys : [...known, ...await customRows(chat, width), [], ...keys]);
}

/** Lists the models of the servers. */
export async function models(_: string, { view, context, signal }: CommandTarget): Promise<void> {
  const { choiceOf, offeredModels } = await import("./models.ts");
  const offered = await view.during("asking the servers", offeredModels(context, signal));
  const rows = offered.map((model): Row => {
    const { label, note } = choiceOf(model);
    return [span(`  ${clean(label)}`, model.id === null ? "warning" : "plain"), span(`  ${clean(note)}`, "dim")];
  });
  view.print(rows.length === 0 ? [row("no provider is configured; try /model", "dim")] : rows);
}

/** Lists the tools of the model. */
export async function tools(_: string, { chat, view }: CommandTarget): Promise<void> {
  const { session } = await chat.ready();
  const longest = Math.max(0, ...session.tools.map(({ name }) => name.length));
  const rows = session.tools.map(({ name, kind }): Row => [
    span(`  ${clean(name).padEnd(longest)}`, "bold"),
    span(`  ${kind}`, "dim"),
  ]);
  view.print(rows.length === 0 ? [row("this session has no tools", "dim")] : rows);
}

/** Lists the MCP servers. */
export async function servers(_: string, { chat, view }: CommandTarget): Promise<void> {
  const { mcpRows } = await import("./mcp.ts");
  view.print(mcpRows((await chat.ready()).servers, view.width()));
}

/** Lists the workflows and skills of the project. */
export async function skills(_: string, { chat, view }: CommandTarget): Promise<void> {
  const rows = await customRows(chat, view.width());
  view.print(rows.length === 0 ? [row("this project has no workflows and no skills", "dim")] : rows);
}

const KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "send; while a turn runs: after the next tool result"],
  ["?", "on an empty line: these keys"],
  ["Tab, Alt-Enter", "while a turn runs: send after the turn"],
  ["Up", "on an empty line: take back the last message that waits"],
  ["Shift-Enter", "a new line; also Ctrl-J, Alt-Enter between turns"],
  ["@", "find a file or directory of the project, and attach it"],
  ["PageUp, PageDown", "scroll a question, or what is unfolded"],
  ["! command", "run it; the model gets its output; !! without that"],
  ["Ctrl-G", "write the text in $EDITOR"],
  ["Ctrl-Z", "suspend"],
  ["Ctrl-R", "search what was typed before"],
  ["Ctrl-O", "unfold the last output, and fold it; 2 Ctrl-O: #2"],
  ["Shift-Tab", "next permission mode"],
  ["Esc", "stop the turn"],
  ["Esc Esc", "between turns: go back to an earlier prompt"],
  ["Ctrl-C", "stop the turn; again: exit"],
  ["Ctrl-D", "exit"],
];

/** The commands of the project, under a line that says so. */
async function customRows(chat: AgentSession, width: number): Promise<Row[]> {
  if (chat.opened === null) return [];
  const source = commandSource(chat.opened);
  const { briefOf, customCommands } = await import("../input/custom_commands.ts");
  const rows: Row[] = [];
  for (const command of await customCommands(source)) {
    rows.push(...entryRows(`/${command.name}`, briefOf(command, source), { column: 13, width }));
  }
  return rows.length === 0 ? [] : [[], row("of this project; its text is sent as your words:", "dim"), ...rows];
}
