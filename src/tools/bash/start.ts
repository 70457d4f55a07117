/** Starts commands: their shell, their environment, and the session's sandbox. */
import { findProgram, type ProgramSearch } from "../../boundary/programs.ts";
import type { Io } from "../../platform/io.ts";
import { harmlessEnvironment, sandboxEnvironment } from "../../boundary/policy/environment.ts";
import { highestLabel, labelOf } from "../../boundary/policy/label.ts";
import {
  SANDBOX_REASONS,
  type SandboxedCommand,
  type SandboxReason,
  sandboxReason,
  type SandboxRefusal,
} from "../../boundary/sandbox/sandbox.ts";
import { unsandboxed, type WatchedProgram, type WatchOptions } from "../../boundary/sandbox/watched_run.ts";
import type { ToolContext } from "../tool.ts";

/** The argument list that runs `command` in PowerShell; null when there is none on the path. */
async function windowsShell(
  command: string,
  search: ProgramSearch,
): Promise<[string, ...string[]] | null> {
  const shell = await findProgram("pwsh", search) ?? await findProgram("powershell", search);
  return shell === null ? null : [shell, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", command];
}

/** Fixed locations first; PATH is used only where none of them has a shell. */
const PLACES = "/bin:/usr/bin:/usr/local/bin:/run/current-system/sw/bin";

/**
 * Reads a command from standard input and runs it with an empty one, since every user of the machine can read a command
 * line. Uses only what every shell has built in; the first argument is a newline.
 */
const READ_COMMAND = '_c=; while IFS= read -r _l || [ "$_l" ]; do _c=$_c$_l$1; done; shift; ' +
  'eval "unset _c _l; $_c" </dev/null';

/**
 * Returns how `command` runs, unchanged, in bash, else in sh; PowerShell on Windows. Null when there is no shell that
 * may be started. Standard error goes where standard output goes, which keeps their order.
 */
export async function shellFor(
  command: string,
  { io, roots }: Pick<ProgramSearch, "roots"> & { io: Pick<Io, "env" | "os"> },
): Promise<{ argv: [string, ...string[]]; stdin?: Uint8Array<ArrayBuffer> } | null> {
  const path = io.env("PATH") ?? "";
  if (io.os === "windows") {
    const argv = await windowsShell(command, { path, roots, io });
    return argv && { argv };
  }
  const search = { path: `${PLACES}:${path}`, roots, io };
  const sh = await findProgram("sh", search);
  const shell = await findProgram("bash", search) ?? sh;
  if (shell === null) return null;
  // The small outer shell joins the two outputs, forbids core files (they hold memory), and becomes the inner one.
  const inner = [shell, "-c", READ_COMMAND, shell, "\n"];
  const argv: [string, ...string[]] = [sh ?? shell, "-c", 'ulimit -c 0; exec "$@" 2>&1', "sh", ...inner];
  return { argv, stdin: new TextEncoder().encode(command) };
}

/** Variables of every command: there is no person for a pager or a prompt. */
const SET: Readonly<Record<string, string>> = {
  TERM: "dumb",
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  PAGER: "cat",
};

/** The variables of a child process, from ours. `secret` are the names that hold resolved keys. */
export function childEnvironment(
  environment: Readonly<Record<string, string>>,
  secret: readonly string[],
): Record<string, string> {
  return { ...harmlessEnvironment(environment, secret), ...SET };
}

/** A command, ready to start. */
export interface ReadyCommand {
  program: WatchedProgram;
  /** Why the sandbox does not show some places, one sentence each. */
  notices: readonly string[];
  /** Whether a failed command may have lacked repositories or the network. */
  misses: { git: boolean; network: boolean };
}

/** How a program is started: in the sandbox where it needs one; otherwise with our variables, in `cwd`. */
interface CommandLine {
  argv: [string, ...string[]];
  cwd: string;
  env?: Readonly<Record<string, string>>;
}

/** Returns the command, in a sandbox where it needs one; or, as text for the model, why it does not run. */
export async function readyCommand(line: CommandLine, context: ToolContext): Promise<ReadyCommand | string> {
  const reason = await sandboxReason(context);
  const sandboxed = reason === null ? null : await inSandbox(line.argv, reason, context);
  return sandboxed ?? withoutSandbox(line, reason, context);
}

/** Returns a command as it runs where nothing is protected, or no sandbox can be made for the reason `accepted`. */
export function withoutSandbox(
  { env = {}, ...line }: CommandLine,
  accepted: SandboxReason | null,
  { workspace, sandbox, io, secretVariables }: ToolContext,
): ReadyCommand {
  const variables = { ...childEnvironment(io.environment(), secretVariables), ...env };
  const program = unsandboxed({ ...line, env: variables }, { workspace, sandbox, accepted });
  return { program, notices: [], misses: { git: false, network: false } };
}

/** The command in the sandbox; or, as text for the model, why it does not run; null where it may run without one. */
async function inSandbox(
  argv: [string, ...string[]],
  reason: SandboxReason,
  context: ToolContext,
): Promise<ReadyCommand | string | null> {
  const { workspace, sandbox, sessionLabel } = context;
  const { protection } = workspace;
  if (sandbox === undefined) {
    return "Commands are refused in a project with protected paths: they could read past the protection. " +
      "Use Read, Grep and Glob to look, Edit and Write to change.";
  }
  const label = highestLabel([labelOf({ label: sessionLabel }), workspace.ambientLabel]);
  const environment = await sandboxEnvironment(context.io.environment(), {
    named: sandbox.settings.env,
    secret: context.secretVariables,
    holdsProtected: holdsProtected(context),
  });
  const git = reason !== "project";
  // A command can read what a person saves at a protected path meanwhile, and send it at once: no check is soon enough.
  const closed = reason === "project" && !workspace.local && sandbox.settings.network;
  if (closed) await notifyOnce(context, CLOSED_NETWORK);
  else if (label !== "open" && sandbox.settings.network) await notifyOnce(context, NETWORK_LOST);
  const network = label === "open" && !closed && (reason === "external" || sandbox.settings.network);
  const sandboxed = await sandbox.wrapCommand({
    root: workspace.root,
    additional: workspace.additional,
    cwd: workspace.root,
    argv,
    env: { ...environment, ...SET },
    protection,
    git,
    network,
  });
  if (reason === "external") await notifyOnce(context, externalNotice(sandboxed));
  if (sandboxed.kind === "refused") {
    // Nothing that a command can leave in the project may make the next one run without a sandbox.
    if (reason === "external" && sandboxed.missing) return null;
    const { missing, hint } = sandboxed;
    // How to protect less is for the user alone.
    if (!missing) await notifyOnce(context, `commands do not run: ${sandboxed.reason}; ${hint}`);
    return `The command was not run: ${SANDBOX_REASONS[reason]}, and ${sandboxed.reason}. ` +
      (missing ? `Tell the user: ${hint}. ` : "") + "Use Read, Grep and Glob to look, Edit and Write to change.";
  }
  const { notices } = sandboxed;
  return { program: sandboxed, notices, misses: { git: !git, network: !network } };
}

/** Returns how what a command left is dealt with. */
export function watchOptions(context: ToolContext): WatchOptions {
  const { notify, protectChanges } = context;
  return { name: "a command", notify, protectChanges, holdsProtected: holdsProtected(context) };
}

/** Returns the scanner that looks for protected content in a text. */
function holdsProtected({ checkWrite }: ToolContext): WatchOptions["holdsProtected"] {
  return checkWrite && (async (text) => await checkWrite(text, "it") !== null);
}

/** Says to the user why a command that could see a protected path was ended, and how to keep that from happening. */
export function exposureNotice(path: string): { message: string; hint: string } {
  return {
    message:
      `${path} became protected or was replaced while the command ran, which could see it: the command was ended`,
    hint:
      "run the command again; many editors replace a file when they save it: saved in place, or in a directory that " +
      "is protected as a whole, it stays hidden",
  };
}

const CLOSED_NETWORK =
  "commands of this remote model have no network, though sandbox.network is true: this project has " +
  "protected paths; run what needs it by yourself: agentcli sandbox --network -- COMMAND";

const NETWORK_LOST =
  "commands of this session have no network any more, though sandbox.network is true: the session has read protected " +
  "content, which a command could send; run what needs the network yourself (agentcli sandbox --network -- COMMAND), or " +
  "start a new session";

/** Returns that commands run in a sandbox because of other projects, or could not. */
function externalNotice(sandboxed: SandboxedCommand | SandboxRefusal): string {
  return sandboxed.kind === "ready" || !sandboxed.missing
    ? "commands of this model run in a sandbox, since other projects of yours have protected paths: they see this " +
      "project, the system, and what sandbox.read and sandbox.write name; agentcli config set sandbox.mode never turns it off"
    : "commands of this model run without a sandbox and could read protected files of other projects: " +
      `${sandboxed.reason}; ${sandboxed.hint}`;
}

/** Shows the user a notice once in a session. */
export async function notifyOnce(
  { sandbox, notify }: Pick<ToolContext, "sandbox" | "notify">,
  text: string,
): Promise<void> {
  if (sandbox === undefined || sandbox.shown.has(text)) return;
  sandbox.shown.add(text);
  await notify?.(text);
}
