/** All tools, and which of them a model gets. */
import { loadedLater, MCP_CALL, MCP_FIND, type Tool } from "./tool.ts";
import { didYouMean } from "../config/suggest.ts";
import { AgentcliError } from "../errors.ts";
import type { PlainSchema } from "../mcp/signature.ts";
import type { ToolSchema } from "../provider/types.ts";
import {
  bashDeclaration,
  bashOutputDeclaration,
  editDeclaration,
  exploreDeclaration,
  gitDeclaration,
  globDeclaration,
  grepDeclaration,
  readDeclaration,
  todoWriteDeclaration,
  writeDeclaration,
} from "./declarations.ts";
import type { Rule } from "./permission_rule.ts";
import bash from "./bash/prompt_small.md" with { type: "text" };
import edit from "./edit/prompt_small.md" with { type: "text" };
import grep from "./grep/prompt_small.md" with { type: "text" };
import read from "./read/prompt_small.md" with { type: "text" };
import write from "./write/prompt_small.md" with { type: "text" };

export type Profile = "default" | "small";

/** Tool → its short prompt text and the parameters that the small profile has. */
const SMALL: Readonly<Record<string, { description: string; parameters: readonly string[] }>> = {
  Read: { description: read, parameters: ["file_path", "offset", "limit"] },
  Write: { description: write, parameters: ["file_path", "content"] },
  Edit: { description: edit, parameters: ["file_path", "old_string", "new_string"] },
  Grep: { description: grep, parameters: ["pattern", "glob"] },
  Bash: { description: bash, parameters: ["command"] },
};

export interface ProfileOptions {
  profile: Profile;
  /** `edit:` of the model: one that cannot edit by replacing writes whole files. */
  edit: "replace" | "whole";
  /** The user named the tools: all of them stay. */
  named: boolean;
}

/** The tools in the form of the profile, in the order given. */
export function profileTools(tools: readonly Tool[], { profile, edit, named }: ProfileOptions): Tool[] {
  const whole = edit === "whole" && tools.some((tool) => tool.name === "Write");
  const isOffered = ({ name }: Tool) => !(whole && name === "Edit") && (profile === "default" || name in SMALL);
  const kept = named ? tools : tools.filter(isOffered);
  // The short text of Write does not send the model to Edit.
  return kept.map((tool) => profile === "small" || (whole && tool.name === "Write") ? small(tool) : tool);
}

function small(tool: Tool): Tool {
  const form = SMALL[tool.name];
  if (form === undefined) return tool;
  const parameters: PlainSchema = { ...tool.parameters, properties: {} };
  for (const name of form.parameters) {
    const { description: _, ...parameter } = tool.parameters.properties?.[name] ?? {};
    parameters.properties = { ...parameters.properties, [name]: parameter };
  }
  return { ...tool, description: form.description.trim(), parameters };
}

/** The tools that not every session has: `git` where commands may not see `.git`, the others where there is room. */
type BuiltinOptions = Partial<Record<"git" | "explore" | "background", boolean>>;

/** Returns the built-in tools, always in this order for a stable prefix. */
export function builtinTools({ git = false, explore = false, background = false }: BuiltinOptions = {}): Tool[] {
  return [
    loadedLater(readDeclaration, async () => (await import("./read/tool.ts")).readTool),
    loadedLater(writeDeclaration, async () => (await import("./write/tool.ts")).writeTool),
    loadedLater(editDeclaration, async () => (await import("./edit/tool.ts")).editTool),
    loadedLater(globDeclaration, async () => (await import("./glob/tool.ts")).globTool),
    loadedLater(grepDeclaration, async () => (await import("./grep/tool.ts")).grepTool),
    loadedLater(bashDeclaration, async () => (await import("./bash/tool.ts")).bashTool),
    loadedLater(todoWriteDeclaration, async () => (await import("./todo_write/tool.ts")).todoWriteTool),
    git && loadedLater(gitDeclaration, async () => (await import("./git/tool.ts")).gitTool),
    background &&
    loadedLater(bashOutputDeclaration, async () => (await import("./bash_output/tool.ts")).bashOutputTool),
    explore && loadedLater(exploreDeclaration, async () => (await import("./explore/tool.ts")).exploreTool),
  ].filter((tool) => tool !== false);
}

/** Every tool: a rule may be written for all sessions, and a session without the tool can do without the rule. */
export function everyTool(): Tool[] {
  return builtinTools({ git: true, explore: true, background: true });
}

/**
 * The tools of a session, in the order given: `only` these (all when absent), `without` those. Names are matched in any
 * letter case. Throws `usage` for a name that no tool has.
 */
export function selectTools(
  tools: Tool[],
  options: { only?: readonly string[]; without?: readonly string[] },
): Tool[] {
  const { only: wanted, without: unwanted = [] } = options;
  if (wanted === undefined && unwanted.length === 0) return tools;
  const named = (list: readonly string[], among = tools) =>
    new Set(list.filter((name) => !isOfServer(name)).map((name) => toolNamed(name, among).name));
  const only = wanted === undefined ? null : named(wanted);
  const without = named(unwanted, [...tools, ...everyTool()]);
  return tools.filter(({ name }) => only?.has(name) !== false && !without.has(name));
}

/** Returns whether a name is that of a tool of an MCP server, or one of those by which they are found and called. */
export function isOfServer(name: string): boolean {
  const wanted = name.trim().toLowerCase();
  return wanted.startsWith("mcp__") || [MCP_FIND, MCP_CALL].some((known) => known.toLowerCase() === wanted);
}

/**
 * The rules of `texts`. Throws `usage` for a malformed one, and for the name of a tool that does not exist: a rule that
 * denies nothing is worse than none. Tools of other servers (`mcp__…`) may come later.
 */
export async function readRules(texts: readonly string[]): Promise<Rule[]> {
  if (texts.length === 0) return [];
  const tools = everyTool();
  for (const text of texts) {
    // The name first: what is wrong with the pattern depends on the tool.
    const name = /^[A-Za-z][\w-]*/.exec(text.trim())?.[0];
    if (name !== undefined && !isOfServer(name)) toolNamed(name, tools);
  }
  // Most sessions have none.
  const { parseRules } = await import("./permission_rule.ts");
  return parseRules(texts);
}

function toolNamed(name: string, tools: readonly Tool[]): Tool {
  const wanted = name.trim().toLowerCase();
  const found = tools.find((tool) => tool.name.toLowerCase() === wanted);
  if (found !== undefined) return found;
  const names = tools.map((tool) => tool.name);
  throw new AgentcliError("usage", `there is no tool ${JSON.stringify(name.slice(0, 100))}`, {
    hint: didYouMean(wanted, names) ?? `tools: ${names.join(", ")}`,
  });
}

/** The tools with background commands where their output can be read: Bash gets one more parameter. */
export function withBackground(tools: Tool[]): Tool[] {
  if (!tools.some(({ name }) => name === "BashOutput")) return tools;
  return tools.map((tool) => {
    if (tool.name !== "Bash") return tool;
    const properties = { ...tool.parameters.properties, background: { type: "boolean" } as const };
    return { ...tool, parameters: { ...tool.parameters, properties } };
  });
}

/** Returns the schemas for a request, byte for byte the same for the same tools. */
export function toolSchemas(tools: Tool[]): ToolSchema[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description: description.trim(), parameters: { ...parameters } },
  }));
}
