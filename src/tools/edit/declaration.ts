/** Declares Edit to the model: all that a session needs of the tool before its first call. */
import type { ToolDeclaration } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

/** Arguments of a call. */
export interface EditInput extends Partial<EditPart> {
  file_path: string;
  replace_all?: boolean;
  /** Several changes of one file, all or none. */
  edits?: EditPart[];
  /** The lines to replace, where old_string is not found; from one before the first on, nothing is replaced. */
  start_line?: number;
  end_line?: number;
  /** How often old_string stands in the file, where all of them are meant. */
  expected_replacements?: number;
}

/** One change. In a list, an empty `old_string` stands for the end of the file. */
export interface EditPart {
  old_string: string;
  new_string: string;
  /** A line before the place, where old_string stands in several. */
  after?: string;
}

const string = { type: "string" } as const;

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
      replace_all: { type: "boolean" },
    },
    required: ["file_path", "old_string", "new_string"],
  },
  taken: {
    properties: {
      edits: {
        type: "array",
        items: {
          type: "object",
          properties: { old_string: string, new_string: string, after: string },
          required: ["old_string", "new_string"],
        },
      },
      start_line: { type: "integer" },
      end_line: { type: "integer" },
      expected_replacements: { type: "integer" },
    },
    instead: [["file_path", "edits"], ["file_path", "new_string", "start_line", "end_line"]],
  },
  kind: "write",
  subject: (input) => input.file_path,
};
