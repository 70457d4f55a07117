/** Arguments of tools: a text that is a path as a whole means what is there, whatever it looks like. */
import { AgentcliError } from "../../errors.ts";
import { quietly } from "../../platform/real_path.ts";
import type { TamperCheck } from "./tamper_check.ts";
import type { ProtectedLookup } from "./lookup.ts";

/** A longer text is not a path. Characters. */
const PATH_LIMIT = 4_096;

/** Returns the texts of a value, without the names of members. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) { for (const one of Object.values(value)) yield* textsIn(one); }
}

/** Tools and arguments that indicate writing: whatever else the call names may be written. */
const WRITING_TOOL =
  /write|edit|creat|save|append|insert|replace|patch|move|rename|copy|put|upload|download|delete|remove|install|symlink/;
const CONTENT_NAME = /content|text|edits|newstr|replacement|patch|diff|^data$|^body$/;

/** Returns the texts of a call that writes which can be paths; none for another call. */
function writtenPaths(given: unknown, tool: unknown): string[] {
  const paths: string[] = [];
  let writes = typeof tool === "string" && WRITING_TOOL.test(plainName(tool));
  const collect = (value: unknown): void => {
    if (typeof value === "string" && value.length <= PATH_LIMIT && !value.trim().includes("\n")) paths.push(value);
    if (typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      const isContent = !Array.isArray(value) && CONTENT_NAME.test(plainName(name));
      writes ||= isContent;
      if (!isContent) collect(member);
    }
  };
  collect(given);
  return writes ? paths : [];
}

/** Texts of JSON within each other. */
const WRAPPED_LIMIT = 16;

/**
 * Returns a value in which each text that is JSON comes with what it holds: some tools are called so. Throws `usage`
 * for more texts within each other than any tool has.
 */
export function unwrapped(given: unknown, depth = 0): unknown {
  if (depth > WRAPPED_LIMIT) throw new AgentcliError("usage", "the arguments hold too many texts within each other");
  if (typeof given === "string") {
    const held = /^\s*[[{"]/.test(given) ? quietly(() => JSON.parse(given)) : null;
    return held === null ? given : [given, unwrapped(held, depth + 1)];
  }
  if (Array.isArray(given)) return given.map((one) => unwrapped(one, depth));
  if (typeof given !== "object" || given === null) return given;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, unwrapped(value, depth)]));
}

/** Names are compared without word separators: `command_to_run` as `commandtorun`. */
function plainName(name: string): string {
  return name.replace(/[-_\s]/g, "").toLowerCase();
}

/** Names of tools and arguments that indicate a shell, and words that do so alone. */
const SHELL_NAME = /command|cmd|shell|bash|zsh|pwsh|terminal/;
const SHELL_WORD = /^(?:exec|execute|run|spawn|sh|ksh|dash|fish|program|executable)$/;
/** The words after a program, in members of their own. */
const WORDS_NAME = /^(?:args|argv|arguments)$/;
/** Names of texts that an interpreter runs. */
const CODE_NAME = /^(?:source|run|exec)?(?:script|code)$/;
/** Arguments that describe a call, or say where and how long it runs: they change nothing of what a line does. */
const HARMLESS_NAME =
  /^(?:cwd|(?:current)?(?:work(?:ing)?)?dir(?:ectory)?|timeout.*|wait.*|.*background|blocking|name|label|title|goal|mode|type)$|(?:id|description|explanation|reason|summary|purpose)$/;
/** Arguments that hold the arguments of a call inside of another. */
const HOLDER_NAME = /^(?:input|params|parameters|request|options|call|tool|commands|cmds)$/;
/** Which shell takes the line. */
const CHOICE_NAME = /^(?:shell|executable)$/;
const SHELLS = /^(?:(?:\/usr)?\/bin\/)?(?:ba|z|da|k|fi)?sh$|^(?:pwsh|powershell|cmd)(?:\.exe)?$/;
/** One word, as many tools have for their operation. */
const ONE_WORD = /^[\w.-]*$/;

function isShellName(name: string): boolean {
  return !HARMLESS_NAME.test(name) && (SHELL_NAME.test(name) || SHELL_WORD.test(name));
}

/** Returns the texts of a member as one line. */
function lineOf(value: unknown): string {
  return [value].flat(Infinity).filter((word) => typeof word === "string").join(" ");
}

interface CallTraits {
  /** The tool is named for a shell: each text that it gets is a line. */
  isShell: boolean;
  /** Whether a shell finds a program of that name. */
  isProgram(name: string): boolean;
}

/** Returns whether a tool is named for a shell. */
export function isShellTool(name: unknown): boolean {
  return typeof name === "string" && SHELL_NAME.test(plainName(name));
}

/**
 * Returns the lines among arguments that a shell gets. A single word is one where it is the name of a program and the
 * call says nothing else: many tools have a word for their operation.
 */
export function* shellLinesIn(given: unknown, traits: CallTraits): Generator<string> {
  if (typeof given !== "object" || given === null) return;
  if (Array.isArray(given)) {
    for (const one of given) yield* shellLinesIn(one, traits);
    return;
  }
  const members = Object.entries(given).map(([name, value]) => ({ name: plainName(name), value }));
  const words = members.filter(({ name }) => WORDS_NAME.test(name)).map(({ value }) => lineOf(value))
    .filter((line) => line !== "").join(" ");
  const isLine = (name: string) =>
    isShellName(name) || (traits.isShell && !HARMLESS_NAME.test(name) && !WORDS_NAME.test(name));
  const behind = words === "" ? "" : ` ${words}`;
  if (behind !== "" && !members.some(({ name }) => isLine(name))) yield words;
  const alone = members.every(({ name, value }) =>
    lineOf(value) === "" || isLine(name) || HARMLESS_NAME.test(name) || WORDS_NAME.test(name)
  );
  for (const { name, value } of members) {
    yield* shellLinesIn(value, traits);
    if (!isLine(name)) continue;
    const line = lineOf(value);
    // A line of several words is one already.
    const whole = ONE_WORD.test(line) || Array.isArray(value) ? line + behind : line;
    if (SHELLS.test(whole) && (ONE_WORD.test(whole) || CHOICE_NAME.test(name))) continue;
    if (!ONE_WORD.test(whole) || (alone && traits.isProgram(whole))) yield whole;
  }
}

/**
 * Returns the first member of a call that could carry more than a line and its directory, such as variables of the
 * environment; null when there is none. Numbers, truth values and what is empty carry nothing.
 */
export function strangeMember(given: unknown, { isShell }: Pick<CallTraits, "isShell">): string | null {
  if (typeof given !== "object" || given === null) return null;
  for (const [key, value] of Object.entries(given)) {
    if (!Array.isArray(given) && !isListed(plainName(key), value, isShell)) return key;
    const inside = strangeMember(value, { isShell });
    if (inside !== null) return inside;
  }
  return null;
}

function isListed(name: string, value: unknown, isShell: boolean): boolean {
  const texts = [value].flat(Infinity);
  if (!texts.every((one) => typeof one === "string")) {
    const isHolder = HOLDER_NAME.test(name) || WORDS_NAME.test(name) || isShellName(name);
    return isHolder || texts.every((one) => typeof one !== "object" || one === null || Object.keys(one).length === 0);
  }
  const text = texts.join(" ");
  if (CHOICE_NAME.test(name) && ONE_WORD.test(text)) return text === "" || SHELLS.test(text);
  if (text === "" || isShellName(name) || HARMLESS_NAME.test(name) || WORDS_NAME.test(name)) return true;
  // It is checked as a line.
  return isShell && !ONE_WORD.test(text);
}

/**
 * Returns the command lines among arguments: of each object one, since a program and its words may be two members of
 * it.
 */
export function* commandsIn(given: unknown): Generator<string> {
  if (typeof given !== "object" || given === null) return;
  const words: unknown[] = [];
  for (const [key, value] of Object.entries(given)) {
    const name = plainName(key);
    if (isShellName(name) || WORDS_NAME.test(name) || CODE_NAME.test(name)) words.push(...[value].flat(Infinity));
    yield* commandsIn(value);
  }
  if (words.length > 0) yield words.filter((word) => typeof word === "string").join(" ");
}

/**
 * Returns why a call with these arguments is blocked, for paths that are whole arguments; null when nothing speaks
 * against it.
 */
export async function checkArguments(
  given: unknown,
  { tool, lookup, tamperCheck }: { tool: unknown; lookup: ProtectedLookup; tamperCheck: TamperCheck },
): Promise<string | null> {
  for (const path of writtenPaths(given, tool).flatMap((text) => lookup.meanings(text))) {
    const reason = tamperCheck.reasonOfWrite(path);
    if (reason !== null) return `${path} may not be written: ${reason}; only the user changes it`;
  }
  for (const text of textsIn(given)) {
    if (text.length > PATH_LIMIT || text.trim().includes("\n")) continue;
    for (const path of lookup.meanings(text)) {
      const rule = lookup.ruleAt(path) ?? lookup.ruleOfGit(path);
      if (rule !== null) return lookup.describe(path, rule);
      const reason = tamperCheck.reasonAt(path) ?? tamperCheck.reasonAbove(path);
      if (reason !== null) return `${text.trim()} may not be named here: ${reason}`;
      const inside = await lookup.reasonInside(path);
      if (inside !== null) return inside;
    }
  }
  return null;
}
