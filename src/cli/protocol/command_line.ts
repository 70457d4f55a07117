/**
 * The command line of protocol mode: no command, options as existing clients pass them. Nothing that they pass is an
 * error: unknown options are noted and left out. Source: specification, stream-json §1; the command lines of clients
 * (docs/recipes.md names them).
 */
import { type Command, command, GLOBAL_OPTIONS, type Option, type Options, SHORT_OPTIONS } from "../command.ts";
import { camelCase, type GivenOption, kebabCase, type Normalized, splitOption, valueOf } from "../command_line.ts";
import { RUN_OPTIONS } from "../run/command.ts";
import { builtinTools } from "../../tools/registry.ts";
import { clean } from "../../terminal/clean.ts";
import { splitRules } from "../../runtime/tools_and_rules.ts";

const OURS: Options = { ...GLOBAL_OPTIONS, ...RUN_OPTIONS };

/** Options that make a line without a command one of protocol mode. */
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
  /** Words after an unknown option: its value, most likely. */
  loose: string[];
  /** Place of the first word among the options; Infinity for none. */
  firstWord: number;
}

/**
 * Reads a line of protocol mode. Null for any other: one that begins with a command, or has none of the options by
 * which protocol mode is known.
 */
export function readClientLine(argv: readonly string[], commands: readonly string[]): Normalized | null {
  const { given, words, loose, firstWord } = partsOf(argv);
  const mark = given.findIndex(({ name }) => MARKS.includes(name));
  if (mark < 0 || (firstWord <= mark && commands.includes(words[0] ?? ""))) return null;
  const notes: string[] = [];
  const globals: Normalized["globals"] = {};
  const options = new Map<string, GivenOption[]>();
  for (const option of given) {
    if (Object.hasOwn(GLOBAL_OPTIONS, option.name)) {
      globals[option.name as keyof typeof GLOBAL_OPTIONS] = option.value ?? true;
      continue;
    }
    const meant = meaningOf(option);
    if ("note" in meant) notes.push(meant.note);
    else if ("option" in meant) {
      const repeated = OURS[meant.option.name]?.kind === "list";
      options.set(meant.option.name, [...repeated ? options.get(meant.option.name) ?? [] : [], meant.option]);
    }
  }
  const streamed = options.get("inputFormat")?.[0]?.value === "stream-json";
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
      // A cluster of letters or a lone dash is not a word of a person's prompt.
      if (!/^-\S*$/.test(text) || text === "-") parts.words.push(text);
      continue;
    }
    const [named, inLine] = splitOption(typed);
    const name = camelCase(named);
    let value = inLine;
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
    parts.given.push({ name, typed: named, value });
  }
  return parts;
}

function knownOption(name: string): Option | ClientOption | undefined {
  return Object.hasOwn(OURS, name) ? OURS[name] : clientOption(name);
}

function takesValue(option: Option | ClientOption): boolean {
  return "kind" in option ? option.kind !== "flag" : option.takes === "value";
}

/** Returns whether a word is a known option, and so not a value of the one before. */
function isKnownOption(text: string): boolean {
  return text.startsWith("--") && knownOption(camelCase(text.slice(2).split("=")[0] ?? "")) !== undefined;
}

function clientCommand(notes: readonly string[]): Command<typeof RUN_OPTIONS> {
  return command({
    brief: "Serve a client over standard input and output, or run one turn",
    arguments: [{ name: "prompt", brief: "What to do; '-' reads standard input", optional: true }],
    options: RUN_OPTIONS,
    examples: ["agentcli -p 'Say hello' --model demo --output-format stream-json"],
    connects: "here",
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

/** An option of clients. Without `means` it is accepted and ignored. */
interface ClientOption {
  takes: "nothing" | "value";
  /** The option of this program that it means; `value` is its value, or a table of their values to ours. */
  means?: { option: keyof typeof RUN_OPTIONS; value?: string | Readonly<Record<string, string>> };
}

/** Accepted, with their value, and ignored. */
const IGNORED_WITH_VALUE: readonly string[] = [
  "agent",
  "agents",
  "authType",
  "betas",
  "channels",
  "debugFile",
  "effort",
  "fallbackModel",
  "includeDirectories",
  "initializeFields",
  "jsonSchema",
  "managedSettings",
  "maxBudgetUsd",
  "maxThinkingTokens",
  "permissionPrompts",
  "pluginDir",
  "pluginDirNoMcp",
  "projectConfigRoot",
  "resumeDropsTurn",
  "resumeSessionAt",
  "sdkUrl",
  "settingSources",
  "settings",
  "taskBudget",
  "thinking",
  "thinkingDisplay",
];

/** Accepted and ignored. */
const IGNORED_ALONE: readonly string[] = [
  "allowDangerouslySkipPermissions",
  "awaitInitialize",
  "bare",
  "chrome",
  "debug",
  "debugToStderr",
  "disableSlashCommands",
  "hardFail",
  "ide",
  "includeHookEvents",
  "managedSettingsInInitialize",
  "noChrome",
  "print",
  "replayUserMessages",
  "sessionMirror",
  "strictMcpConfig",
];

/** Those with an effect. */
const MEANT: Readonly<Record<string, ClientOption>> = {
  dangerouslySkipPermissions: {
    takes: "nothing",
    means: { option: "permissionMode", value: "bypassPermissions" },
  },
  // A client that passes this answers requests about calls.
  channel: { takes: "value", means: { option: "permissionPromptTool", value: { SDK: "stdio" } } },
  maxSessionTurns: { takes: "value", means: { option: "maxTurns" } },
  coreTools: { takes: "value", means: { option: "tools" } },
  excludeTools: { takes: "value", means: { option: "disallowedTools" } },
  approvalMode: {
    takes: "value",
    means: {
      option: "permissionMode",
      value: { default: "default", plan: "plan", "auto-edit": "acceptEdits", yolo: "bypassPermissions" },
    },
  },
};

/** The option of clients with this camelCase name; undefined for an unknown one. */
function clientOption(name: string): ClientOption | undefined {
  if (Object.hasOwn(MEANT, name)) return MEANT[name];
  if (IGNORED_WITH_VALUE.includes(name)) return { takes: "value" };
  return IGNORED_ALONE.includes(name) ? { takes: "nothing" } : undefined;
}

/** All of them as they are typed, sorted. */
export function clientOptionNames(): string[] {
  return [...Object.keys(MEANT), ...IGNORED_WITH_VALUE, ...IGNORED_ALONE]
    .map(kebabCase).sort();
}

/** One-letter options of clients. */
const CLIENT_LETTERS: Readonly<Record<string, string>> = {
  p: "print",
  c: "continue",
  r: "resume",
  m: "model",
  d: "debug",
};

type Meaning = { option: GivenOption } | { note: string } | { nothing: true };

const NOTHING: Meaning = { nothing: true };

/** The meaning of an option as it was given. Never throws. */
function meaningOf({ name, typed, value }: { name: string; typed: string; value: string | undefined }): Meaning {
  const declared: Options = RUN_OPTIONS;
  const ours = Object.hasOwn(declared, name) ? declared[name] : undefined;
  if (ours !== undefined) return ourMeaning({ name, option: ours, value });
  const theirs = clientOption(name);
  if (theirs === undefined) return { note: `option --${clean(typed.slice(0, 100))} is unknown and ignored` };
  if (theirs.means === undefined) return NOTHING;
  const { option, value: meant } = theirs.means;
  const text = typeof meant === "string" ? meant : meant === undefined ? value : meant[value ?? ""];
  const target = declared[option];
  if (text === undefined || target === undefined) return unfit(typed, value);
  return ourMeaning({ name: option, option: target, value: text });
}

function unfit(name: string, value: string | undefined): Meaning {
  const shown = value === undefined ? "" : ` ${JSON.stringify(clean(value.slice(0, 100)))}`;
  return { note: `option --${clean(name.slice(0, 100))}${shown} is ignored: invalid value` };
}

function ourMeaning({ name, option, value }: { name: string; option: Option; value: string | undefined }): Meaning {
  if (option.kind === "flag") {
    return value === undefined || value === "true" ? { option: { name } } : NOTHING;
  }
  if (name === "tools") return toolsMeaning(value ?? "");
  // `--k ""` and a missing value say that nothing was set.
  if (value === undefined || value === "") return NOTHING;
  if ("problem" in valueOf(option, value)) return unfit(name, value);
  if (name === "allowedTools" || name === "disallowedTools") return rulesMeaning(name, value);
  return { option: { name, value } };
}

/** No names mean no tools; `default` means all; tools that this program does not have are left out. */
function toolsMeaning(value: string): Meaning {
  if (value.trim() === "default") return NOTHING;
  const names = splitRules([value]).filter((name) => isOurTool(name));
  return { option: { name: "tools", value: names.length === 0 ? "none" : names.join(",") } };
}

/** Rules about tools that this program does not have allow and deny nothing. */
function rulesMeaning(name: string, value: string): Meaning {
  const rules = splitRules([value]).filter((rule) =>
    rule.startsWith("mcp__") || isOurTool(rule.split("(")[0] ?? "", { git: true })
  );
  return rules.length === 0 ? NOTHING : { option: { name, value: rules.join(",") } };
}

function isOurTool(name: string, options: { git?: boolean } = {}): boolean {
  const wanted = name.trim().toLowerCase();
  return builtinTools(options).some((tool) => tool.name.toLowerCase() === wanted);
}
