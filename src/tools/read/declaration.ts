/** Declares Read to the model: all that a session needs of the tool before its first call. */
import type { ToolDeclaration } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

/** Arguments of a call. */
export interface ReadInput {
  file_path: string;
  /** First line, from 1. */
  offset?: number;
  /** Most lines. */
  limit?: number;
}

/** The name, the prompt and the parameters. */
export const readDeclaration: ToolDeclaration<ReadInput> = {
  name: "Read",
  description: prompt.trim(),
  parameters: {
    type: "object",
    properties: {
      file_path: { type: "string" },
      offset: { type: "integer", description: "first line, from 1" },
      limit: { type: "integer" },
    },
    required: ["file_path"],
  },
  kind: "read",
  subject: (input) => input.file_path,
};
