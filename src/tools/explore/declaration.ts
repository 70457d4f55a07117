/** Declares Explore to the model: all that a session needs of the tool before its first call. */
import type { ToolDeclaration } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

/** Arguments of a call. */
export interface ExploreInput {
  task: string;
}

/** The name, the prompt and the parameters. Not of kind `read`: a local model does one thing after the other. */
export const exploreDeclaration: ToolDeclaration<ExploreInput> = {
  name: "Explore",
  description: prompt.trim(),
  parameters: { type: "object", properties: { task: { type: "string" } }, required: ["task"] },
  kind: "note",
  subject: (input) => input.task,
};
