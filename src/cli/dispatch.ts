/**
 * The last step from a line to a verb: values get their types, and what does not fit is refused with what was meant.
 *
 * No command library: the normalizer has to know every option already, and what was left for the library cost 2.3 ms of
 * every start and 80 KB (measured with @stricli/core 1.3.0, a tenth of the time to the first request).
 */
import { AgentcliError } from "../errors.ts";
import { closest } from "../config/suggest.ts";
import {
  type Argument,
  type Context,
  GLOBAL_OPTIONS,
  type Group,
  type NumberOption,
  type Option,
  type Options,
  type Values,
} from "./verb.ts";
import { kebabCase, type Normalized } from "./normalize.ts";

/** Runs the verb that `line` names and gives its exit code. Throws what the verb throws, and `usage` errors. */
export async function dispatch(line: Normalized, context: Context): Promise<number> {
  const { node } = line;
  if (node.kind === "group") throw withoutVerb(line, node);
  const options = readOptions(line, node.options);
  checkWords(line, node.arguments);
  if (node.connects === true) {
    const { leaveCopyingEnvironment } = await import("./start_environment.ts");
    const again = await leaveCopyingEnvironment(context.io, [context.globals.cwd]);
    if (again !== null) return again;
  }
  const run = await node.load();
  return await run({ options, arguments: line.words, context }) ?? 0;
}

function usage(line: Normalized, message: string): AgentcliError {
  return new AgentcliError("usage", message, { hint: `see: ${["agentcli", ...line.path, "--help"].join(" ")}` });
}

function withoutVerb(line: Normalized, { verbs }: Group): AgentcliError {
  const [word = "", option] = [line.words[0], line.options[0]?.split("=", 1)[0]];
  const near = meant(word, { names: Object.keys(verbs).filter((name) => !name.startsWith("_")), prefix: "" });
  const atRoot = line.path.length === 0;
  if (word === "") return usage(line, "a verb is missing");
  // An option before its verb takes no value yet: the word behind it may be that.
  const problem = atRoot && option !== undefined
    ? `a verb is missing before ${option}`
    : `unknown verb "${word}"${near}`;
  if (!atRoot || near !== "") return usage(line, problem);
  // Left out is most likely the verb of a prompt.
  return new AgentcliError("usage", problem, { hint: 'to ask a model: agentcli run "<prompt>"; see: agentcli --help' });
}

function meant(word: string, choices: { names: readonly string[]; prefix: string }): string {
  const near = closest(word, choices.names).map((name) => choices.prefix + name);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
}

function readOptions(line: Normalized, declared: Options): Values<Options> {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(declared)) {
    const kind = declared[name]?.kind;
    values[name] = kind === "flag" ? false : kind === "list" ? [] : undefined;
  }
  for (const text of line.options) {
    const equals = text.indexOf("=");
    const name = equals < 0 ? text.slice(2) : text.slice(2, equals);
    const option = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (option === undefined) {
      const all: Options = { ...declared, ...GLOBAL_OPTIONS };
      const names = Object.keys(all).filter((key) => all[key]?.hidden !== true).map(kebabCase);
      throw usage(line, `unknown option --${name}${meant(name, { names, prefix: "--" })}`);
    }
    const shown = `--${kebabCase(name)}`;
    const value = equals < 0 ? undefined : text.slice(equals + 1);
    const read = valueOf(option, value);
    if ("problem" in read) throw usage(line, `${shown} ${read.problem}`);
    // Of an option that takes one value the last one counts, so that an alias can be overridden.
    if (option.kind === "list") (values[name] as unknown[]).push(read.value);
    else values[name] = read.value;
  }
  // Each value is now what its declaration says.
  return values as Values<Options>;
}

function valueOf(option: Option, value: string | undefined): { value: unknown } | { problem: string } {
  if (option.kind === "flag") return value === undefined ? { value: true } : { problem: "takes no value" };
  // The normalizer has refused an option without its value.
  const text = value ?? "";
  if (option.kind === "number") return numberOf(text, option);
  if (option.kind === "text" && option.values !== undefined && !option.values.includes(text)) {
    return {
      problem: `takes ${option.values.join(", ")}, not "${text}"${meant(text, { names: option.values, prefix: "" })}`,
    };
  }
  return { value: text };
}

function numberOf(text: string, option: NumberOption): { value: number } | { problem: string } {
  const value = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  const kind = option.integer ? "a whole number" : "a number";
  if (Number.isNaN(value) || (option.integer && !Number.isInteger(value))) {
    return { problem: `takes ${kind}, not "${text}"` };
  }
  if (value < option.minimum) return { problem: `takes ${kind} of at least ${option.minimum}, not ${text}` };
  if (value > option.maximum) return { problem: `takes ${kind} of at most ${option.maximum}, not ${text}` };
  return { value };
}

function checkWords(line: Normalized, declared: readonly Argument[]): void {
  const verb = ["agentcli", ...line.path].join(" ");
  const missing = declared[line.words.length];
  if (
    missing !== undefined && missing.optional !== true && !(missing.repeated && line.words.length >= declared.length)
  ) {
    throw usage(line, `${verb} needs <${missing.name}>`);
  }
  for (const [index, { name, values }] of declared.entries()) {
    const word = line.words[index];
    if (word === undefined || values === undefined || values.includes(word)) continue;
    throw usage(
      line,
      `<${name}> is ${values.join(", ")}, not "${word}"${meant(word, { names: values, prefix: "" })}`,
    );
  }
  const unlimited = declared.some((argument) => argument.repeated === true);
  const extra = line.words[declared.length];
  if (extra !== undefined && !unlimited) {
    const count = declared.length === 0
      ? "no arguments"
      : declared.length === 1
      ? "one argument"
      : `${declared.length} arguments`;
    throw usage(
      line,
      `${verb} takes ${count}, and "${extra}" is one more${
        declared.length === 0 ? "" : " (quote what belongs together)"
      }`,
    );
  }
}
