/** Runs commands: lines that begin with `/`. */
import type { TurnListener } from "../../../protocol/turn_event.ts";
import { clean } from "../../../terminal/clean.ts";
import { type Row, row, span } from "../../../terminal/style.ts";
import type { Context } from "../../command.ts";
import type { AgentSession } from "../../../runtime/agent_session.ts";
import {
  COMMAND_NAMES,
  type CommandName,
  commandSource,
  type TypedCommand,
  type TypedShell,
} from "../input/typed_line.ts";
import { entryRows } from "../view/event_rows.ts";
import type { ChatView } from "../begin.ts";

/** Targets of commands. */
export interface CommandTarget {
  chat: AgentSession;
  view: ChatView;
  context: Context;
  signal: AbortSignal;
  emit: TurnListener;
}

/** Runs a line that is no prompt. Throws what it meets. */
export async function runLine(typed: TypedCommand | TypedShell, target: CommandTarget): Promise<void> {
  if (typed.kind === "command") return await runCommand(typed, target);
  const { chat, view, context: { io, globals: { cwd } }, signal, emit } = target;
  const { command, isTold } = typed;
  if (!isTold) {
    const { runOutside } = await import("../terminal/outside.ts");
    if (await view.lend?.(async () => view.print(await runOutside(command, { io, cwd }))) === true) return;
    signal.throwIfAborted();
  }
  // Without a terminal of its own, what it prints is shown as what the model runs: it may go into a log.
  await chat.runCommand(command, { signal, onEvent: emit, isTold });
}

/** Runs a command. Throws what it meets. */
async function runCommand(
  { name, argument }: { name: CommandName; argument: string },
  target: CommandTarget,
): Promise<void> {
  const { chat, view, context, signal } = target;
  switch (name) {
    case "help":
      return view.print(argument === "keys" ? keyRows(view.width()) : await helpRows(chat, view.width()));
    case "exit":
      return view.leave();
    case "model": {
      const { switchModel } = await import("./models.ts");
      return await switchModel(argument, target);
    }
    case "models": {
      const { choiceOf, offeredModels } = await import("./models.ts");
      const models = await view.during("asking the servers", offeredModels(context, signal));
      const rows = models.map((model): Row => {
        const { label, note } = choiceOf(model);
        return [
          span(`  ${clean(label)}`, model.selector === null ? "warning" : "plain"),
          span(`  ${clean(note)}`, "dim"),
        ];
      });
      return view.print(rows.length === 0 ? [row("no provider is configured; try /model", "dim")] : rows);
    }
    case "tools": {
      const { session } = await chat.ready();
      const longest = Math.max(0, ...session.tools.map(({ name }) => name.length));
      const rows = session.tools.map(({ name, kind }): Row => [
        span(`  ${clean(name).padEnd(longest)}`, "bold"),
        span(`  ${kind}`, "dim"),
      ]);
      return view.print(rows.length === 0 ? [row("this session has no tools", "dim")] : rows);
    }
    case "mcp": {
      const { mcpRows } = await import("./mcp.ts");
      return view.print(mcpRows((await chat.ready()).servers, view.width()));
    }
    case "permissions": {
      const { permissions } = await import("./permission_rules.ts");
      return await permissions(argument, target);
    }
    case "context": {
      const { contextRows } = await import("./session_commands.ts");
      return view.print(contextRows((await chat.ready()).session, view.width()));
    }
    case "compact": {
      const done = await chat.compact({ signal: target.signal, onEvent: target.emit, keep: argument });
      return done ? undefined : view.print([row("the session is too short to summarize", "dim")]);
    }
    case "clear":
      await view.during("beginning a new session", chat.clear());
      view.clear();
      return view.print([row("a new session; the other one is kept (/resume)", "dim")]);
    case "rewind":
    case "redo": {
      const { redoRewind, rewindTo } = await import("./rewind.ts");
      return name === "redo" ? await redoRewind(target) : await rewindTo(target);
    }
    case "skills": {
      const rows = await customRows(chat, view.width());
      return view.print(rows.length === 0 ? [row("this project has no workflows and no skills", "dim")] : rows);
    }
    case "status":
    case "think":
    case "retry":
    case "copy":
    case "init": {
      const { turnCommand } = await import("./turn_commands.ts");
      return await turnCommand(name, argument, target);
    }
    case "resume":
    case "rename": {
      const { renameThis, resumeStored } = await import("./stored_sessions.ts");
      return await (name === "resume" ? resumeStored : renameThis)(argument, target);
    }
    default: {
      const files = await import("./session_commands.ts");
      if (name === "undo") return await files.undoLast(target);
      if (name === "diff") return await files.showDiff(target);
      if (name === "export") return await files.exportSession(argument, target);
      return await files.showSecrets(target);
    }
  }
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
  ["Esc Esc", "between turns: go back to before a turn"],
  ["Ctrl-C", "stop the turn; again: leave"],
  ["Ctrl-D", "leave"],
];

/** The commands of the project, under a line that says so. */
async function customRows(chat: AgentSession, width: number): Promise<Row[]> {
  const source = commandSource(chat.opened);
  if (source === null) return [];
  const { briefOf, customCommands } = await import("../input/custom_commands.ts");
  const rows: Row[] = [];
  for (const command of await customCommands(source)) {
    rows.push(...entryRows(`/${command.name}`, await briefOf(command, source), { column: 13, width }));
  }
  return rows.length === 0 ? [] : [[], row("of this project; its text is sent as your words:", "dim"), ...rows];
}

async function helpRows(chat: AgentSession, width: number): Promise<Row[]> {
  return [
    ...COMMAND_NAMES.flatMap(({ name, brief }) => entryRows(`/${name}`, brief, { column: 13, width })),
    ...await customRows(chat, width),
    [],
    ...keyRows(width),
  ];
}

function keyRows(width: number): Row[] {
  return KEYS.flatMap(([key, does]) => entryRows(key, does, { column: 22, width }));
}
