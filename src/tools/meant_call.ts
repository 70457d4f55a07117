/** A call as a model wrote it, in the names and forms that it was trained on, as the call of a tool here. */
import { closest } from "../config/suggest.ts";
import { checkArguments, type CheckedArguments, namedAsDeclared } from "../provider/check_arguments.ts";
import { isRecord, parseJson } from "../platform/record.ts";
import { meantParameter, meantTool, plainToolName } from "../provider/trained_names.ts";
import { type Input, SHAPES } from "./call_shapes.ts";
import { sameName, shownName } from "./file_names.ts";
import type { Tool, ToolContext } from "./tool.ts";
import { percentDecoded } from "../platform/text.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { basename, join, normalize } from "../platform/path.ts";
import { isRefusal } from "./result.ts";
import { withoutInvisible, withPlainSigns } from "./signs.ts";

/** The parameters that hold the path of a call, by tool. */
const PATHS: Readonly<Record<string, string>> = {
  Read: "file_path",
  Write: "file_path",
  Edit: "file_path",
  Glob: "path",
  Grep: "path",
};

/** A checked call: the tool by its name, and what the model is told of how it was taken. */
interface PlacedCall {
  tool: string;
  value: Input;
  note: string | null;
}

/**
 * The call where it is meant: a path that leads nowhere means one of the project, and an Edit without an old text
 * creates a missing file.
 */
export async function placedCall(
  { tool, value }: { tool: string; value: Input },
  context: Pick<ToolContext, "workspace" | "signal">,
): Promise<PlacedCall> {
  const placed = await inProject({ tool, value }, context);
  const { file_path, old_string, new_string, start_line } = placed.value;
  if (tool !== "Edit" || old_string !== "" || !new_string || start_line !== undefined) return placed;
  const path = await context.workspace.resolve(String(file_path));
  if ("refused" in path || await context.workspace.status(path) !== null) return placed;
  return { ...placed, tool: "Write", value: { file_path, content: new_string } };
}

async function inProject(
  { tool, value }: { tool: string; value: Input },
  context: Pick<ToolContext, "workspace" | "signal">,
): Promise<PlacedCall> {
  const name = PATHS[tool];
  if (name === undefined) return { tool, value, note: null };
  const { [name]: path, pattern } = value;
  const mustBeThere = tool === "Read" || (tool === "Edit" && value.old_string !== "");
  const [found, ...others] = typeof path === "string" ? await meantPath(path, { ...context, mustBeThere }) : [];
  if (found !== undefined && others.length > 0) {
    return { tool, value, note: `[Did you mean ${[found, ...others].join(" or ")}?]` };
  }
  const meant = found ?? null;
  const below = tool === "Glob" && typeof pattern === "string" ? await meantPattern(pattern, context) : null;
  if (meant === null && below === null) return { tool, value, note: null };
  const taken = { ...value, ...meant === null ? {} : { [name]: meant }, ...below === null ? {} : { pattern: below } };
  const note = `[${shownName(String(meant === null ? pattern : path))} is not there; taken as ${meant ?? below}]`;
  return { tool, value: taken, note };
}

/** The tool and its arguments, with what the model is told of how it was taken; or what it is told instead. */
type MeantCall = { tool: Tool; input: Record<string, unknown>; note?: string } | { problem: string };

/** The call that is meant; null when no tool of the session is. */
export function meantCall({ name, input }: { name: string; input: Input }, tools: readonly Tool[]): MeantCall | null {
  const meant = meantTool(name, tools.map((tool) => tool.name));
  const named = tools.find((one) => one.name === meant);
  if (named === undefined) return null;
  const given = named.check === undefined ? withoutTokens(unnested(input, named)) : input;
  const shaped = SHAPES[named.name]?.(given, plainToolName(name)) ?? { name: named.name, input: given };
  if ("problem" in shaped) return shaped;
  const tool = tools.find((one) => one.name === shaped.name);
  return tool === undefined ? null : { ...shaped, tool };
}

/** Checks the arguments of a call, in any set of them that its tool takes. */
export function checkCall(
  { parameters, taken, check }: Pick<Tool, "parameters" | "taken" | "check">,
  input: Input,
): CheckedArguments {
  if (check !== undefined) return check(input);
  const properties = { ...parameters.properties, ...taken?.properties };
  const given = namedAsDeclared(properties, input);
  const has = (name: string) => (given.get(name) ?? null) !== null;
  const instead = parameters.required?.every(has) ? undefined : taken?.instead.find((names) => names.every(has));
  const schema = { ...parameters, properties, required: instead ?? parameters.required };
  return checkArguments(schema, input, { isClosed: true });
}

/** The arguments, where some or all of them stand in an object of their own: `{"arguments": {…}}`. */
function unnested(input: Input, { parameters, taken }: Tool): Input {
  const properties: Input = { ...parameters.properties, ...taken?.properties };
  const isMeant = (name: string) => meantParameter(name, properties) !== null;
  const inside = Object.entries(input).map(([name, value]) => [name, objectIn(value)] as const);
  const given = new Set(inside.flatMap(([name, object]) => object === null ? [meantParameter(name, properties)] : []));
  if (parameters.required?.every((name) => given.has(name)) !== false) return input;
  const [found] = inside.filter(([name, object]) =>
    !Object.hasOwn(properties, name) && object !== null && Object.keys(object).some(isMeant)
  );
  if (found === undefined) return input;
  const { [found[0]]: _, ...others } = input;
  return { ...others, ...found[1] };
}

/** The object that a value is, spells, or holds alone; null for none. */
function objectIn(value: unknown): Input | null {
  const object = typeof value === "string" && value.startsWith("{") ? parseJson(value) : value;
  const inner = Array.isArray(object) && object.length === 1 ? object[0] : object;
  return isRecord(inner) ? inner : null;
}

/** Tags and tokens of a template after a value, which a server took for a part of it. */
const TOKENS =
  /(?<!\s|<\/(?:parameter|function|tool_call|arg_value|invoke)>|<[|｜][\w▁]{1,30}[|｜]>)(?:\s*(?:<\/(?:parameter|function|tool_call|arg_value|invoke)>|<[|｜][\w▁]{1,30}[|｜]>))+\s*$/;

/** The arguments without such tags; a value that holds an opening one of its own keeps them. */
function withoutTokens(input: Input): Input {
  const given = Object.entries(input);
  const plain = given.map(([name, value]) => {
    if (typeof value !== "string") return [name, value] as const;
    const own = `</${name}>`;
    const cut = value.trimEnd().endsWith(own) && !value.includes(`<${name}`)
      ? value.trimEnd().slice(0, -own.length)
      : value;
    return [
      name,
      /<(?:parameter|function|tool_call|arg_value|invoke)\b/.test(cut) ? cut : cut.replace(TOKENS, ""),
    ] as const;
  });
  return plain.some(([name, value]) => input[name] !== value) ? Object.fromEntries(plain) : input;
}

/** Tools of other programs → their counterparts here. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/delete|remove/i, "Call Bash with rm."],
  [/move|rename/i, "Call Bash with mv."],
  [/copy/i, "Call Bash with cp."],
  [/mkdir|(?:create|make|new).?(?:dir|folder)/i, "Call Write: it makes the directories of its file."],
  [/append|insert/i, "Call Edit with the line before as old_string, and both as new_string."],
  [/python|code_?(?:inter|exec)|(?:run|exec)\w*_?code|javascript|node/i, "Call Bash with the program that runs it."],
  [/web|fetch|browse|url|internet/i, "There is no tool for the web; go on without it."],
  [
    /complet|finish|final|submit|answer|respond|reply|done|ask|message|think/i,
    "To end the task, or to ask, give your answer as text.",
  ],
];

/** Returns the message for a model that called a tool which is not there. */
export function unknownTool(name: string, names: readonly string[]): string {
  const [near] = closest(name, names);
  const [, way] = OTHERS.find(([pattern, text]) => {
    const [, tool] = /^Call (\w+)/.exec(text) ?? [];
    return near === undefined && pattern.test(name) && (tool === undefined || names.includes(tool));
  }) ?? [];
  const meant = near !== undefined ? ` Did you mean ${near}?` : way === undefined ? "" : ` ${way}`;
  const there = names.length === 0 ? "There are none in this session; answer in words." : `Tools: ${names.join(", ")}.`;
  return `There is no tool "${name.slice(0, 64)}".${meant} ${there}`;
}

type Context = Pick<ToolContext, "workspace" | "signal"> & {
  /** The path is of a file that is read or changed, not created. */
  mustBeThere?: boolean;
};

/** Marks around a path: quotes, brackets, a link of Markdown. */
const AROUND = /^(?:\[[^\]]*\]\((?<link>[^()\s]+)\)|(?<mark>["'`*]{1,3})(?<quoted>.+)\k<mark>|<(?<angled>[^<>]+)>)$/;

/** Rewrites that turn a path into a plainer one, each applied to the result of the one before. */
const PLAINER: readonly ((path: string) => string)[] = [
  withoutInvisible,
  (path) => /^file:/i.test(path) ? percentDecoded(path.replace(/^file:(?:\/\/(?:localhost)?)?/i, "")) : path,
  (path) => path.replace(/^@(?=[\w./~])/, ""),
  (path) => path.replace(/(?<=[^/])\/+$/, ""),
  (path) => path.replaceAll("\\", "/"),
  (path) =>
    path.replace(/(?::\d+(?:[-:,]\d+)?|#L\d+(?:-L?\d+)?|(?<!\s)\s*(?:[,(]\s*)?\(?lines? \d+(?:\s*-\s*\d+)?\)?)$/i, ""),
  (path) => path.replace(/(?<![.,;:!?)\]}'"`*])[.,;:!?)\]}'"`*]+$/, ""),
  withPlainSigns,
  (path) => path.replace(/^[ab]\//, ""),
];

/** Returns the paths that may be meant by one that leads nowhere as it is; empty for any other. */
export async function meantPath(given: string, context: Context): Promise<readonly string[]> {
  const { workspace } = context;
  if (given.length > 4096 || given.includes("\0") || !await leadsNowhere(given, workspace)) return [];
  const plain = unwrapped(given.trim());
  const spellings = [plain];
  for (const plainer of PLAINER) {
    const next = plainer(spellings.at(-1) ?? "");
    if (next !== spellings.at(-1)) spellings.push(next);
  }
  for (const spelling of spellings) {
    const resolved = spelling === given ? null : await workspace.resolve(spelling);
    if (resolved === null || isRefusal(resolved)) continue;
    if (await workspace.status(resolved) !== null) return [resolved.display];
  }
  for (const spelling of spellings.toReversed()) {
    const guessed = /^(?:[A-Za-z]:)?\/|^~\//.test(spelling) ? await belowRoot(spelling, context) : [];
    if (guessed.length > 0) return guessed;
  }
  // Where a command changed the directory, models continue from there.
  if (context.mustBeThere === true) {
    const wanted = normalize(spellings.at(-1) ?? "");
    const found = wanted.startsWith(".") ? [] : await sameName(basename(wanted), context);
    const ends = found.filter((path) => path.endsWith(`/${wanted}`));
    const resolved = ends.length === 1 ? await workspace.resolve(ends[0] ?? "") : null;
    if (resolved !== null && !isRefusal(resolved)) return [resolved.display];
  }
  // For a new file: nobody puts quotes and line ends into its name.
  const address = spellings.find((spelling) => !/^file:/i.test(spelling)) ?? plain;
  const made = /^file:/i.test(plain) ? address : plain;
  return made === given || made === "" || isRefusal(await workspace.resolve(made)) ? [] : [made];
}

/** A pattern of files below a root that was guessed, as a pattern below that of the project; null for any other. */
async function meantPattern(given: string, context: Context): Promise<string | null> {
  const parts = given.split("/");
  const first = parts.findIndex((part) => /[*?[{]/.test(part));
  if (!given.startsWith("/") || first < 2 || !await leadsNowhere(parts.slice(0, first).join("/"), context.workspace)) {
    return null;
  }
  const [root, other] = await belowRoot(parts.slice(0, first).join("/"), context);
  return root === undefined || other !== undefined ? null : join(root, ...parts.slice(first));
}

async function leadsNowhere(path: string, workspace: Workspace): Promise<boolean> {
  if (/^file:|^~(?:\/|$)/i.test(path)) return true;
  const resolved = await workspace.resolve(path);
  if (!isRefusal(resolved)) return await workspace.status(resolved) === null;
  // What exists outside does not mean the project.
  return resolved.unknown === true || resolved.refused === "not_a_directory";
}

function unwrapped(path: string): string {
  const { link, quoted, angled } = AROUND.exec(path)?.groups ?? {};
  return (link ?? quoted ?? angled ?? path).trim();
}

/**
 * The paths in the project that may be meant by one below a root that a model guessed (`/workspace/src/x.ts`,
 * `/repo/x.ts`): the longest end of it that exists below the root; else the files of that name; the root itself for a
 * bare root.
 */
async function belowRoot(given: string, context: Context): Promise<string[]> {
  const { workspace } = context;
  const parts = given.split("/").filter((part) => part !== "" && part !== "~").slice(0, 64);
  // A path that leads up could end anywhere.
  if (parts.includes("..")) return [];
  for (let at = given.startsWith("~") ? 0 : 1; at < parts.length; at++) {
    const resolved = await workspace.resolve(join(workspace.root, ...parts.slice(at)));
    if (!isRefusal(resolved) && await workspace.status(resolved) !== null) return [resolved.display];
  }
  const last = parts.at(-1) ?? "";
  if ((parts.length === 1 || last === basename(workspace.root)) && !last.includes(".")) return ["."];
  const found = await Promise.all((await sameName(last, context)).map((path) => workspace.resolve(path)));
  return found.flatMap((resolved) => isRefusal(resolved) ? [] : [resolved.display]);
}
