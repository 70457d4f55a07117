/**
 * The events of an editor's hooks with what comes with them (seed §6.1; specification of the editor surface §4), and
 * the hooks of the program.
 */
import { isRecord, parseJson } from "../../platform/record.ts";
import { AgentcliError } from "../../errors.ts";

export const EVENTS = [
  "pre_read_code",
  "post_read_code",
  "pre_write_code",
  "post_write_code",
  "pre_run_command",
  "post_run_command",
  "pre_mcp_tool_use",
  "post_mcp_tool_use",
  "pre_user_prompt",
  "post_cascade_response",
  "post_cascade_response_with_transcript",
  "post_setup_worktree",
] as const;

export type HookEvent = (typeof EVENTS)[number];

/**
 * The event whose hooks the editor runs inside of the new worktree, which has only what git brings;
 * `ROOT_WORKSPACE_PATH` in their environment names the project that it was made from.
 */
export const WORKTREE_EVENT = "post_setup_worktree" satisfies HookEvent;

/** Returns whether a word names an event. */
export function isEvent(word: string): word is HookEvent {
  return (EVENTS as readonly string[]).includes(word);
}

/** Largest input of a hook, in bytes: a transcript or a tool's result may be long. */
export const INPUT_LIMIT = 32 * 1024 * 1024;

/** The input of a hook. Fields that an editor leaves out are null; those that it adds are in `info` and ignored. */
export interface HookInput {
  event: string;
  trajectory: string | null;
  info: Readonly<Record<string, unknown>>;
}

/** Reads the JSON of standard input. Throws `usage` for anything else, and for another event than `event`. */
export function parseHookInput(text: string, event: HookEvent): HookInput & { event: HookEvent } {
  const value = parseJson(text.replace(/^\ufeff/, ""));
  if (value === undefined) throw new AgentcliError("usage", "the hook's input is no JSON");
  if (!isRecord(value) || !isRecord(value.tool_info)) {
    throw new AgentcliError("usage", "the hook's input has no tool_info");
  }
  if (value.agent_action_name !== undefined && value.agent_action_name !== event) {
    throw new AgentcliError("usage", `the hook's input is not of the event ${event}`);
  }
  const trajectory = typeof value.trajectory_id === "string" ? value.trajectory_id : null;
  return { event, trajectory, info: value.tool_info };
}

/** Returns a text of the input. Throws `usage` when it is missing: what cannot be checked does not pass. */
export function textField({ info, event }: HookInput, name: string): string {
  const value = info[name];
  if (typeof value === "string") return value;
  throw new AgentcliError("usage", `the input of ${event} has no ${name}`);
}

/** Returns a text of the input; null when it is missing. */
export function optionalField({ info }: HookInput, name: string): string | null {
  const value = info[name];
  return typeof value === "string" ? value : null;
}

export const SCAFFOLD_IDS = [
  "no-cloud-guard",
  "audit-log",
  "setup-worktree",
  "format-on-write",
  "session-note",
] as const;

export type ScaffoldId = (typeof SCAFFOLD_IDS)[number];

/** Returns whether a word names one. */
export function isScaffold(word: string): word is ScaffoldId {
  return (SCAFFOLD_IDS as readonly string[]).includes(word);
}

/** A scaffold without its scripts. */
interface ScaffoldFacts {
  brief: string;
  /** Those that it is installed on by default. */
  events: readonly HookEvent[];
  /** Further events that it needs to know of. */
  more?: readonly HookEvent[];
  /** The parameters at the top of its scripts, by the name in bash; in PowerShell in camel case. */
  parameters: readonly string[];
  /** The allowed values of parameters that have only certain ones. */
  choices?: Readonly<Record<string, readonly string[]>>;
  /** It must not let an action pass when it fails. */
  guard: boolean;
  showOutput: boolean;
}

export const SCAFFOLDS: Readonly<Record<ScaffoldId, ScaffoldFacts>> = {
  "no-cloud-guard": {
    brief: "blocks what .agentclisecret protects",
    events: ["pre_read_code", "pre_write_code", "pre_run_command", "pre_mcp_tool_use", "pre_user_prompt"],
    parameters: ["agentcli", "limit_seconds", "ask_private"],
    choices: { ask_private: ["no", "yes"] },
    guard: true,
    showOutput: true,
  },
  "audit-log": {
    brief: "one line of JSON an action, without content",
    events: [
      "post_read_code",
      "post_write_code",
      "post_run_command",
      "post_mcp_tool_use",
      "post_cascade_response",
      "post_setup_worktree",
    ],
    more: ["post_cascade_response_with_transcript"],
    parameters: ["agentcli", "log"],
    choices: { log: ["home", "project"] },
    guard: false,
    showOutput: false,
  },
  "setup-worktree": {
    brief: "copies what a new worktree needs",
    events: ["post_setup_worktree"],
    parameters: ["agentcli", "copy"],
    guard: false,
    showOutput: true,
  },
  "format-on-write": {
    brief: "runs a formatter on each written file",
    events: ["post_write_code"],
    more: ["post_read_code"],
    parameters: ["agentcli", "formatter"],
    guard: false,
    showOutput: false,
  },
  "session-note": {
    brief: "adds the assistant's answers to a file of notes",
    events: ["post_cascade_response"],
    more: ["post_cascade_response_with_transcript"],
    parameters: ["agentcli", "file"],
    guard: false,
    showOutput: false,
  },
};

/** Returns whether a scaffold has something to do on an event. */
export function isFor(id: ScaffoldId, event: HookEvent): boolean {
  const { events, more = [] } = SCAFFOLDS[id];
  return events.includes(event) || more.includes(event);
}
