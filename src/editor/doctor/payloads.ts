/** What hooks are given when they are tried: one input for each event. */
import type { HookEvent } from "../events.ts";

/** What an input speaks of. */
export interface Touched {
  path: string;
  /** It is to pass: a command on it is in the form that every guard takes. */
  harmless: boolean;
  /** The project of the trial. */
  directory: string;
  /** The worktree that was made, and what it was made from. */
  worktree: string;
  workspace: string;
}

function toolInfo(
  event: HookEvent,
  { path, harmless, directory, worktree, workspace }: Touched,
): Record<string, unknown> {
  switch (event) {
    case "pre_read_code":
    case "post_read_code":
      return { file_path: path };
    case "pre_write_code":
    case "post_write_code":
      return { file_path: path, edits: [{ old_string: "one", new_string: "two" }] };
    case "pre_run_command":
    case "post_run_command":
      return { command_line: `${harmless ? "agentcli sandbox -- " : ""}cat '${path}'`, cwd: directory };
    case "pre_mcp_tool_use":
      return { mcp_server_name: "files", mcp_tool_name: "read_file", mcp_tool_arguments: { path } };
    case "post_mcp_tool_use":
      return { mcp_server_name: "files", mcp_tool_name: "read_file", mcp_tool_arguments: { path }, mcp_result: "[]" };
    case "pre_user_prompt":
      return { user_prompt: `explain "${path}"` };
    case "post_cascade_response":
      // Empty, so that a hook which keeps answers keeps none of a trial.
      return { response: "" };
    case "post_cascade_response_with_transcript":
      return { transcript_path: `${directory}/transcript.jsonl` };
    case "post_setup_worktree":
      return { worktree_path: worktree, root_workspace_path: workspace };
  }
}

/** The input of an event, as the editor writes it. */
export function payloadOf(event: HookEvent, touched: Touched): string {
  return JSON.stringify({
    agent_action_name: event,
    trajectory_id: "00000000-0000-4000-8000-000000000001",
    execution_id: "00000000-0000-4000-8000-000000000002",
    timestamp: "2026-01-01T00:00:00.000Z",
    tool_info: toolInfo(event, touched),
  });
}
