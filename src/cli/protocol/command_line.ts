/**
 * The command line of protocol mode: no command, options as existing clients pass them. Nothing that they pass is an error:
 * what is not known is noted and left out. Source: specification, stream-json §1.
 */
import { type Command, command, GLOBAL_OPTIONS, type Option, type Options, SHORT_OPTIONS } from "../command.ts";
import { camelCase, type Normalized } from "../command_line.ts";
import { RUN_OPTIONS } from "../run/command.ts";
import { CLIENT_LETTERS, type ClientOption, clientOption, meaningOf } from "./client_options.ts";

const OURS: Options = { ...GLOBAL_OPTIONS, ...RUN_OPTIONS };

/** Options by which a line without a command is one of protocol mode. */
const MARKS: readonly string[] = ["print", "inputFormat", "outputFormat"];

interface Given {
  name: string;
  /** As typed, for notes. */
  typed: string;
  value: string | undefined;
}

interface Parts {
  given: Given[];
  words: string[];
  /** Words behind an option that is not known: its value, most likely. */
  loose: string[];
  /** Place of the first word among the options; Infinity for none. */
  firstWord: number;
}

/**
 * Reads a line of protocol mode. Null for any other: one that begins with a command, or has none of the options by which
 * protocol mode is known.
 */
export function readClientLine(argv: readonly string[], commands: readonly string[]): Normalized | null {
  const { given, words, loose, firstWord } = partsOf(argv);
  const mark = given.findIndex(({ name }) => MARKS.includes(name));
  if (mark < 0 || (firstWord <= mark && commands.includes(words[0] ?? ""))) return null;
  const notes: string[] = [];
  const globals: Normalized["globals"] = {};
  const options = new Map<string, string[]>();
  for (const option of given) {
    if (Object.hasOwn(GLOBAL_OPTIONS, option.name)) {
      globals[option.name as keyof typeof GLOBAL_OPTIONS] = option.value ?? true;
      continue;
    }
    const meant = meaningOf(option);
    if ("note" in meant) notes.push(meant.note);
    else if ("option" in meant) {
      const repeated = OURS[meant.option]?.kind === "list";
      options.set(meant.option, [...repeated ? options.get(meant.option) ?? [] : [], meant.text]);
    }
  }
  const streamed = options.get("inputFormat")?.[0] === "--inputFormat=stream-json";
  const prompts = [...words, ...streamed || words.length > 0 ? [] : loose].filter((word) => word.trim() !== "");
  const kept = streamed ? [] : prompts.slice(0, 1);
  for (const _ of prompts.slice(kept.length)) notes.push("an extra argument is ignored");
  return { path: [], node: clientCommand(notes), globals, options: [...options.values()].flat(), words: kept };
}

function partsOf(argv: readonly string[]): Parts {
  const parts: Parts = { given: [], words: [], loose: [], firstWord: Infinity };
  for (let at = 0; at < argv.length; at++) {
    const text = argv[at] ?? "";
    if (text === "--") {
      parts.words.push(...argv.slice(at + 1));
      break;
    }
    const letter = /^-([A-Za-z])$/.exec(text)?.[1];
    const typed = letter !== undefined
      ? CLIENT_LETTERS[letter] ?? SHORT_OPTIONS[letter]
      : /^--./.test(text)
      ? text.slice(2)
      : undefined;
    if (typed === undefined) {
      if (parts.words.length === 0) parts.firstWord = parts.given.length;
      // A cluster of letters or a lone dash is no word of a person's prompt.
      if (!/^-\S*$/.test(text) || text === "-") parts.words.push(text);
      continue;
    }
    const equals = typed.indexOf("=");
    const name = camelCase(equals < 0 ? typed : typed.slice(0, equals));
    let value = equals < 0 ? undefined : typed.slice(equals + 1);
    const known = knownOption(name);
    const next = at + 1 < argv.length ? argv[at + 1] : undefined;
    if (value === undefined && next !== undefined && !isKnownOption(next)) {
      if (known === undefined && !next.startsWith("-")) {
        parts.loose.push(next);
        at++;
      } else if (known !== undefined && takesValue(known)) {
        value = next;
        at++;
      }
    }
    parts.given.push({ name, typed: equals < 0 ? typed : typed.slice(0, equals), value });
  }
  return parts;
}

function knownOption(name: string): Option | ClientOption | undefined {
  return Object.hasOwn(OURS, name) ? OURS[name] : clientOption(name);
}

function takesValue(option: Option | ClientOption): boolean {
  return "kind" in option ? option.kind !== "flag" : option.takes === "value";
}

/** Returns whether a word is an option that is known, and so no value of the one before. */
function isKnownOption(text: string): boolean {
  return text.startsWith("--") && knownOption(camelCase(text.slice(2).split("=")[0] ?? "")) !== undefined;
}

function clientCommand(notes: readonly string[]): Command<typeof RUN_OPTIONS> {
  return command({
    brief: "Serve a client over standard input and output, or run one turn",
    arguments: [{ name: "prompt", brief: "What to do; '-' reads standard input", optional: true }],
    options: RUN_OPTIONS,
    examples: ["agentcli -p 'Say hello' --model demo --output-format stream-json"],
    async load() {
      const { run } = await import("../run/run.ts");
      return async (invocation) => {
        const { io, globals } = invocation.context;
        if (!globals.quiet) { for (const note of notes) await io.stderr.write(`agentcli: ${note}\n`); }
        return await run(invocation, { clientNames: true });
      };
    },
  });
}
