/** Declares Glob to the model: all that a session needs of the tool before its first call. */
import type { ToolDeclaration } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

/** Arguments of a call. */
export interface GlobInput {
  pattern: string;
  /** Directory to search; the working directory when absent. */
  path?: string;
}

/** The name, the prompt and the parameters. */
export const globDeclaration: ToolDeclaration<GlobInput> = {
  name: "Glob",
  description: prompt.trim(),
  parameters: {
    type: "object",
    properties: { pattern: { type: "string" }, path: { type: "string" } },
    required: ["pattern"],
  },
  kind: "read",
  subject: (input) => input.pattern,
};
