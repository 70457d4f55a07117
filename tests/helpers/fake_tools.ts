/** Picks among the tools a client offers by what they can do, so that a test does not depend on their names. */
import type { Capability, PlannedCall, Wanted } from "./fake_steps.ts";

/** A tool as a client offers it. */
export interface OfferedTool {
  name: string;
  description: string;
  parameters: Record<string, { type?: string }>;
  required: string[];
}

const NAMES: Record<Capability, RegExp> = {
  read: /^(read|view|cat|open)/i,
  list: /^(glob|list|ls|find)/i,
  grep: /^(grep|search|rg)/i,
  shell: /^(bash|shell|exec|run|powershell)/i,
  write: /^(write|create)/i,
  edit: /^(edit|str_replace|replace|patch)/i,
};

const PARAMETERS: Record<keyof Wanted, RegExp> = {
  path: /^(file_path|path|file|filename|directory|dir)$/i,
  pattern: /^(pattern|regex|query)$/i,
  command: /^(command|cmd|script)$/i,
  content: /^(content|contents|text)$/i,
  old: /^(old_string|old_str|old|search)$/i,
  new: /^(new_string|new_str|new|replace)$/i,
};

/** The tools of a request's body; empty when there are none or they cannot be read. */
export function offeredTools(body: unknown): OfferedTool[] {
  const tools = (body as { tools?: unknown } | null)?.tools;
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool) => {
    const declared = tool?.function;
    if (typeof declared?.name !== "string") return [];
    return [{
      name: declared.name,
      description: String(declared.description ?? ""),
      parameters: declared.parameters?.properties ?? {},
      required: declared.parameters?.required ?? [],
    }];
  });
}

function inputOf(tool: OfferedTool, wanted: Wanted): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(wanted)) {
    const parameter = Object.keys(tool.parameters).find((name) => PARAMETERS[key as keyof Wanted].test(name));
    if (parameter !== undefined) input[parameter] = value;
  }
  return input;
}

/** The tool and input for a call; null when no offered tool has the capability. A named call is taken as it is. */
export function pick(call: PlannedCall, tools: readonly OfferedTool[]): { name: string; input: string } | null {
  if ("name" in call) {
    return { name: call.name, input: typeof call.input === "string" ? call.input : JSON.stringify(call.input) };
  }
  const matching = NAMES[call.capability];
  const tool = tools.find((offered) => matching.test(offered.name));
  return tool ? { name: tool.name, input: JSON.stringify(inputOf(tool, call.wanted)) } : null;
}
