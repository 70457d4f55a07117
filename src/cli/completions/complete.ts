/**
 * Finds the candidates at the cursor, from the words before it and the declarations of the commands, for the completion
 * scripts.
 */
import { productOf } from "../../config/base_url.ts";
import { DEMO } from "../../config/find.ts";
import { SETTINGS } from "../../config/settings.ts";
import { type Configuration, type ModelEntry, ROLES } from "../../config/types.ts";
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import {
  type Command,
  type Completion,
  type Context,
  GLOBAL_OPTIONS,
  type Group,
  type Invocation,
  type Option,
  optionOfLetter,
  type Options,
  optionsAt,
  shownCommands,
} from "../command.ts";
import type { COMPLETE_OPTIONS } from "../program_commands.ts";
import { camelCase, kebabCase } from "../command_line.ts";
import { configured } from "../result.ts";

/** Values that every shell reads as a word. Others are not offered: quoting differs from shell to shell. */
const PLAIN = /^[\w@%+:,./][\w@%+=:,./~-]*$|^--[\w-]+(?:=[\w@%+=:,./~-]*)?$/;

/** Runs the command. */
export async function run(
  { options, arguments: words, context }: Invocation<typeof COMPLETE_OPTIONS>,
): Promise<void> {
  const { loadTree } = await import("../tree.ts");
  const line = options.line === undefined ? null : splitLine(options.line);
  const typed = { words: line?.words.slice(1) ?? words, current: line?.current ?? options.word ?? "" };
  const wanted = wantedAt(await loadTree(), typed.words, { current: typed.current });
  const found = await candidates(wanted, context);
  const kept = line === null ? 0 : keptByShell(typed.current, options.breaks ?? "");
  const lines = found
    .filter(({ value }) => value.startsWith(typed.current) && PLAIN.test(value))
    .map(({ value, brief }) => `${value.slice(kept)}\t${clean(brief)}\n`);
  const rest = wanted.kind === "values" && (wanted.of === "file" || wanted.of === "directory") ? wanted.of : "none";
  await context.io.stdout.write(`${lines.join("")}:${rest}\n`);
}

async function candidates(wanted: Wanted, context: Context): Promise<Candidate[]> {
  if (wanted.kind === "words") return wanted.words;
  try {
    const found = await lookUp(wanted, context);
    return found.map(({ value, brief }) => ({ value: wanted.before + value, brief }));
  } catch (error) {
    if (error instanceof AgentcliError) return [];
    throw error;
  }
}

/** Splits a command line up to the cursor. The last word is being typed; it is empty after a space. */
export function splitLine(line: string): { words: string[]; current: string } {
  const words: string[] = [];
  let current: string | null = null;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? "";
    if (quote !== "") {
      if (character === quote) quote = "";
      else if (character === "\\" && quote === '"' && /["\\$`]/.test(line[at + 1] ?? "")) current += line[++at] ?? "";
      else current += character;
    } else if (/\s/.test(character)) {
      if (current !== null) words.push(current);
      current = null;
    } else {
      current ??= "";
      if (character === "\\") current += line[++at] ?? "";
      else if (character === "'" || character === '"') quote = character;
      else current += character;
    }
  }
  return { words, current: current ?? "" };
}

/**
 * Returns the length of the prefix of `word` that bash treats as separate words: up to the last of its `breaks` (`:`,
 * `=`).
 */
export function keptByShell(word: string, breaks: string): number {
  return Math.max(...["=", ":"].filter((sign) => breaks.includes(sign)).map((sign) => word.lastIndexOf(sign)), -1) + 1;
}

const SESSION_LIMIT = 30;

/** Returns what is configured and stored; files and directories are left to the shell. Asks no server. */
async function lookUp(wanted: Extract<Wanted, { kind: "values" }>, context: Context): Promise<Candidate[]> {
  const { of, after } = wanted;
  if (of === "file" || of === "directory") return [];
  if (of === "role") return ROLES.map((role) => ({ value: role, brief: "" }));
  if (of === "setting") return SETTINGS.map(({ key, brief }) => ({ value: key, brief }));
  if (of === "session") return await sessions(context);
  if (of === "topic") return await topics();
  if (of === "scaffold") {
    const { SCAFFOLDS } = await import("../../editor/hooks/events.ts");
    return after === "hook" ? Object.entries(SCAFFOLDS).map(([value, { brief }]) => ({ value, brief })) : [];
  }
  if (of === "hook_event" || of.endsWith("artifact")) {
    const { editorValues } = await import("../editor/inspect.ts");
    return await editorValues(of, context);
  }
  const { configuration } = await configured(context);
  if (of === "engine") return await engines(configuration);
  if (of === "mcp_server") {
    return (configuration.mcpServers ?? []).map(({ name, description = "" }) => ({ value: name, brief: description }));
  }
  if (of === "setting_value") return settingValues(after ?? "", configuration);
  return of === "provider" ? providers(configuration) : models(configuration, after);
}

/** Settings of one value; the entries of a list are the user's own. */
function settingValues(key: string, configuration: Configuration): Candidate[] {
  const setting = SETTINGS.find((entry) => entry.key === key);
  if (setting?.words !== undefined) return setting.words.map((value) => ({ value, brief: "" }));
  if (key === "default_provider") return providers(configuration);
  if (key === "default_model") return configuration.providers.flatMap((entry) => entry.models.flatMap(names));
  return key.startsWith("roles.") ? models(configuration, undefined) : [];
}

async function engines(configuration: Configuration): Promise<Candidate[]> {
  const { allEngines } = await import("../../engine/request.ts");
  return allEngines(configuration.engines ?? {}).map(({ id, product }) => ({ value: id, brief: product }));
}

function providers(configuration: Configuration): Candidate[] {
  return configuration.providers.map(({ name, baseUrl }) => {
    const product = productOf(name);
    return { value: name, brief: product === "" ? baseUrl : `${product}, ${baseUrl}` };
  });
}

function names(model: ModelEntry): Candidate[] {
  const aliases = model.aliases.map((alias) => ({ value: alias, brief: `alias of ${model.id}` }));
  return [{ value: model.id, brief: model.role ?? "" }, ...aliases];
}

function models(configuration: Configuration, provider: string | undefined): Candidate[] {
  if (provider !== undefined) {
    return configuration.providers.find(({ name }) => name === provider)?.models.flatMap(names) ?? [];
  }
  const selectors = configuration.providers.flatMap((entry) =>
    entry.models.flatMap(names).map(({ value, brief }) => ({ value: `${entry.name}:${value}`, brief }))
  );
  return [...providers(configuration), { value: DEMO, brief: "scripted, needs no server" }, ...selectors];
}

async function sessions(context: Context): Promise<Candidate[]> {
  const [{ openScope }, { listSessions }] = await Promise.all([
    import("../sessions/run.ts"),
    import("../../session/list.ts"),
  ]);
  const { home, scope } = await openScope(context, { all: false });
  const found = (await listSessions(home, scope)).slice(0, SESSION_LIMIT);
  return found.map(({ id, title, firstPrompt }) => ({ value: id, brief: (title || firstPrompt).slice(0, 60) }));
}

async function topics(): Promise<Candidate[]> {
  const [{ TOPICS }, { loadTree }] = await Promise.all([import("../help/topics.ts"), import("../tree.ts")]);
  return [...TOPICS.map(({ name, brief }) => ({ value: name, brief })), ...commandWords(await loadTree())];
}

interface Candidate {
  value: string;
  brief: string;
}

/**
 * The candidates for a place: known words, or values that have to be looked up. `before` is put before each value;
 * `after` is the earlier argument that determines them.
 */
type Wanted =
  | { kind: "words"; words: Candidate[] }
  | { kind: "values"; of: Completion; before: string; after?: string };

const NOTHING: Wanted = { kind: "words", words: [] };

interface Position {
  node: Command | Group;
  /** Words that are arguments of the command. */
  given: string[];
  /** The option whose value comes next. */
  pending: Option | null;
  /** `--` was there: everything that follows is an argument. */
  ended: boolean;
}

/** Returns what can replace `current` after `words` (without the program's name). */
export function wantedAt(tree: Group, words: readonly string[], { current }: { current: string }): Wanted {
  const position = words.reduce(step, { node: tree, given: [], pending: null, ended: false } as Position);
  const { node, pending } = position;
  if (pending !== null) return valueOf(pending, "");
  if (!position.ended && current.startsWith("-")) {
    const equals = current.indexOf("=");
    if (equals < 0) return { kind: "words", words: optionWords(node) };
    const option = optionOf(node, current.slice(2, equals));
    return option === undefined ? NOTHING : valueOf(option, current.slice(0, equals + 1));
  }
  if (node.kind === "command") return argumentAt(node, position.given);
  return position.given.length > 0 ? NOTHING : { kind: "words", words: commandWords(node) };
}

function step(position: Position, word: string): Position {
  const { node } = position;
  if (position.pending !== null) return { ...position, pending: null };
  if (!position.ended && word === "--") return { ...position, ended: true };
  if (!position.ended && word.startsWith("-") && word.length > 1) {
    const name = word.startsWith("--") ? word.slice(2) : optionOfLetter(word.slice(-1), optionsAt(node)) ?? "";
    const option = optionOf(node, name);
    return option === undefined || option.kind === "flag" ? position : { ...position, pending: option };
  }
  if (node.kind === "group" && position.given.length === 0 && Object.hasOwn(node.commands, word)) {
    return { ...position, node: node.commands[word] ?? node };
  }
  return { ...position, given: [...position.given, word] };
}

function optionsOf(node: Command | Group): Options {
  return { ...optionsAt(node), ...GLOBAL_OPTIONS };
}

function optionOf(node: Command | Group, typed: string): Option | undefined {
  const [options, name] = [optionsOf(node), camelCase(typed)];
  return Object.hasOwn(options, name) ? options[name] : undefined;
}

function optionWords(node: Command | Group): Candidate[] {
  return Object.entries(optionsOf(node))
    .filter(([, option]) => option.hidden !== true)
    .map(([name, option]) => ({ value: `--${kebabCase(name)}`, brief: option.brief }));
}

function commandWords(group: Group): Candidate[] {
  return shownCommands(group).map(([value, { brief }]) => ({ value, brief }));
}

function valueOf(option: Option, before: string): Wanted {
  if (option.kind === "text" && option.values !== undefined) return oneOf(option.values, before);
  const of = option.kind === "text" || option.kind === "list" ? option.completion : undefined;
  return of === undefined ? NOTHING : { kind: "values", of, before };
}

function argumentAt(command: Command, given: readonly string[]): Wanted {
  const declared = command.arguments[given.length] ?? command.arguments.findLast(({ repeated }) => repeated === true);
  if (declared === undefined) return NOTHING;
  if (declared.values !== undefined) return oneOf(declared.values, "");
  if (declared.completion === undefined) return NOTHING;
  const decider = DECIDED_BY[declared.completion];
  const after = given.find((_, at) => decider !== undefined && command.arguments[at]?.name === decider);
  return { kind: "values", of: declared.completion, before: "", ...after === undefined ? {} : { after } };
}

function oneOf(values: readonly string[], before: string): Wanted {
  return { kind: "words", words: values.map((value) => ({ value: before + value, brief: "" })) };
}

/** By the name of the earlier argument that determines what can follow. */
const DECIDED_BY: Partial<Record<Completion, string>> = { model: "provider", setting_value: "key", scaffold: "kind" };
