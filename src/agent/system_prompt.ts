/** The system message of a session, and how much of it a small window gets. */
import { byteLength } from "../platform/text.ts";
import { everyTool, type Profile, profileTools, toolSchemas, withBackground } from "../tools/registry.ts";
import { highestLabel, type Label } from "../boundary/policy/label.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { promptProtocol } from "../provider/text_calls/prompt.ts";
import type { UsedFiles } from "../session/item.ts";
import { dirname, isWithin, join, relativeTo } from "../platform/path.ts";
import EXPLORE from "./explore_prompt.md" with { type: "text" };
import DEFAULT from "./system_prompt.md" with { type: "text" };
import PLAIN from "./system_prompt_plain.md" with { type: "text" };
import SMALL from "./system_prompt_small.md" with { type: "text" };

/** Largest window, in tokens, that gets the small profile. */
const SMALL_WINDOW = 8192;

/** The small profile for a window that is known to be small; the default one fits into what is assumed of others. */
export function profileFor(window: number | undefined): Profile {
  return window !== undefined && window <= SMALL_WINDOW ? "small" : "default";
}

/** The fixed text: by profile, or `plain` for a session without tools. */
const TEXTS = { default: DEFAULT, small: SMALL, plain: PLAIN } as const;

/** Words of requests besides these texts and the tools. */
const WIRE_WORDS = "messages assistant reasoning_content image_url tool_calls tool_call_id arguments temperature";

/** Returns all that agentcli itself tells models, of whatever session. */
export function ownTexts(): string[] {
  const tools = everyTool();
  const forms = [withBackground(tools), profileTools(tools, { profile: "small", edit: "replace", named: true })];
  const schemas = forms.map(toolSchemas);
  return [
    ...Object.values(TEXTS),
    EXPLORE,
    WIRE_WORDS,
    ...schemas.flatMap((one) => [JSON.stringify(one), promptProtocol(one)]),
  ];
}

/** Most bytes taken of one instruction file; what is cut is said in the prompt. */
const INSTRUCTION_LIMIT = 12_000;
const SMALLEST_INSTRUCTION = 1000;

/** The system message with its parts, for the breakdown. */
export interface SystemPrompt {
  text: string;
  label: Label;
  /** The instruction files in it, as the workspace names them. */
  files: UsedFiles;
  /** Name and bytes of each part, in order. */
  parts: { name: string; bytes: number }[];
}

/** Texts of the caller that replace or extend it (`--system-prompt`, `--append-system-prompt`). */
interface SystemPromptOptions {
  replace?: string | undefined;
  append?: string | undefined;
  os: string;
  text: keyof typeof TEXTS;
  /** Tokens, where it is known: small windows take less of instruction files. */
  window?: number | undefined;
}

/**
 * Builds the system message. It holds nothing that changes between requests (no clock, no counters), so that a server
 * can keep its prompt cache. Instruction files come through the workspace and raise the label.
 */
export async function buildSystemPrompt(workspace: Workspace, options: SystemPromptOptions): Promise<SystemPrompt> {
  const base = options.replace ?? `${TEXTS[options.text].trimEnd()}\n\nProject root: ${workspace.root} (${options.os})`;
  const texts: Instructions[] = [{ name: "system", text: base, label: "open" }];
  if (options.replace === undefined) texts.push(...await readInstructions(workspace, instructionLimit(options.window)));
  if (options.append !== undefined) texts.push({ name: "--append-system-prompt", text: options.append, label: "open" });
  return {
    text: texts.map((part) => part.text).join("\n\n"),
    label: highestLabel(texts.map((part) => part.label)),
    files: workspace.takeUsed(),
    parts: texts.map((part) => ({ name: part.name, bytes: byteLength(part.text) })),
  };
}

/** `AGENTS.md` from the root down to the working directory, and the root's `.ide-rules` (seed §2.4). */
function instructionPaths(workspace: Workspace): string[] {
  const directories: string[] = [];
  if (isWithin(workspace.root, workspace.cwd)) {
    for (let at = workspace.cwd; at !== workspace.root; at = dirname(at)) directories.unshift(at);
  }
  const found = [workspace.root, ...directories].map((directory) => join(directory, "AGENTS.md"));
  return [...found, join(workspace.root, ".ide-rules")];
}

/** An eighth of the window for one file, at four bytes a token. */
function instructionLimit(window: number | undefined): number {
  if (window === undefined) return INSTRUCTION_LIMIT;
  return Math.min(Math.max(Math.floor(window / 2), SMALLEST_INSTRUCTION), INSTRUCTION_LIMIT);
}

export interface Instructions {
  name: string;
  text: string;
  label: Label;
}

async function readInstructions(workspace: Workspace, limit: number): Promise<Instructions[]> {
  const found: Instructions[] = [];
  for (const path of instructionPaths(workspace)) {
    found.push(...await readInstructionFile(workspace, path, { limit }));
  }
  const rules = await workspace.resolve(join(workspace.root, ".ide/rules"));
  if ("refused" in rules || await workspace.status(rules) === null) return found;
  const { readAlwaysOnRules } = await import("./always_on_rules.ts");
  return [...found, ...await readAlwaysOnRules(workspace, { directory: rules, limit })];
}

/** Reads one instruction file; `bodyOf` takes from its text what counts. */
export async function readInstructionFile(
  workspace: Workspace,
  path: string,
  { limit, bodyOf = (text) => text }: { limit: number; bodyOf?: (text: string) => string },
): Promise<Instructions[]> {
  const resolved = await workspace.resolve(path);
  if ("refused" in resolved) return [];
  const content = workspace.peek(resolved, { limit });
  if ("refused" in content) return [];
  const name = relativeTo(workspace.root, path);
  const text = bodyOf(new TextDecoder().decode(content.bytes)).trim();
  if (text === "") return [];
  workspace.noteUsed({ path: resolved.path, real: content.real });
  const cut = content.more ? `\n[cut after ${limit} bytes; read ${name} for the rest]` : "";
  return [{ name, text: `Instructions from ${name}:\n${text}${cut}`, label: content.label }];
}
