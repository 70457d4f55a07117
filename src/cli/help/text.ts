/** Help from the declarations of the commands: purpose, usage, arguments, options by group, examples. */
import { kebabCase, type Normalized } from "../command_line.ts";
import {
  type Argument,
  type Command,
  GLOBAL_OPTIONS,
  type Group,
  type Option,
  type Options,
  SHORT_OPTIONS,
  shownCommands,
} from "../command.ts";

/** The exit codes in words, for help and documentation; the numbers belong to `src/errors.ts`. */
export const EXIT_CODES: readonly (readonly [string, string])[] = [
  ["0", "done"],
  ["1", "failure: the turn ended in an error, or a command found a problem"],
  ["2", "usage error: unknown command or option, missing or invalid argument"],
  ["3", "configuration error: invalid providers.yaml, unusable home, or unknown provider, model, role or session"],
  ["4", "provider unreachable, or connection lost after all retries"],
  ["5", "provider rejected the key (401/403), or no key was found"],
  ["6", "refused by policy: the no-cloud boundary, or a permission that nobody could give"],
  ["7", "limit reached: --max-turns, --timeout, or the context window"],
  ["8", "the check (--check) failed after the turn"],
  ["130, 143", "interrupted (SIGINT), terminated (SIGTERM)"],
];

/** The help of what `line` names, wrapped to `width` columns; `more` are paragraphs to put after it. */
export function helpText(
  line: Pick<Normalized, "path" | "node">,
  width: number,
  { more = "" }: { more?: string | undefined } = {},
): string {
  const name = ["agentcli", ...line.path].join(" ");
  const columns = columnsOf(width);
  const sections = line.node.kind === "command"
    ? commandHelp(line.node, name, columns)
    : groupHelp(line.node, name, columns);
  const rest = more.split("\n").map((line) => indented(line, columns));
  return [...sections, rest.join("\n")].filter((section) => section !== "").join("\n\n") + "\n";
}

/** Returns the columns of the help on a terminal of this width. */
export function columnsOf(width: number): number {
  return Math.min(Math.max(width, 40), 100);
}

function commandHelp(command: Command, name: string, width: number): string[] {
  const usage = ["Usage:", name, ...command.arguments.map(argumentUsage)];
  if (Object.keys(command.options).length > 0) usage.push("[options]");
  return [
    wrap(command.brief, { width, indent: 0 }),
    usage.join(" "),
    wrap(command.detail ?? "", { width, indent: 0 }),
    rows("Arguments:", command.arguments.map(({ name, brief }) => [name, brief]), { width }),
    ...optionSections({ ...command.options, ...GLOBAL_OPTIONS }, width),
    command.examples.length === 0
      ? ""
      : ["Examples:", ...command.examples.map((example) => exampleLines(example, width))].join("\n"),
  ];
}

function groupHelp(group: Group, name: string, width: number): string[] {
  const root = name === "agentcli";
  return [
    wrap(group.brief, { width, indent: 0 }),
    `Usage: ${name} <command> [arguments] [options]` +
    (group.usual === undefined ? "" : `\n       ${name} [<prompt>] [options]`),
    wrap(group.detail ?? "", { width, indent: 0 }),
    group.usual === undefined
      ? ""
      : wrap(`On a terminal, no command means ${group.usual}; -p (--print) means run.`, { width, indent: 0 }),
    rows("Commands:", shownCommands(group).map(([command, node]) => [command, node.brief]), { width }),
    ...optionSections(GLOBAL_OPTIONS, width),
    root ? rows("Exit codes:", EXIT_CODES.map(([code, meaning]) => [code, meaning]), { width }) : "",
    `Help for a command: ${name} <command> --help`,
  ];
}

/** `[<path>...]` */
export function argumentUsage({ name, optional, repeated }: Argument): string {
  const word = `<${name}>${repeated === true ? "..." : ""}`;
  return optional === true ? `[${word}]` : word;
}

function optionSections(options: Options, width: number): string[] {
  const groups = new Map<string, [string, string][]>();
  for (const [name, option] of Object.entries(options)) {
    if (option.hidden === true) continue;
    const heading = option.group ?? "Options";
    const section = groups.get(heading) ?? [];
    section.push([optionUsage(name, option), option.brief]);
    groups.set(heading, section);
  }
  // A command's own heading comes before the global one whatever the order of declaration.
  const last = groups.get("Global options");
  groups.delete("Global options");
  if (last !== undefined) groups.set("Global options", last);
  return [...groups].map(([heading, section]) => rows(`${heading}:`, section, { width }));
}

/** `-C, --cwd <DIR>` */
export function optionUsage(name: string, option: Option): string {
  const short = option.letter ?? Object.entries(SHORT_OPTIONS).find(([, long]) => long === name)?.[0];
  const isAlone = option.kind === "text" && option.alone === true;
  const value = option.kind === "flag"
    ? ""
    : isAlone
    ? ` [${option.placeholder}]`
    : ` <${option.placeholder}>${option.kind === "list" ? "..." : ""}`;
  return `${short === undefined ? "    " : `-${short}, `}--${kebabCase(name)}${value}`;
}

/** Least width of the right column. */
const LEAST_ROOM = 24;
/** Indent of a right column on a line of its own. */
const BELOW = 8;

/**
 * Two columns; on a narrow terminal, and where the left one is too long, the right one is on the next line. Empty
 * without rows.
 */
export function rows(
  heading: string,
  pairs: readonly (readonly [string, string])[],
  { width }: { width: number },
): string {
  if (pairs.length === 0) return "";
  const left = Math.min(Math.max(...pairs.map(([text]) => text.length)), 30);
  const narrow = width - left - 4 < LEAST_ROOM;
  const indent = narrow ? BELOW : left + 4;
  const lines = pairs.map(([text, brief]) => {
    const body = wrap(brief, { width, indent });
    return narrow || text.length > left ? `  ${text}\n${" ".repeat(indent)}${body}` : `  ${text.padEnd(left)}  ${body}`;
  });
  return [heading, ...lines].join("\n");
}

/** A command line; one that is too long continues after a backslash, as shells take it. */
function exampleLines(example: string, width: number): string {
  const lines = [""];
  for (const word of example.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []) {
    const line = lines.at(-1) ?? "";
    const isFull = line !== "" && 2 + line.length + 1 + word.length + 2 > width;
    if (isFull) lines.push(`    ${word}`);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.map((line) => `  ${line}`).join(" \\\n");
}

/** A line that starts with spaces keeps them, and continues two columns further in. */
function indented(line: string, width: number): string {
  const start = /^ */.exec(line)?.[0] ?? "";
  return start + wrap(line.slice(start.length), { width, indent: start === "" ? 0 : start.length + 2 });
}

/** Wraps at spaces; lines after the first start with `indent` spaces. Line ends in the text stay. */
export function wrap(text: string, { width, indent }: { width: number; indent: number }): string {
  const room = Math.max(width - indent, LEAST_ROOM);
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let current = "";
    for (const word of paragraph.split(" ")) {
      if (current !== "" && current.length + 1 + word.length > room) {
        lines.push(current);
        current = word;
      } else current = current === "" ? word : `${current} ${word}`;
    }
    lines.push(current);
  }
  return lines.join(`\n${" ".repeat(indent)}`);
}
