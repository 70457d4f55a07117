/**
 * Which tools a session is offered, by the room there is. The small profile has fewer tools, shorter prompt texts and no
 * rare parameters; names of tools and arguments are the same. Source: specification of the session engine (system prompt
 * and tool schemas together: 1,000 tokens by default, 400 for windows up to 8k).
 */
import bash from "./bash/prompt_small.md" with { type: "text" };
import edit from "./edit/prompt_small.md" with { type: "text" };
import grep from "./grep/prompt_small.md" with { type: "text" };
import read from "./read/prompt_small.md" with { type: "text" };
import type { ParameterSchema, Tool } from "./tool.ts";
import write from "./write/prompt_small.md" with { type: "text" };

/** How much a session is told. */
export type Profile = "default" | "small";

/** Tool → its short prompt text and the parameters that the small profile has. */
const SMALL: Readonly<Record<string, { description: string; parameters: readonly string[] }>> = {
  Read: { description: read, parameters: ["file_path", "offset", "limit"] },
  Write: { description: write, parameters: ["file_path", "content"] },
  Edit: { description: edit, parameters: ["file_path", "old_string", "new_string"] },
  Grep: { description: grep, parameters: ["pattern", "glob"] },
  Bash: { description: bash, parameters: ["command"] },
};

/** What decides besides the tools themselves. */
export interface ProfileOptions {
  profile: Profile;
  /** `edit:` of the model: one that cannot edit by replacing writes whole files. */
  edit: "replace" | "whole";
  /** The user named the tools: none is left out. */
  named: boolean;
}

/** The tools in the form of the profile, in the order given. */
export function profileTools(tools: readonly Tool[], options: ProfileOptions): Tool[] {
  const { profile, named } = options;
  const whole = options.edit === "whole" && tools.some((tool) => tool.name === "Write");
  const kept = tools.filter((tool) => {
    if (named) return true;
    if (whole && tool.name === "Edit") return false;
    return profile === "default" || tool.name in SMALL;
  });
  // The short text of Write does not send the model to Edit.
  return kept.map((tool) => profile === "small" || (whole && tool.name === "Write") ? small(tool) : tool);
}

function small(tool: Tool): Tool {
  const form = SMALL[tool.name];
  if (form === undefined) return tool;
  const parameters: ParameterSchema = { ...tool.parameters, properties: {} };
  for (const name of form.parameters) {
    const { description: _, ...parameter } = tool.parameters.properties?.[name] ?? {};
    parameters.properties = { ...parameters.properties, [name]: parameter };
  }
  return { ...tool, description: form.description.trim(), parameters };
}
