/**
 * The inputs that assistants give their hooks, and the answers that they accept, as tables: what a tool does, by its
 * name, and which of its arguments are checked. Anything not in a table is checked as a call of an unknown tool.
 */
import { fieldsOf, isRecord, parseJson, stringsOf, textOf } from "../../platform/record.ts";
import { AgentcliError } from "../../errors.ts";
import type { AssistantId } from "../assistants.ts";
import { type HookEvent, type HookInput, optionalField, textField } from "../hooks/events.ts";

/** An action that an assistant is about to take, whatever its editor calls it; the guard decides about it. */
export type Action =
  /** A file is read, or a directory with everything in it. */
  | { kind: "read"; path: string }
  /** The content of a file or of everything in a directory is searched. */
  | { kind: "search"; path: string }
  /** Names are listed, without content. */
  | { kind: "list"; path: string }
  | { kind: "write"; path: string; texts: readonly string[] }
  /** `given`: the call of which the line is a part. */
  | { kind: "command"; line: string; given: unknown }
  | { kind: "tool"; server: unknown; name: unknown; given: unknown }
  /** A prompt: even a name in it counts, because the editor may add the file. */
  | { kind: "prompt"; text: string }
  /** Texts that go to the model. */
  | { kind: "texts"; texts: readonly string[] };

/** The question of a hook: may all of these be done? */
export interface Question {
  actions: readonly Action[];
  /** Where the actions run; null where the input does not say. */
  cwd: string | null;
}

/** The effect of a tool on what its arguments name. `none`: it touches no file and runs nothing. */
type Deed = "read" | "search" | "list" | "write" | "command" | "patch" | "none";

/** The tools of the assistants: Claude Code, Codex and Cursor. One name means the same in all of them. */
const TOOLS: Readonly<Record<Deed, readonly string[]>> = {
  read: ["Read", "ReadFile", "NotebookRead", "TabRead", "read_file", "view_image"],
  search: ["Grep", "SemanticSearch", "grep_files"],
  list: ["Glob", "LS", "list_dir"],
  write: ["Write", "Edit", "MultiEdit", "NotebookEdit", "StrReplace", "Delete", "TabWrite", "EditNotebook"],
  command: ["Bash", "PowerShell", "Shell", "Monitor"],
  patch: ["apply_patch", "ApplyPatch"],
  // What they pass on is checked when it comes to a tool.
  none: [
    ...["Agent", "Task", "TaskCreate", "TaskUpdate", "TodoWrite", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode"],
    ...["SendMessage", "ToolSearch", "WebSearch", "web_search", "update_plan", "spawn_agent", "request_user_input"],
  ],
};

const DEEDS = new Map(
  Object.entries(TOOLS).flatMap(([deed, names]) => names.map((name) => [name, deed as Deed] as const)),
);

/** Arguments that name the file or directory of a tool. */
const PATH_NAMES = ["file_path", "notebook_path", "target_file", "path", "dir_path"];

function firstText(fields: Readonly<Record<string, unknown>>, names: readonly string[]): string | null {
  return names.map((name) => textOf(fields[name])).find((text) => text !== null) ?? null;
}

/** Every part of a pattern before its first wildcard. */
function fixedPart(pattern: string): string {
  const plain = /^[^*?[{]*/.exec(pattern)?.[0] ?? "";
  return plain === pattern ? plain : plain.replace(/(?<![^/\\])[^/\\]*$/, "");
}

const PATCH_LINE = /^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$/gm;

function actionsOf(tool: string, input: unknown): Action[] {
  const fields = fieldsOf(input);
  // Which of several the tool uses is unknown: all are checked.
  const paths = PATH_NAMES.flatMap((name) => textOf(fields[name]) ?? []);
  const [path = null] = paths;
  const unknown: Action[] = [serverCall(tool, input)];
  switch (DEEDS.get(tool)) {
    case "none":
      return [];
    case "read":
      return path === null ? unknown : paths.map((path) => ({ kind: "read", path }));
    case "search":
      return (path === null ? ["."] : paths).map((path) => ({ kind: "search", path }));
    case "list": {
      const pattern = firstText(fields, ["pattern", "glob_pattern"]);
      const below = pattern === null ? "" : fixedPart(pattern);
      const places = path === null ? ["."] : [...paths];
      if (below !== "") places.push(below, ...paths.map((path) => `${path}/${below}`));
      return places.map((place) => ({ kind: "list", path: place }));
    }
    case "write":
      return path === null ? unknown : paths.map((path) => ({ kind: "write", path, texts: [...stringsOf(input)] }));
    case "command": {
      const line = [fields.command].flat().filter((word) => typeof word === "string").join(" ");
      return line === "" ? unknown : [{ kind: "command", line, given: { command: line } }];
    }
    case "patch": {
      const text = firstText(fields, ["command", "input", "patch"]) ?? "";
      const files = [...text.matchAll(PATCH_LINE)].map(([, file = ""]) => file);
      if (files.length === 0) return unknown;
      return files.map((file, at) => ({ kind: "write", path: file, texts: at === 0 ? [text] : [] }));
    }
    default:
      return unknown;
  }
}

/** `mcp__server__tool`, `MCP:tool`. */
function serverCall(tool: string, given: unknown): Action {
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  if (name !== undefined) return { kind: "tool", server, name, given };
  const plain = /^MCP:(?:(.+):)?(.+)$/.exec(tool);
  if (plain !== null) return { kind: "tool", server: plain[1], name: plain[2], given };
  return { kind: "tool", server: null, name: tool, given };
}

/** A file that a person names in a prompt: the assistant adds it without asking a hook. */
const MENTION = /(?:^|[\s("'`])@(?:"([^"]+)"|'([^']+)'|([^\s"'`]+))/g;

/** Names alone pass in a prompt: whoever asks what is in a file has to name it. */
function promptActions(text: string): Action[] {
  const named = [...text.matchAll(MENTION)].map(([, double, single, bare = ""]) =>
    // Line numbers, and punctuation at the end.
    (double ?? single ?? bare).replace(/[#:][L\d-]*$/, "").replace(/(?<![,.;:!?)\]])[,.;:!?)\]]+$/, "")
  );
  const reads = named.filter((path) => path !== "").map((path): Action => ({ kind: "read", path }));
  return [...reads, { kind: "texts", texts: [text] }];
}

/** Reads what a hook asks. Throws `usage` where a field is missing. */
type Reading = (input: HookInput) => Action[];

const toolCall: Reading = (input) => actionsOf(textField(input, "tool_name"), input.info.tool_input);
const fileRead: Reading = (input) => [
  { kind: "read", path: textField(input, "file_path") },
  ...attached(input),
];
const prompted: Reading = (input) => promptActions(textField(input, "prompt"));

function attached({ info: { attachments } }: HookInput): Action[] {
  const files = Array.isArray(attachments) ? attachments.filter(isRecord) : [];
  return files.flatMap((file): Action[] => {
    const path = firstText(file, ["file_path", "filePath", "path"]);
    return path === null ? [] : [{ kind: "read", path }];
  });
}

/** How one assistant asks its hooks, and reads their answers. */
interface Row {
  /** By the name of an event: what the input of it asks. */
  events: Readonly<Record<string, Reading>>;
  /** Where the assistant was started, if its input or its environment says so. */
  root(info: HookInput["info"], env: (name: string) => string | undefined): unknown;
  /** Returns the text for its standard output, beside the exit code; null: none. */
  answer(event: string, refusal: string | null): string | null;
}

const noAnswer: Row["answer"] = () => null;

const ROWS: Readonly<Record<AssistantId, Row>> = {
  // https://code.claude.com/docs/en/hooks
  claude: {
    events: { PreToolUse: toolCall, UserPromptSubmit: prompted },
    root: (_, env) => env("CLAUDE_PROJECT_DIR"),
    answer: noAnswer,
  },
  // https://developers.openai.com/codex/hooks
  codex: {
    events: { PreToolUse: toolCall, UserPromptSubmit: prompted },
    root: ({ cwd }) => cwd,
    answer: noAnswer,
  },
  // https://cursor.com/docs/agent/hooks
  cursor: {
    events: {
      preToolUse: toolCall,
      beforeReadFile: fileRead,
      beforeTabFileRead: fileRead,
      beforeShellExecution: (input) => actionsOf("Shell", { command: textField(input, "command") }),
      beforeMCPExecution: (input) => [serverCall(`MCP:${textField(input, "tool_name")}`, input.info.tool_input)],
      beforeSubmitPrompt: (input) => [...prompted(input), ...attached(input)],
    },
    root: ({ workspace_roots }) => Array.isArray(workspace_roots) ? workspace_roots[0] : undefined,
    answer: (event, refusal) => {
      if (event === "beforeSubmitPrompt") {
        return JSON.stringify(refusal === null ? { continue: true } : { continue: false, user_message: refusal });
      }
      return JSON.stringify(
        refusal === null
          ? { permission: "allow" }
          : { permission: "deny", user_message: refusal, agent_message: refusal },
      );
    },
  },
};

/** Returns the events of an assistant that the guard answers. */
export function eventsOf(id: AssistantId): string[] {
  return Object.keys(ROWS[id].events);
}

/** Returns what an assistant reads from standard output for a decision; null: nothing. */
export function answerOf(id: AssistantId, event: string, refusal: string | null): string | null {
  return ROWS[id].answer(event, refusal);
}

/**
 * Reads the JSON that an assistant gives its hook; `root`: where it was started, null where nothing says so. Throws
 * `usage` for anything else, and for another event.
 */
export function readPayload(
  id: AssistantId,
  event: string,
  { input, env }: { input: string; env: (name: string) => string | undefined },
): Question & { root: string | null } {
  const { events, root } = ROWS[id];
  const read = Object.hasOwn(events, event) ? events[event] : undefined;
  if (read === undefined) throw new AgentcliError("usage", `the guard is not for the event "${event}"`);
  // Some versions write a mark of their own before it.
  const info = parseJson(input.slice(Math.max(input.indexOf("{"), 0)));
  if (!isRecord(info)) throw new AgentcliError("usage", "the hook's input is no JSON object");
  if (info.hook_event_name !== undefined && info.hook_event_name !== event) {
    throw new AgentcliError("usage", `the hook's input is not of the event ${event}`);
  }
  const hook = { event, trajectory: null, info };
  const started = root(info, env);
  return {
    actions: read(hook),
    cwd: optionalField(hook, "cwd") || null,
    root: textOf(started),
  };
}

/** The actions that each event of an editor asks about. */
const EDITOR_EVENTS: Partial<Record<HookEvent, Reading>> = {
  pre_read_code: (input) => [{ kind: "read", path: textField(input, "file_path") }],
  pre_write_code: (input) => [
    { kind: "write", path: textField(input, "file_path"), texts: [...stringsOf(input.info.edits)] },
  ],
  pre_run_command: (input) => [{ kind: "command", line: textField(input, "command_line"), given: input.info }],
  pre_mcp_tool_use: ({ info: { mcp_server_name: server, mcp_tool_name: name, mcp_tool_arguments: given } }) => [
    { kind: "tool", server, name, given },
  ],
  pre_user_prompt: (input) => [{ kind: "prompt", text: textField(input, "user_prompt") }],
};

/** Returns what the input of an editor's hook asks. Throws `usage` where a field is missing. */
export function questionOf(input: HookInput & { event: HookEvent }): Question {
  const read = EDITOR_EVENTS[input.event] ?? (({ info }): Action[] => [{ kind: "texts", texts: [...stringsOf(info)] }]);
  return { actions: read(input), cwd: optionalField(input, "cwd") };
}
