/** Bash: one command, bounded in time and output, without keys in its environment. */
import { run } from "../../platform/process.ts";
import { failure } from "../result.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import { inSandbox, sandboxReason, type StartedAs } from "./in_sandbox.ts";
import { childEnvironment } from "./environment.ts";
import { BoundedOutput } from "./output.ts";
import { shellArgv } from "./shell.ts";
import { bashDeclaration, type BashInput } from "./declaration.ts";

export type { BashInput };

const DEFAULT_TIMEOUT_MS = 120_000;
const LONGEST_TIMEOUT_MS = 600_000;
/** Linux takes no argument of 128 KiB or more. */
const LONGEST_COMMAND = 100_000;

const WITHHELD =
  "The command ran, but a protected path was made or replaced meanwhile, and the output could hold it: " +
  "it is withheld. Run the command again to see its output.";

/** Runs commands; where paths are protected in the sandbox, or not at all: a command could read them past every rule. */
export const bashTool: Tool<BashInput> = {
  ...bashDeclaration,
  async run(input, context) {
    context.signal.throwIfAborted();
    const problem = objection(input);
    if (problem !== null) return failure(problem, context);
    const { workspace, io } = context;
    const argv = await shellArgv(input.command, { io, notBelow: [workspace.root, ...workspace.additional] });
    if (argv === null) return failure("There is no shell on this machine. Use Read, Edit, Glob and Grep.", context);
    return await runCommand(argv, { input, context });
  },
};

function objection(input: BashInput): string | null {
  if (input.command.trim() === "") return "The command is empty.";
  if (input.command.includes("\0")) return "The command holds a NUL byte.";
  return new TextEncoder().encode(input.command).length <= LONGEST_COMMAND
    ? null
    : "The command is longer than 100,000 bytes. Write it to a file with Write and run the file.";
}

/** Models mix up the unit; nobody means a command of less than a second. */
function timeoutOf(input: BashInput): number {
  const given = input.timeout ?? DEFAULT_TIMEOUT_MS;
  if (given <= 0) return DEFAULT_TIMEOUT_MS;
  return Math.min(given < 1_000 ? given * 1_000 : given, LONGEST_TIMEOUT_MS);
}

async function runCommand(
  argv: [string, ...string[]],
  call: { input: BashInput; context: ToolContext },
): Promise<ToolResult> {
  const { input, context } = call;
  const output = new BoundedOutput(context.resultBytes);
  const timeoutMs = timeoutOf(input);
  const reason = await sandboxReason(context);
  const started = (reason === null ? null : await inSandbox(argv, { context, reason })) ?? unsandboxed(argv, context);
  if (typeof started === "string") return failure(started, context);
  const outcome = await run({
    argv: started.argv,
    cwd: started.cwd,
    env: started.env,
    signal: context.signal,
    timeoutMs,
    onOutput: (bytes) => output.add(bytes),
  });
  const { quarantined, replaced, slipped } = await started.finish();
  const text = replaced.length === 0 ? output.text() : WITHHELD;
  const notes = started.notices.map((notice) => `[${notice}]`);
  if (quarantined !== null) {
    const paths = quarantined.paths.join(", ");
    notes.push(`[moved to quarantine, only the user may make them: ${paths}]`);
    await context.notify?.(
      `a command made ${paths}, which could run code later: moved to quarantine; ` +
        `to put it back: agentcli quarantine restore ${quarantined.id}`,
    );
  }
  if (outcome.ended === "abort") context.signal.throwIfAborted();
  if (outcome.ended === "timeout") notes.push(`[ended after ${timeoutMs / 1000} s: time limit]`);
  else if (outcome.code !== 0) notes.push(`[exit code ${outcome.code}]`);
  if (outcome.leftovers) notes.push("[background processes of the command were ended]");
  const shown = text === "" && notes.length === 0 ? ["(no output)"] : [text.trimEnd(), ...notes];
  return {
    content: shown.filter((part) => part !== "").join("\n"),
    isError: outcome.ended !== "exit" || outcome.code !== 0 || replaced.length > 0,
    label: context.workspace.ambientLabel,
    details: { exitCode: outcome.code, timedOut: outcome.ended === "timeout" },
    ...replaced.length === 0 ? {} : { exposed: { seen: slipped[0] ?? null } },
  };
}

/** As it is: where nothing is protected. */
function unsandboxed(argv: [string, ...string[]], context: ToolContext): StartedAs {
  const env = childEnvironment(context.io.environment(), context.secretVariables);
  const finish = () => Promise.resolve({ quarantined: null, replaced: [], slipped: [] });
  return { argv, env, cwd: context.workspace.root, notices: [], finish };
}
