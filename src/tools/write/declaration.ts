/** Declares Write to the model: all that a session needs of the tool before its first call. */
import type { ToolDeclaration } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

/** Arguments of a call. */
export interface WriteInput {
  file_path: string;
  content: string;
}

/** The name, the prompt and the parameters. */
export const writeDeclaration: ToolDeclaration<WriteInput> = {
  name: "Write",
  description: prompt.trim(),
  parameters: {
    type: "object",
    properties: { file_path: { type: "string" }, content: { type: "string" } },
    required: ["file_path", "content"],
  },
  kind: "write",
  subject: (input) => input.file_path,
};
