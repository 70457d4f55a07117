/**
 * Commands of a project: its workflows and skills, as the editors keep them. None of them runs by itself.
 */
import { utf8Text } from "../../../platform/text.ts";
import { highestLabel, type Label } from "../../../boundary/policy/label.ts";
import type { ResolvedPath, Workspace } from "../../../boundary/workspace/workspace.ts";
import { DIALECT_IDS, DIALECTS } from "../../../editor/dialect.ts";
import { fieldText, readFrontmatter } from "../../../editor/resources/markdown.ts";
import { nameProblem, skillNameProblem } from "../../../editor/limits.ts";
import { AgentcliError } from "../../../errors.ts";
import { join } from "../../../platform/path.ts";
import { clean } from "../../../terminal/clean.ts";
import { type CommandSource, CUSTOM, isTaken } from "./typed_line.ts";

/** Largest file that is sent, in bytes: the editors take 12,000 characters of a workflow. */
const FILE_LIMIT = 64 * 1024;
/** Most commands that are listed; the rest of a project that has more is left out. */
const MOST_COMMANDS = 200;
/** Longest description that is shown, in characters. */
const BRIEF_LIMIT = 100;

interface CustomCommand {
  name: string;
  kind: "workflow" | "skill";
  /** Where its text is. */
  file: ResolvedPath;
}

/**
 * The commands of the project by name: workflows before skills, and of one name the first in the order of the
 * dialects. Names that are taken or invalid, or whose file cannot be reached, are left out. Reads no file.
 */
export async function customCommands({ workspace }: CommandSource): Promise<CustomCommand[]> {
  const dialects = DIALECT_IDS.map((id) => DIALECTS[id]);
  const directories = dialects.map((dialect) => dialect.projectDirectory);
  const skills = [
    ...directories.map((directory) => `${directory}/skills`),
    ...dialects.flatMap((dialect) => dialect.skillDirectories),
  ];
  const found = new Map<string, CustomCommand>();
  for (const directory of directories) {
    for (const entry of await namesIn(`${directory}/workflows`, workspace)) {
      const name = entry.endsWith(".md") ? entry.slice(0, -3) : "";
      if (nameProblem(name) !== null) continue;
      await add({ name, kind: "workflow", path: `${directory}/workflows/${entry}` }, { found, workspace });
    }
  }
  for (const directory of new Set(skills)) {
    for (const name of await namesIn(directory, workspace)) {
      if (skillNameProblem(name) !== null) continue;
      await add({ name, kind: "skill", path: `${directory}/${name}/SKILL.md` }, { found, workspace });
    }
  }
  return [...found.values()].sort((one, other) => one.name < other.name ? -1 : 1);
}

/** One line of a command's description, safe to show; `[no-cloud]` for one that may not be read here. */
export function briefOf({ file, kind }: CustomCommand, source: CommandSource): string {
  if (source.readDenied(file) !== null) return "[denied]";
  // Listed, but in no prompt: not used.
  const content = source.workspace.peek(file, { limit: FILE_LIMIT });
  if ("refused" in content) return content.refused === "protected" ? "[no-cloud]" : "[unreadable]";
  // Clients of a protocol store what they are sent.
  if (content.label !== "open") return "[no-cloud]";
  const text = new TextDecoder().decode(content.bytes);
  const brief = (fieldText(readFrontmatter(text), "description") ?? "").replace(/\s+/g, " ").trim();
  const shown = clean([...brief].slice(0, BRIEF_LIMIT).join(""));
  return shown === "" ? `a ${kind} of the project` : shown;
}

/**
 * The prompt for a line that begins with a command of the project: the text of its file, with what was typed
 * after its name; null for any other line. Throws `policy_refused` for a protected file, `permission_denied` where a
 * deny rule of Read covers it, `usage` for one that cannot be sent.
 */
export async function readCustom(
  line: string,
  source: CommandSource,
): Promise<{ text: string; label: Label; from: string } | null> {
  const [, word = "", typed = ""] = CUSTOM.exec(line.trim()) ?? [];
  const command = (await customCommands(source)).find(({ name }) => name === word);
  if (command === undefined) return null;
  const { workspace, readDenied } = source;
  const { file, kind } = command;
  const argument = typed.trim();
  const rule = readDenied(file);
  if (rule !== null) {
    throw new AgentcliError("permission_denied", `/${command.name}: the rule ${rule} denies reading it`, {
      hint: "take the rule out of permissions.deny or --disallowed-tools",
    });
  }
  const content = await workspace.read(file, { limit: FILE_LIMIT });
  if ("refused" in content) {
    throw new AgentcliError(content.refused === "protected" ? "policy_refused" : "usage", content.message);
  }
  if (content.more) throw unusable(command, `it is larger than ${FILE_LIMIT / 1024} KiB`);
  const text = utf8Text(content.bytes);
  if (text === null) throw unusable(command, "it is not UTF-8 text");
  const body = readFrontmatter(text).body.trim();
  if (body === "") throw unusable(command, "it is empty");
  const parts = [
    body,
    ...kind === "skill" ? [`Files that this names lie beside ${file.display}.`] : [],
    ...argument === "" ? [] : [`Arguments: ${argument}`],
  ];
  return { text: parts.join("\n\n"), label: highestLabel([content.label]), from: file.display };
}

async function namesIn(directory: string, workspace: Workspace): Promise<string[]> {
  const resolved = await workspace.resolve(join(workspace.root, directory));
  if ("refused" in resolved) return [];
  const entries = await workspace.list(resolved);
  return "refused" in entries ? [] : entries.map(({ name }) => name);
}

async function add(
  { name, kind, path }: { name: string; kind: CustomCommand["kind"]; path: string },
  { found, workspace }: { found: Map<string, CustomCommand>; workspace: Workspace },
): Promise<void> {
  // A project's command never replaces one that people know.
  if (isTaken(name) || found.has(name) || found.size >= MOST_COMMANDS) return;
  const file = await workspace.resolve(join(workspace.root, path));
  if ("refused" in file || (await workspace.status(file))?.kind !== "file") return;
  found.set(name, { name, kind, file });
}

function unusable({ name, file }: CustomCommand, reason: string): AgentcliError {
  return new AgentcliError("usage", `/${name} cannot be sent: ${reason} (${file.display})`);
}
