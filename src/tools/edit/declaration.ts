/** Declares Edit to the model: all that a session needs of the tool before its first call. */
import type { ToolDeclaration } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

/** Arguments of a call. */
export interface EditInput {
  file_path: string;
  old_string: string;
  new_string: string;
  replace_all?: boolean;
}

/** The name, the prompt and the parameters. */
export const editDeclaration: ToolDeclaration<EditInput> = {
  name: "Edit",
  description: prompt.trim(),
  parameters: {
    type: "object",
    properties: {
      file_path: { type: "string" },
      old_string: { type: "string" },
      new_string: { type: "string" },
      replace_all: { type: "boolean", description: "replace every occurrence" },
    },
    required: ["file_path", "old_string", "new_string"],
  },
  kind: "write",
  subject: (input) => input.file_path,
};
