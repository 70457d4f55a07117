/** What an assistant is about to do, whatever its editor calls it: what the guard decides about. */
import { stringsOf } from "../../platform/record.ts";
import { type HookInput, optionalField, textField } from "../hooks/events.ts";

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
  /** A prompt: also a name in it counts, because the editor may add the file. */
  | { kind: "prompt"; text: string }
  /** Texts that go to the model. */
  | { kind: "texts"; texts: readonly string[] };

/** What a hook asks: may all of these be done? */
export interface Question {
  actions: readonly Action[];
  /** Where the actions run; null where the input does not say. */
  cwd: string | null;
}

/** Returns what the input of an editor's hook asks. Throws `usage` where a field is missing. */
export function questionOf(input: HookInput): Question {
  return { actions: [actionOf(input)], cwd: optionalField(input, "cwd") };
}

function actionOf(input: HookInput): Action {
  const { info } = input;
  switch (input.event) {
    case "pre_read_code":
    case "post_read_code":
      return { kind: "read", path: textField(input, "file_path") };
    case "pre_write_code":
    case "post_write_code":
      return { kind: "write", path: textField(input, "file_path"), texts: [...stringsOf(info.edits)] };
    case "pre_run_command":
    case "post_run_command":
      return { kind: "command", line: textField(input, "command_line"), given: info };
    case "pre_mcp_tool_use":
    case "post_mcp_tool_use":
      return {
        kind: "tool",
        server: info.mcp_server_name,
        name: info.mcp_tool_name,
        given: info.mcp_tool_arguments,
      };
    case "pre_user_prompt":
      return { kind: "prompt", text: textField(input, "user_prompt") };
    default:
      return { kind: "texts", texts: [...stringsOf(info)] };
  }
}
