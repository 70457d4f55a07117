/** Declares Bash to the model: all that a session needs of the tool before its first call. */
import type { ToolDeclaration } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

/** Arguments of a call. */
export interface BashInput {
  command: string;
  /** Milliseconds. */
  timeout?: number;
  /** Declared only beside BashOutput. */
  background?: boolean;
}

/** The name, the prompt and the parameters. */
export const bashDeclaration: ToolDeclaration<BashInput> = {
  name: "Bash",
  description: prompt.trim(),
  parameters: {
    type: "object",
    properties: {
      command: { type: "string" },
      timeout: { type: "integer", description: "ms, at most 600000" },
    },
    required: ["command"],
  },
  kind: "execute",
  subject: (input) => input.command,
};
