/** Declares BashOutput to the model: all that a session needs of the tool before its first call. */
import type { ToolDeclaration } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

/** Arguments of a call. */
export interface BashOutputInput {
  /** As Bash named it. */
  id: string;
  end?: boolean;
}

/** The name, the prompt and the parameters. */
export const bashOutputDeclaration: ToolDeclaration<BashOutputInput> = {
  name: "BashOutput",
  description: prompt.trim(),
  parameters: {
    type: "object",
    properties: { id: { type: "string" }, end: { type: "boolean" } },
    required: ["id"],
  },
  kind: "note",
  mayRepeat: true,
  subject: (input) => input.end === true ? `end ${input.id}` : input.id,
};
