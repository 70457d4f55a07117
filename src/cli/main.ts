/** The program as a person uses it: one line in, one exit code out, every error shown once. */
import { AgentcliError } from "../errors.ts";
import { type Io, OutputClosed } from "../platform/io.ts";
import { resolve } from "../platform/path.ts";
import { neededRuntime, runtimeFacts } from "../platform/runtime.ts";
import { dispatch, normalize, type Normalized } from "./command_line.ts";
import { COMMAND_NAMES, loadTree } from "./tree.ts";
import type { Context, Globals } from "./command.ts";
import { VERSION } from "./version.ts";

/** Runs the program; never throws, never exits. The exit codes are those of {@link AgentcliError}. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  let line: Normalized | undefined;
  try {
    line = await clientLine(argv) ?? await chatLine(argv, io) ?? await readLine(argv);
    return await perform(line, io);
  } catch (error) {
    if (error instanceof OutputClosed) return 0;
    if (
      line !== undefined && wantsResultEvent(line) && error instanceof AgentcliError && error.code !== "output_failed"
    ) {
      const { printFailure } = await import("./run/machine_output.ts");
      return await printFailure(error, io);
    }
    const { showError } = await import("./output.ts");
    // What cannot be written on stdout is reported on stderr, whatever format was asked for.
    const writable = !(error instanceof AgentcliError && error.code === "output_failed");
    return await showError(error, io, {
      json: writable && (line === undefined ? argv.includes("--json") : line.globals.json !== undefined),
      verbose: line?.globals.verbose !== undefined,
    });
  }
}

/** `run` in a machine format reports every failure as a result event, a wrong command line too. */
function wantsResultEvent({ path, node, globals, options }: Normalized): boolean {
  if (path[0] !== "run" && (path.length > 0 || node.kind === "group")) return false;
  return globals.json !== undefined ||
    options.some(({ name, value }) => /^(in|out)putFormat$/.test(name) && /^(stream-)?json$/.test(value ?? ""));
}

/** Parses the line with the one command that it seems to name, or with all of them where that was another word. */
async function readLine(argv: readonly string[]): Promise<Normalized> {
  const named = argv.filter((word) => COMMAND_NAMES.includes(word)).slice(0, 1);
  const line = normalize(argv, await loadTree(named));
  if (line.path.length > 0 || line.globals.version !== undefined) return line;
  return normalize(argv, await loadTree());
}

/**
 * A line of protocol mode, which has no command; null for any other. Lines that begin with a command do not come here.
 */
async function clientLine(argv: readonly string[]): Promise<Normalized | null> {
  if (COMMAND_NAMES.includes(argv[0] ?? "")) return null;
  if (!argv.some((word) => /^(-p|--print|--(in|out)put-?format(=.*)?)$/i.test(word))) return null;
  const { readClientLine } = await import("./protocol/command_line.ts");
  return readClientLine(argv, COMMAND_NAMES);
}

/** A line without a command on a terminal, which is one of the chat; null for any other. */
async function chatLine(argv: readonly string[], { stdin, stdout }: Io): Promise<Normalized | null> {
  if (!stdin.isTerminal || !stdout.isTerminal || argv.some((word) => COMMAND_NAMES.includes(word))) return null;
  const { readChatLine } = await import("./chat_line.ts");
  return await readChatLine(argv);
}

async function perform(line: Normalized, io: Io): Promise<number> {
  const { globals, node } = line;
  const atRoot = line.path.length === 0 && line.words.length === 0 && line.options.length === 0;
  if (globals.version !== undefined || (atRoot && globals.verbose !== undefined && globals.help === undefined)) {
    if (globals.json !== undefined) {
      await (await import("./help/run.ts")).showVersion({ context: contextOf(line, io) });
    } else await io.stdout.write(`${VERSION} (agentcli)\n`);
    return 0;
  }
  // A program that wants JSON gets the missing command as an error of that form.
  const wantsHelp = globals.help !== undefined || globals.json === undefined;
  const wrongWord = node.kind === "group" && line.words.length > 0;
  if (
    (globals.help !== undefined && !wrongWord) ||
    (node.kind === "group" && line.words.length === 0 && line.options.length === 0 && wantsHelp)
  ) {
    const { helpText } = await import("./help/text.ts");
    const more = node.kind === "command" ? await node.moreHelp?.(line.options) : undefined;
    await io.stdout.write(helpText(line, io.stdout.columns(), { more }));
    // A group alone is not wrong, but nothing was done either: help on request is 0, help for lack of a command is 2.
    return globals.help !== undefined ? 0 : 2;
  }
  refuseOldRuntime();
  return await dispatch(line, contextOf(line, io));
}

/** An old Deno lacks some functions, and its errors name everything but that. */
function refuseOldRuntime(): void {
  const facts = runtimeFacts();
  const needed = neededRuntime(facts);
  if (needed === null) return;
  throw new AgentcliError("runtime_too_old", `agentcli needs Deno ${needed} or later; this is Deno ${facts.version}`, {
    hint: "run `deno upgrade`, or use the standalone binary, which does not need Deno",
  });
}

function contextOf({ globals }: Normalized, io: Io): Context {
  const cwd = io.cwd();
  if (globals.cwd === "") throw new AgentcliError("usage", "option --cwd needs a directory");
  const values: Globals = {
    cwd: typeof globals.cwd === "string" ? resolve(cwd, globals.cwd) : cwd,
    json: globals.json !== undefined,
    quiet: globals.quiet !== undefined,
    verbose: globals.verbose !== undefined,
    noColor: globals.noColor !== undefined,
    yes: globals.yes !== undefined,
  };
  return { io, globals: values };
}
