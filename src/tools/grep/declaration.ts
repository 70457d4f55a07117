/** Declares Grep to the model: all that a session needs of the tool before its first call. */
import type { ToolDeclaration } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

/** The forms of a result. */
const OUTPUT_MODES = ["content", "files_with_matches", "count"] as const;
export type OutputMode = typeof OUTPUT_MODES[number];

/** Arguments of a call. */
export interface GrepInput {
  pattern: string;
  /** File or directory; the working directory when absent. */
  path?: string;
  /** Pattern of the files, by name or path below `path`. */
  glob?: string;
  output_mode?: OutputMode;
  /** Lines shown before and after each match. */
  context?: number;
}

/** The name, the prompt and the parameters. */
export const grepDeclaration: ToolDeclaration<GrepInput> = {
  name: "Grep",
  description: prompt.trim(),
  parameters: {
    type: "object",
    properties: {
      pattern: { type: "string" },
      path: { type: "string", description: "file or directory" },
      glob: { type: "string", description: "only these files, e.g. *.ts" },
      output_mode: { type: "string", enum: [...OUTPUT_MODES] },
      context: { type: "integer", description: "lines around a match" },
    },
    required: ["pattern"],
  },
  kind: "read",
  subject: (input) => input.pattern,
};
