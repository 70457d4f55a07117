/**
 * `deno task docs`: writes `docs/cli.md` from the declarations of the commands.
 * With `--check` it writes nothing and exits 1 when the page is not up to date.
 */
import { argumentUsage, EXIT_CODES, optionUsage } from "../src/cli/help/text.ts";
import { type Command, GLOBAL_OPTIONS, type Group, type Options, shownCommands } from "../src/cli/command.ts";
import { type Section, TOPICS } from "../src/cli/help/topics.ts";
import { loadTree } from "../src/cli/tree.ts";
import { perform, readLine, ScriptError } from "./script.ts";

/** The page. */
async function cliDocs(): Promise<string> {
  const parts = [
    "# The command line",
    "This page is written by `deno task docs` from the declarations behind the help. Do not edit it.",
    "## Global options",
    "They can appear anywhere on the line, with every command.",
    optionTable(GLOBAL_OPTIONS),
    "## Exit codes",
    table(["Code", "Meaning"], EXIT_CODES),
    "## Commands",
    ...commandsOf(await loadTree(), []),
    "## Topics",
    ...TOPICS.flatMap(({ name, brief, sections }) => [`### ${name}`, `${brief}.`, ...sections.map(sectionText)]),
  ];
  return parts.filter((part) => part !== "").join("\n\n") + "\n";
}

function commandsOf(group: Group, path: readonly string[]): string[] {
  return shownCommands(group).flatMap(([name, node]) => {
    const words = [...path, name];
    if (node.kind === "command") return commandText(node, words);
    return [`### agentcli ${words.join(" ")}`, `${node.brief}.`, prose(node.detail ?? ""), ...commandsOf(node, words)];
  });
}

function commandText(command: Command, words: readonly string[]): string[] {
  const name = `agentcli ${words.join(" ")}`;
  const options = Object.keys(command.options).length > 0 ? " [options]" : "";
  return [
    `### ${name}`,
    `${prose(command.brief)}.`,
    fenced("text", [`${name}${command.arguments.map((argument) => ` ${argumentUsage(argument)}`).join("")}${options}`]),
    prose(command.detail ?? ""),
    table(
      ["Argument", "Meaning"],
      command.arguments.map((argument) => [`\`${argument.name}\``, prose(argument.brief)]),
    ),
    optionTable(command.options),
    command.examples.length === 0 ? "" : "Examples:",
    command.examples.length === 0 ? "" : fenced("sh", command.examples),
  ];
}

function optionTable(options: Options): string {
  const shown = Object.entries(options).filter(([, option]) => option.hidden !== true);
  return table(
    ["Option", "Meaning"],
    shown.map(([name, option]) => [`\`${optionUsage(name, option).trim()}\``, prose(option.brief)]),
  );
}

function sectionText(section: Section): string {
  if (section.kind === "text") return prose(section.text);
  if (section.kind === "lines") {
    const language = section.lines.some((line) => /\bagentcli\b/.test(line)) ? "sh" : "text";
    return `${section.heading}\n\n${fenced(language, section.lines)}`;
  }
  return `${section.heading}\n\n${table(["", ""], section.rows.map(([name, brief]) => [`\`${name}\``, prose(brief)]))}`;
}

/** Blocks in `sh` are commands that can be run as they stand; `tests/docs_test.ts` does. */
function fenced(language: "sh" | "text", lines: readonly string[]): string {
  return ["```" + language, ...lines, "```"].join("\n");
}

/** Angle brackets would be taken for HTML, outside of code. */
function prose(text: string): string {
  return text.split("`").map((part, index) => index % 2 === 1 ? part : part.replace(/[<>*_]/g, "\\$&")).join("`");
}

function table(heading: readonly [string, string], rows: readonly (readonly [string, string] | string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(heading), "| --- | --- |", ...rows.map(line)].join("\n");
}

if (import.meta.main) {
  await perform(import.meta.url, async (args) => {
    const checks = readLine(args, { check: "flag" }).flags.has("check");
    const path = new URL("../docs/cli.md", import.meta.url);
    const before = await Deno.readTextFile(path).catch(() => "");
    const after = await cliDocs();
    if (!checks) {
      await Deno.mkdir(new URL(".", path), { recursive: true });
      await Deno.writeTextFile(path, after);
    } else if (before !== after) {
      throw new ScriptError("docs/cli.md is not what the declarations say: run `deno task docs`");
    }
  });
}
