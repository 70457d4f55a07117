/** The hooks that come with the program. */
import type { HookEvent } from "./events.ts";

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
  /** Those that it is installed on when nobody names others. */
  events: readonly HookEvent[];
  /** Further events that tell it what it has to know. */
  more?: readonly HookEvent[];
  /** The parameters at the top of its scripts, by the name in bash; in PowerShell in camel case. */
  parameters: readonly string[];
  /** Of parameters that take only certain values: those. */
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
