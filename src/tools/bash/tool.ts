/** Bash: one command, bounded in time and output, without keys in its environment. */
import { byteLength } from "../../platform/text.ts";
import { endingWithUs } from "../../platform/process_group.ts";
import { runWatched } from "../../boundary/sandbox/watched_run.ts";
import { failure, success } from "../result.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import {
  exposureNotice,
  notifyOnce,
  type ReadyCommand,
  readyCommand,
  shellFor,
  watchOptions,
  withoutSandbox,
} from "./start.ts";
import { BoundedOutput } from "./bounded_output.ts";
import { bashDeclaration, type BashInput } from "../declarations.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const LONGEST_TIMEOUT_MS = 600_000;
/** Nobody intends a longer one, and a shell reads it line by line. */
const LONGEST_COMMAND = 100_000;

const REDACTED =
  "[a path became protected or was replaced meanwhile, and the command could see it: the command was ended, its output " +
  "from then on is redacted, and the files that it made or changed are protected. Run the command again]";

/**
 * Runs commands; where paths are protected in the sandbox, or not at all: a command could read them past every rule.
 */
export const bashTool: Tool<BashInput> = {
  ...bashDeclaration,
  async run(input, context) {
    context.signal.throwIfAborted();
    const problem = precheck(input);
    if (problem !== null) return failure(problem, context);
    const { workspace, io } = context;
    const shell = await shellFor(input.command, { io, roots: [workspace.root, ...workspace.additional] });
    if (shell === null) return failure("There is no shell on this machine. Use Read, Edit, Glob and Grep.", context);
    if (input.background === true) return await startInBackground(shell, context);
    return await runCommand(shell, { input, context });
  },
};

function precheck(input: BashInput): string | null {
  if (input.command.trim() === "") return "The command is empty. Send the shell command to run as command.";
  if (input.command.includes("\0")) return "The command holds a NUL byte. Send it again without.";
  return byteLength(input.command) <= LONGEST_COMMAND
    ? null
    : "The command is longer than 100,000 bytes. Write it to a file with Write and run the file.";
}

/** Models mix up the unit; nobody intends a time limit below a second. */
function timeoutOf(input: BashInput): number {
  const given = input.timeout ?? DEFAULT_TIMEOUT_MS;
  if (given <= 0) return DEFAULT_TIMEOUT_MS;
  return Math.min(given < 1_000 ? given * 1_000 : given, LONGEST_TIMEOUT_MS);
}

async function runCommand(
  { argv, stdin }: NonNullable<Awaited<ReturnType<typeof shellFor>>>,
  call: { input: BashInput; context: ToolContext },
): Promise<ToolResult> {
  const { input, context } = call;
  const output = new BoundedOutput(context.resultBytes);
  const timeoutMs = timeoutOf(input);
  const ready = await readyCommand({ argv, cwd: context.workspace.root }, context);
  if (typeof ready === "string") return failure(ready, context);
  const onOutput = (bytes: Uint8Array) => {
    output.add(bytes);
    return context.onOutput?.(bytes);
  };
  const options = { stdin, signal: context.signal, timeoutMs, onOutput };
  const outcome = await runWatched(ready.program, { ...options, ...watchOptions(context) });
  const { exposed } = outcome;
  const text = output.text();
  const notes = ready.notices.map((notice) => `[${notice}]`);
  if (outcome.quarantined !== null) {
    const paths = outcome.quarantined.paths.join(", ");
    notes.push(`[moved to quarantine, since only the user may create them: ${paths}]`);
    if (outcome.ended === "abort") notes.push("[the command was ended when it made them]");
  }
  if (exposed !== null) {
    notes.push(REDACTED);
    const { message, hint } = exposureNotice(exposed);
    await context.notify?.(`${message}; ${hint}`);
  }
  if (outcome.ended === "abort") context.signal.throwIfAborted();
  if (outcome.ended === "timeout") {
    notes.push(
      `[ended after ${timeoutMs / 1000} s: time limit${
        timeoutMs < LONGEST_TIMEOUT_MS ? `; a higher timeout allows more, at most ${LONGEST_TIMEOUT_MS} ms` : ""
      }]`,
    );
  } else if (outcome.code !== 0 && exposed === null) notes.push(`[exit code ${outcome.code}]`);
  if (outcome.ended === "timeout" || outcome.code !== 0) {
    notes.push(
      ...missed(text, { command: input.command, misses: ready.misses, timedOut: outcome.ended === "timeout" }),
    );
    if (ready.program.note !== null) await noteHidden(text, context);
  }
  if (outcome.leftovers) notes.push("[background processes of the command were ended]");
  const shown = text === "" && notes.length === 0 ? ["(no output)"] : [text.trimEnd(), ...notes];
  return {
    content: shown.filter((part) => part !== "").join("\n"),
    isError: outcome.ended !== "exit" || outcome.code !== 0 || exposed !== null,
    label: context.workspace.ambientLabel,
    details: { exitCode: outcome.code, timedOut: outcome.ended === "timeout" },
  };
}

/** Starts a background command; BashOutput reads it, and the session ends it. */
async function startInBackground(
  { argv, stdin }: NonNullable<Awaited<ReturnType<typeof shellFor>>>,
  context: ToolContext,
): Promise<ToolResult> {
  const { BackgroundCommands, whyNotInBackground } = await import("./background.ts");
  const why = await whyNotInBackground(context);
  if (why !== null) {
    return failure(
      `The command was not started: no background commands, ${why}. Call Bash without background.`,
      context,
    );
  }
  const commands = context.memory.commands ??= new BackgroundCommands();
  const ending = endingWithUs(argv, { group: true });
  const ready = withoutSandbox({ argv: [...ending], cwd: context.workspace.root }, null, context);
  const id = commands.start(ready.program, { stdin, context });
  if (id === null) {
    const ids = commands.ids().join(", ");
    return failure(`Too many background commands run. End one with BashOutput: ${ids}.`, context);
  }
  return success(`Started ${id}. BashOutput {"id":"${id}"} shows what it prints.`, context);
}

const NO_NETWORK =
  /ENOTFOUND|EAI_AGAIN|ENETUNREACH|resolve host|name resolution|name or service not known|network is unreachable/i;

/** Programs that models like → what to use instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  ...{ rg: "use Grep", ag: "use Grep", ack: "use Grep", fd: "use Glob", tree: "use Glob", apply_patch: "use Edit" },
  ...{ python: "try python3", pip: "try python3 -m pip", python3: "try python", open: "use Read", code: "use Edit" },
};

/** Says what to use instead of a missing program, or of an option of another system. */
function notInstalled(text: string): string[] {
  const [, program = ""] = /(?:^|[\s:])([\w.-]{1,40}): (?:command )?not found\s*$/m.exec(text) ?? [];
  const way = Object.hasOwn(INSTEAD, program) ? INSTEAD[program] : undefined;
  if (way !== undefined) return [`[${program} is not installed here: ${way}]`];
  return /^sed: can't read s[^\w\s].*: No such file/m.test(text)
    ? ["[this sed takes -i without a word behind it]"]
    : [];
}

/** Shows the user which program the sandbox hides, if any; the model is not to know of it. */
async function noteHidden(text: string, context: ToolContext): Promise<void> {
  const { workspace: { root, additional }, sandbox, io } = context;
  const { hiddenProgramNotice } = await import("./hidden_program.ts");
  const settings = sandbox?.settings ?? { read: [] };
  const notice = hiddenProgramNotice(text, { io, cwd: root, roots: [root, ...additional], settings });
  if (notice !== null) await notifyOnce(context, notice);
}

/** Returns what to do instead of a git command: whatever involves other repositories is left to the user. */
function insteadOfGit(command: string): string {
  const [, action] = /\bgit\s+(?:-\S+\s+)*(push|pull|fetch)\b/.exec(command) ?? [];
  return action === undefined ? "use the Git tool" : `only the user can run git ${action}`;
}

/** Tells a model what its command could not find; otherwise it would try again, and look for ways around it. */
function missed(
  text: string,
  { command, misses, timedOut }: { command: string; misses: ReadyCommand["misses"]; timedOut: boolean },
): string[] {
  return [
    ...notInstalled(text),
    ...misses.git && /not a git repository/i.test(text)
      ? [`[commands do not see .git here: ${insteadOfGit(command)}]`]
      : [],
    ...misses.network && (timedOut || NO_NETWORK.test(text)) ? ["[commands have no network here]"] : [],
  ];
}
