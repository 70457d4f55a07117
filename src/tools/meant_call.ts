/** A call as a model wrote it, in the names and forms that it was trained on, as the call of a tool here. */
import { meantTool, plainToolName } from "../provider/trained_names.ts";
import { isPatch, type Patch, readPatch } from "./edit/patch.ts";
import { shownName } from "./file_names.ts";
import { meantPath, meantPattern } from "./meant_path.ts";
import type { Tool, ToolContext } from "./tool.ts";

/** The parameters that hold the path of a call, by tool. */
const PATHS: Readonly<Record<string, string>> = {
  Read: "file_path",
  Write: "file_path",
  Edit: "file_path",
  Glob: "path",
  Grep: "path",
};

/** The arguments of a checked call, where a path that leads nowhere means one of the project, and what the model is told. */
export async function pathInProject(
  { tool, value }: { tool: string; value: Input },
  context: Pick<ToolContext, "workspace" | "signal">,
): Promise<{ value: Input; note: string | null }> {
  const name = PATHS[tool];
  if (name === undefined) return { value, note: null };
  const { [name]: path, pattern } = value;
  const meant = typeof path === "string" ? await meantPath(path, context) : null;
  const below = tool === "Glob" && typeof pattern === "string" ? await meantPattern(pattern, context) : null;
  if (meant === null && below === null) return { value, note: null };
  const taken = { ...value, ...meant === null ? {} : { [name]: meant }, ...below === null ? {} : { pattern: below } };
  const note = `[${shownName(String(meant === null ? pattern : path))} is not there; taken as ${meant ?? below}]`;
  return { value: taken, note };
}

/** The tool and its arguments, or what the model is told instead. */
type MeantCall = { tool: Tool; input: Record<string, unknown> } | { problem: string };

type Input = Record<string, unknown>;

/** The call that is meant; null when no tool of the session is. */
export function meantCall({ name, input }: { name: string; input: Input }, tools: readonly Tool[]): MeantCall | null {
  const meant = meantTool(name, tools.map((tool) => tool.name));
  if (meant === null) return null;
  const shaped = SHAPES[meant]?.(input, plainToolName(name)) ?? { name: meant, input };
  if ("problem" in shaped) return shaped;
  const tool = tools.find((one) => one.name === shaped.name);
  return tool === undefined ? null : { tool, input: shaped.input };
}

/** Another tool or other arguments; null for a call that is good as it is. */
type Shaped = { name: string; input: Input } | { problem: string } | null;

/** Tool → what else its calls can mean. `plain` is the name that the model used. */
const SHAPES: Readonly<Record<string, (input: Input, plain: string) => Shaped>> = {
  Read: shapeRead,
  Edit: (input) => shapeEditor(input) ?? shapePatch(input) ?? shapeList(input),
  Bash: shapeCommand,
};

/** First and last line become an offset and a number of lines; what lists a directory lists the project. */
function shapeRead(input: Input, plain: string): Shaped {
  const { view_range: range, offset, limit, ...rest } = input;
  const [from, to] = Array.isArray(range)
    ? range
    : [rest.start_line ?? rest.line_start ?? offset, rest.end_line ?? rest.line_end];
  const [first, last] = [Number(from ?? 1), Number(to)];
  const lines = to === undefined || to === null || !(last >= first) ? limit : last - first + 1;
  const given = Object.keys(rest).length > 0 || !/^(?:list|ls|dir)/.test(plain) ? rest : { file_path: "." };
  if (range === undefined && to === undefined && given === rest) return null;
  const { start_line: _1, line_start: _2, end_line: _3, line_end: _4, ...other } = given as Input;
  return { name: "Read", input: { ...other, ...from === undefined ? {} : { offset: first }, limit: lines ?? null } };
}

/** The commands of the editor that several models were trained with. */
function shapeEditor(input: Input): Shaped {
  const { command, file_text: content, insert_line: line, new_str, insert_text, ...rest } = input;
  const isString = typeof new_str === "string" || typeof insert_text === "string";
  switch (command) {
    case "view":
      return shapeRead(rest, "view") ?? { name: "Read", input: rest };
    case "create":
      return { name: "Write", input: { ...rest, ...content === undefined ? {} : { content } } };
    case "str_replace": {
      const { command: _, ...replace } = input;
      return { name: "Edit", input: replace };
    }
    case "insert":
      return isString && Number.isSafeInteger(Number(line))
        ? {
          name: "Edit",
          input: { ...rest, new_string: new_str ?? insert_text, start_line: Number(line) + 1, end_line: Number(line) },
        }
        : null;
    case "undo_edit":
      return { problem: "Edits cannot be taken back by a call. Call Edit with the text as it was." };
    default:
      return null;
  }
}

/** Arguments that may hold a patch which does not say that it is one. */
const PATCH_ARGUMENTS = ["patch", "diff", "input", "edit", "edits", "changes", "blocks"];

/** A patch in any argument. */
function shapePatch(input: Input): Shaped {
  for (const [name, value] of Object.entries(input)) {
    if (
      typeof value !== "string" ||
      !(isPatch(value) || (PATCH_ARGUMENTS.includes(name) && /^(?:@@|<{5,9} ?SEARCH)/m.test(value)))
    ) continue;
    const patch = readPatch(value);
    if (patch === null) continue;
    const path = pathOf(input);
    return callOf(patch, path);
  }
  return null;
}

function pathOf(input: Input): unknown {
  return input.file_path ?? input.path ?? input.filePath ?? input.target_file ?? input.file ?? input.filename;
}

function callOf(patch: Patch, path: unknown): Shaped {
  if (patch.kind === "problem") return patch;
  if (patch.kind === "file") return { name: "Write", input: { file_path: patch.path, content: patch.content } };
  const file = patch.path === undefined ? path === undefined ? {} : { file_path: path } : { file_path: patch.path };
  const [only, second] = patch.edits;
  if (only !== undefined && second === undefined && only.old_string !== "" && only.after === undefined) {
    return { name: "Edit", input: { ...file, ...only } };
  }
  return { name: "Edit", input: { ...file, edits: patch.edits } };
}

/** A list of one edit is that edit, and the list of a whole file's edits may name the file itself. */
function shapeList(input: Input): Shaped {
  const { edits, replacements, ...rest } = input;
  const list = edits ?? replacements;
  if (!Array.isArray(list)) return null;
  const [only, second] = list;
  if (typeof only !== "object" || only === null) return null;
  if (second === undefined) return { name: "Edit", input: { ...rest, ...only } };
  const path = pathOf(rest) ?? pathOf(only as Input);
  return { name: "Edit", input: { ...path === undefined ? {} : { file_path: path }, edits: list } };
}

/** `apply_patch` as a command: with a heredoc, or with the patch as its one word. */
const APPLY = /^\s*(?:apply_?patch)\s*(?:<<-?\s*(["']?)(\w+)\1\s*\n([^]*?)\n\s*\2|(["'])([^]*)\4)\s*$/i;

/** A list of words becomes a command line, and what applies a patch becomes the edit. */
function shapeCommand(input: Input): Shaped {
  const { command, cmd, commands, ...rest } = input;
  const given = command ?? cmd ?? commands;
  const line = Array.isArray(given) ? commandLine(given.map(String)) : given;
  if (typeof line !== "string") return null;
  const [, , , heredoc, , word] = APPLY.exec(line) ?? [];
  const patch = readPatch(heredoc ?? word ?? "");
  if (patch !== null && patch.kind !== "problem") return callOf(patch, undefined);
  if (patch !== null) return patch;
  if (Array.isArray(given) && /^apply_?patch$/i.test(String(given[0]))) {
    return shapePatch({ patch: String(given[1] ?? "") });
  }
  const { workdir, cwd = workdir } = rest;
  const place = typeof cwd === "string" && !/^\.?\/?$/.test(cwd) ? `cd ${quoted(cwd)} && ` : "";
  return line === command && place === "" ? null : { name: "Bash", input: { ...rest, command: place + line } };
}

function commandLine(words: readonly string[]): string {
  const [program = "", option = "", script] = words;
  if (words.length === 3 && /^(?:\/\S*\/)?(?:ba|z|da)?sh$/.test(program) && /^-\w*c$/.test(option)) return script ?? "";
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
