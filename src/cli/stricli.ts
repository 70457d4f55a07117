/** The command library, fed with one normalised line: routing, typed values, and what was meant instead. */
import {
  ArgumentScannerError,
  buildApplication,
  buildCommand,
  buildRouteMap,
  formatMessageForArgumentScannerError,
  run,
  text_en as englishText,
} from "npm:@stricli/core@1.3.0";
import { AgentcliError } from "../errors.ts";
import type { Normalised } from "./normalise.ts";
import type { Option, Options, Values } from "./option.ts";
import type { Context, Group, Verb } from "./verb.ts";

type Flags = Record<string, unknown>;

/** The declaration of one option in the library's form. */
function flagOf(option: Option): Record<string, unknown> {
  if (option.kind === "flag") return { kind: "boolean", brief: option.brief, default: false, withNegated: false };
  const common = { brief: option.brief, placeholder: option.placeholder };
  if (option.kind === "number") {
    return { ...common, kind: "parsed", optional: true, parse: (input: string) => readNumber(input, option) };
  }
  if (option.kind === "list") {
    return {
      ...common,
      kind: "parsed",
      optional: true,
      variadic: true,
      parse: (input: string) => input,
    };
  }
  return option.values === undefined
    ? { ...common, kind: "parsed", optional: true, parse: (input: string) => input }
    : { ...common, kind: "enum", optional: true, values: option.values };
}

function readNumber(input: string, option: Option & { kind: "number" }): number {
  const value = /^-?\d+(\.\d+)?$/.test(input) ? Number(input) : NaN;
  const wanted = option.integer ? "a whole number" : "a number";
  if (Number.isNaN(value) || (option.integer && !Number.isInteger(value))) throw new Error(`not ${wanted}`);
  if (value < option.minimum) throw new Error(`not ${wanted} of at least ${option.minimum}`);
  if (value > option.maximum) throw new Error(`not ${wanted} of at most ${option.maximum}`);
  return value;
}

/** What the library gives for an absent list is undefined; verbs get an empty one. */
function complete(flags: Flags, options: Options): Values<Options> {
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) {
    values[name] = flags[name] ?? (option.kind === "list" ? [] : option.kind === "flag" ? false : undefined);
  }
  // The parsers above made each value what its declaration says.
  return values as Values<Options>;
}

interface Call {
  context: Context;
  /** Filled with what the verb returned. */
  exitCode: number;
}

function commandOf(verb: Verb, call: Call): unknown {
  const required = verb.arguments.filter((argument) => argument.optional !== true).length;
  const repeated = verb.arguments.some((argument) => argument.repeated === true);
  const first = verb.arguments[0];
  return buildCommand({
    func: async (flags: Flags, ...words: string[]) => {
      const { run } = await verb.load();
      const code = await run({ options: complete(flags, verb.options), arguments: words, context: call.context });
      call.exitCode = code ?? 0;
    },
    parameters: {
      flags: Object.fromEntries(Object.entries(verb.options).map(([name, option]) => [name, flagOf(option)])),
      positional: {
        kind: "array",
        parameter: { brief: first?.brief ?? "argument", placeholder: first?.name ?? "argument", parse: String },
        minimum: required,
        ...(repeated ? {} : { maximum: verb.arguments.length }),
      },
    },
    docs: { brief: verb.brief },
    // deno-lint-ignore no-explicit-any -- the declarations are made at run time; the library's types want them literal
  } as any);
}

function routesOf(group: Group, call: Call): unknown {
  const routes: Record<string, unknown> = {};
  for (const [name, node] of Object.entries(group.verbs)) {
    routes[name] = node.kind === "verb" ? commandOf(node, call) : routesOf(node, call);
  }
  // deno-lint-ignore no-explicit-any -- see commandOf
  return buildRouteMap({ routes, docs: { brief: group.brief } } as any);
}

/**
 * Runs the verb that `line` names and gives its exit code. Throws what the verb threw, and `usage` errors for a line
 * that does not fit, with what was probably meant.
 */
export async function dispatch(tree: Group, line: Normalised, context: Context): Promise<number> {
  const call: Call = { context, exitCode: 0 };
  const failed: { error?: unknown } = {};
  const help = `see: ${["agentcli", ...line.path, "--help"].join(" ")}`;
  const keep = (error: unknown) => {
    failed.error ??= error;
    return "";
  };
  const usage = (message: string) => keep(new AgentcliError("usage", message, { hint: help }));
  // A known verb is an application of its own: building the whole tree would cost every start.
  const root = line.node.kind === "verb" ? commandOf(line.node, call) : routesOf(tree, call);
  const application = buildApplication(root as Parameters<typeof buildApplication>[0], {
    name: "agentcli",
    scanner: { caseStyle: "allow-kebab-for-camel", allowArgumentEscapeSequence: true },
    localization: {
      text: {
        ...englishText,
        exceptionWhileParsingArguments: (error) => usage(parsingMessage(error, line)),
        noCommandRegisteredForInput: ({ input, corrections }) =>
          usage(`unknown verb "${input}"${orMeant(corrections)}`),
        exceptionWhileLoadingCommandFunction: keep,
        exceptionWhileLoadingCommandContext: keep,
        exceptionWhileRunningCommand: keep,
        commandErrorResult: keep,
      },
    },
  });
  const silent = { write: () => {} };
  const inputs = line.node.kind === "verb"
    ? [...line.options, "--", ...line.words]
    : [...line.path, ...line.words.slice(0, 1), ...line.options];
  await run(application, inputs, { process: { stdout: silent, stderr: silent } });
  if (failed.error !== undefined) throw failed.error;
  return call.exitCode;
}

function orMeant(corrections: readonly string[]): string {
  return corrections.length > 0
    ? `; did you mean ${corrections.map((word) => word.replaceAll("`", "")).join(" or ")}?`
    : "";
}

function parsingMessage(error: unknown, line: Normalised): string {
  const verb = ["agentcli", ...line.path].join(" ");
  if (!(error instanceof ArgumentScannerError)) return error instanceof Error ? error.message : String(error);
  const option = (name: string) => name.startsWith("--") ? name : `--${name}`;
  return formatMessageForArgumentScannerError(error, {
    FlagNotFoundError: (e) => `unknown option --${e.input.replace(/^--/, "")}${orMeant(e.corrections.map(option))}`,
    ArgumentParseError: (e) =>
      `${option(e.externalFlagNameOrPlaceholder)}: "${e.input}" is ${
        e.exception instanceof Error ? e.exception.message : "not valid"
      }`,
    EnumValidationError: (e) => `${option(e.externalFlagName)}: "${e.input}" is not one of ${e.values.join(", ")}`,
    UnexpectedFlagError: (e) => `${option(e.externalFlagName)} was given twice`,
    UnexpectedPositionalError: (e) =>
      `${verb} takes ${e.expectedCount === 0 ? "no arguments" : `at most ${e.expectedCount}`}, got "${e.input}"`,
    UnsatisfiedPositionalError: () => {
      const missing = line.node.kind === "verb" ? line.node.arguments[line.words.length]?.name : undefined;
      return `${verb} needs ${missing === undefined ? "more arguments" : `<${missing}>`}`;
    },
  });
}
