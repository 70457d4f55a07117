/** Finds what can be completed at the cursor, from the words before it and the declarations of the commands. */
import { kebabCase } from "../command_line.ts";
import {
  type Argument,
  type Command,
  type Completion,
  GLOBAL_OPTIONS,
  type Group,
  type Option,
  optionOfLetter,
  type Options,
  optionsAt,
} from "../command.ts";

export interface Candidate {
  value: string;
  brief: string;
}

/**
 * The candidates for a place: known words, or values that have to be looked up. `before` is put before each value; `after`
 * is the earlier argument that decides which there are.
 */
export type Wanted =
  | { kind: "words"; words: Candidate[] }
  | { kind: "values"; of: Completion; before: string; after?: string };

const NOTHING: Wanted = { kind: "words", words: [] };

interface Position {
  node: Command | Group;
  /** Words that are arguments of the command. */
  given: string[];
  /** The option whose value comes next. */
  pending: Option | null;
  /** `--` was there: all that follows are arguments. */
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
  const options = optionsOf(node);
  const name = Object.keys(options).find((key) => key === typed || kebabCase(key) === typed);
  return name === undefined ? undefined : options[name];
}

function optionWords(node: Command | Group): Candidate[] {
  return Object.entries(optionsOf(node))
    .filter(([, option]) => option.hidden !== true)
    .map(([name, option]) => ({ value: `--${kebabCase(name)}`, brief: option.brief }));
}

function commandWords(group: Group): Candidate[] {
  return Object.entries(group.commands)
    .filter(([, node]) => node.kind === "group" || node.hidden !== true)
    .map(([value, node]) => ({ value, brief: node.brief }));
}

function valueOf(option: Option, before: string): Wanted {
  if (option.kind === "text" && option.values !== undefined) {
    return { kind: "words", words: option.values.map((value) => ({ value: before + value, brief: "" })) };
  }
  const of = option.kind === "text" || option.kind === "list" ? option.completion : undefined;
  return of === undefined ? NOTHING : { kind: "values", of, before };
}

function argumentAt(command: Command, given: readonly string[]): Wanted {
  const declared = command.arguments[given.length] ?? command.arguments.findLast(({ repeated }) => repeated === true);
  if (declared === undefined) return NOTHING;
  if (declared.values !== undefined) {
    return { kind: "words", words: declared.values.map((value) => ({ value, brief: "" })) };
  }
  if (declared.completion === undefined) return NOTHING;
  const after = decider(declared.completion, command.arguments, { given });
  return { kind: "values", of: declared.completion, before: "", ...(after === undefined ? {} : { after }) };
}

/** By the name of the argument before that decides what can follow. */
const DECIDED_BY: Partial<Record<Completion, string>> = { model: "provider", setting_value: "key", scaffold: "kind" };

function decider(of: Completion, declared: readonly Argument[], { given }: { given: readonly string[] }) {
  const name = DECIDED_BY[of];
  return name === undefined ? undefined : given.find((_, index) => declared[index]?.name === name);
}
