/** Tries one installed hook with an input of its event. */
import { AgentcliError } from "../../errors.ts";
import { lstatSync } from "../../platform/files.ts";
import type { Io } from "../../platform/io.ts";
import { join, resolve } from "../../platform/path.ts";
import { findProgram } from "../../boundary/programs.ts";
import { runForText } from "../../platform/process.ts";
import { withTemporaryDirectory } from "../../platform/temporary.ts";
import { type HookEvent, isEvent, isScaffold, WORKTREE_EVENT } from "../hooks/events.ts";
import type { FoundArtifact } from "../resources/found.ts";
import type { Finding } from "./try_server.ts";
import { GUARD_FIX, isGuard } from "./guard_state.ts";
import { isTriedApart, makeTrialPlace, type TrialPlace } from "./trial_place.ts";

/** A hook may take this long, in milliseconds. */
const TIME_LIMIT_MS = 30_000;
/** A longer run slows every action of the assistant noticeably. Milliseconds. */
const SLOW_MS = 2_000;
const OUTPUT_LIMIT = 64 * 1024;
/** The exit code of a hook that blocks. */
export const BLOCKED = 2;

interface Trial {
  code: number;
  timedOut: boolean;
  stderr: string;
  durationMs: number;
}

/** Where to try hooks, and the callback for progress. */
export interface TrialContext {
  /** The project: hooks run there. */
  root: string;
  io: Io;
  /** Called before each hook. */
  progress(text: string): Promise<void>;
}

/** `pre_read_code (project, no-cloud-guard)`. */
export function subjectOf({ event = "", scope, name }: FoundArtifact): string {
  return `${event} (${scope}, ${name})`;
}

/**
 * Tries every hook that was found, one after another, on a small project of its own. Hooks of events that the editor
 * does not know are reported as problems elsewhere.
 */
export async function tryHooks(hooks: readonly FoundArtifact[], context: TrialContext): Promise<Finding[]> {
  const known = hooks.flatMap((hook) => {
    const event = hook.event ?? "";
    return isEvent(event) ? [{ hook, event }] : [];
  });
  return await withTemporaryDirectory(async (directory) => {
    const needsWorktree = known.some(({ event }) => event === WORKTREE_EVENT);
    const place = await makeTrialPlace(directory, { ...context, needsWorktree });
    const findings: Finding[] = [];
    for (const [index, { hook, event }] of known.entries()) {
      await context.progress(`hook ${index + 1} of ${known.length}: ${subjectOf(hook)}`);
      findings.push(...await tryHook(hook, event, { ...context, place }));
    }
    return findings;
  }).catch(untried);
}

/** Where there is no place to try hooks in, the doctor still checks everything else. */
export function untried(error: unknown): Finding[] {
  if (!(error instanceof AgentcliError)) throw error;
  return [{ level: "failure", subject: "hooks", message: `they were not tried: ${error.message}`, fix: error.hint }];
}

async function tryHook(
  hook: FoundArtifact,
  event: HookEvent,
  context: TrialContext & { place: TrialPlace },
): Promise<Finding[]> {
  const { place, root, io } = context;
  const entry = hook.entry as { command?: unknown; powershell?: unknown; working_directory?: unknown };
  const line = io.os === "windows" ? entry.powershell : entry.command;
  const subject = subjectOf(hook);
  if (typeof line !== "string") {
    return [{ level: "warning", subject, message: "it has no command line for this system, so it does nothing here" }];
  }
  const workspace = isTriedApart(hook) ? place.directory : root;
  const from = event === WORKTREE_EVENT ? place.worktree : workspace;
  if (from === null) {
    return [{ level: "skipped", subject, message: "it was not run: it needs a git worktree", fix: "install git" }];
  }
  const base = event === WORKTREE_EVENT ? from : root;
  const cwd = typeof entry.working_directory === "string" ? resolve(base, entry.working_directory) : from;
  const environment = io.environment();
  if (event === WORKTREE_EVENT) environment.ROOT_WORKSPACE_PATH = workspace;
  // What our own hooks record of a trial is not the user's.
  if (hook.ours && isScaffold(hook.name) || isGuard(line)) environment.AGENTCLI_HOME = place.home;
  const work = (input: string) => runLine(line, input, { cwd, root, io, environment });
  const touching = (path: string) => payloadOf(event, { path, place, workspace });
  const harmless = await work(touching(place.open));
  if (harmless === null) {
    const fix = io.os === "windows" ? "install PowerShell" : "install bash";
    return [{ level: "failure", subject, message: "the shell that the editor uses is not there", fix }];
  }
  const findings = checkHarmless(hook, event, harmless);
  if (hook.ours && hook.name === "setup-worktree" && harmless.code === 0) findings.push(...checkCopied(subject, place));
  if (!isGuard(line) || harmless.timedOut) return findings;
  const blocked = await work(touching(place.secret));
  if (blocked !== null) findings.push(checkBlocked(subject, { trial: blocked, harmless }));
  const unreadable = await work("{");
  if (unreadable !== null && unreadable.code !== BLOCKED) {
    const message = `it lets an input pass that it cannot read (exit ${unreadable.code} instead of 2)`;
    findings.push({ level: "failure", subject, message, fix: GUARD_FIX });
  }
  return findings;
}

/** Checks that the new worktree has what should be copied into it. */
function checkCopied(subject: string, { worktree, copied }: TrialPlace): Finding[] {
  const missing = copied.filter((name) => lstatSync(join(worktree ?? "", name)) === null);
  if (missing.length === 0) return [];
  const message = `the new worktree has no ${missing.join(", ")}, which is to be copied into it`;
  return [{ level: "failure", subject, message, fix: "run its command line in a worktree and see what it says" }];
}

function checkHarmless(hook: FoundArtifact, event: HookEvent, trial: Trial): Finding[] {
  const { code, timedOut, stderr, durationMs } = trial;
  const subject = subjectOf(hook);
  const firstLine = stderr.trim().split("\n")[0]?.slice(0, 200) ?? "";
  const why = firstLine === "" ? "" : `: ${firstLine}`;
  const failure = (message: string, fix: string): Finding[] => [{ level: "failure", subject, message, fix }];
  if (timedOut) return failure("it did not end within 30 seconds", "see what it waits for; the editor waits too");
  if (code === 0) {
    const message = `lets a harmless action pass (${Math.round(durationMs)} ms)`;
    if (durationMs < SLOW_MS) return [{ level: "ok", subject, message }];
    return [{ level: "warning", subject, message: `${message}: every such action of the assistant waits for it` }];
  }
  const fix = fixOf(hook, { code, firstLine });
  if (event === WORKTREE_EVENT && !(hook.ours && isScaffold(hook.name))) {
    const message = `it fails with exit ${code} in a new worktree without the files of the project${why}`;
    return [{ level: "warning", subject, message, fix: "try it in a worktree of the project" }];
  }
  if (!event.startsWith("pre_")) return failure(`it fails with exit ${code}${why}`, fix);
  return code === BLOCKED
    ? failure(`it blocks a harmless action${why}`, fix)
    : failure(`it fails with exit ${code}, and the editor then lets everything pass${why}`, fix);
}

/** Returns what a person can do about a line that fails. */
function fixOf({ ours, path, name }: FoundArtifact, { code, firstLine }: { code: number; firstLine: string }): string {
  // The script itself is missing; a program that the script calls is named after its name and line.
  const isGone = /\.(?:sh|ps1)['"]?: No such file|cannot find path/i.test(firstLine);
  if (ours && isScaffold(name) && isGone) return "agentcli editor apply";
  if (ours && /^format-on-write: there is no program/.test(firstLine)) {
    return "install the formatter, or name another: agentcli editor add hook format-on-write --set formatter='…'";
  }
  const noProgram = code === 127 ||
    /gave no answer \(exit 12[67]\)|: line \d+: .*(?:No such file|Not a directory|not found|denied)/i.test(firstLine);
  if (ours && isScaffold(name) && noProgram) {
    return `put agentcli on the PATH of the editor, or: agentcli editor add hook ${name} --set agentcli=/path/to/agentcli`;
  }
  return `repair the command line in ${path}`;
}

function checkBlocked(subject: string, { trial, harmless }: { trial: Trial; harmless: Trial }): Finding {
  const { code, stderr } = trial;
  if (code === BLOCKED && harmless.code === BLOCKED) {
    const message = "it blocks a protected file only as it blocks everything, which proves nothing of the guard";
    return { level: "failure", subject, message, fix: "mend the failure above, then try again" };
  }
  if (code !== BLOCKED) {
    const message = `it does not block a protected file (exit ${code} instead of 2)`;
    return { level: "failure", subject, message, fix: GUARD_FIX };
  }
  return stderr.trim() === ""
    ? { level: "warning", subject, message: "it blocks a protected file without a word to the assistant" }
    : { level: "ok", subject, message: "blocks a protected file with exit 2 and says why" };
}

/** Runs a line as an editor does; null where its shell is missing. */
export async function runLine(
  line: string,
  input: string,
  { cwd, root, io, environment }: { cwd: string; root: string; io: Io; environment: Record<string, string> },
): Promise<Trial | null> {
  const name = io.os === "windows" ? "powershell" : "bash";
  const shell = await findProgram(name, { path: environment.PATH ?? environment.Path ?? "", roots: [cwd, root], io });
  if (shell === null) return null;
  const started = io.clock.monotonic();
  const { code, ended, stderr } = await runForText({
    argv: io.os === "windows" ? [shell, "-NoProfile", "-Command", line] : [shell, "-c", line],
    cwd,
    env: environment,
    timeoutMs: TIME_LIMIT_MS,
    stdin: new TextEncoder().encode(input),
    limit: OUTPUT_LIMIT,
  });
  return { code, timedOut: ended === "timeout", stderr, durationMs: io.clock.monotonic() - started };
}

interface Touched {
  path: string;
  place: TrialPlace;
  /** The project that the worktree was made from. */
  workspace: string;
}

function toolInfo(event: HookEvent, { path, place, workspace }: Touched): Record<string, unknown> {
  const { directory } = place;
  switch (event) {
    case "pre_read_code":
    case "post_read_code":
      return { file_path: path };
    case "pre_write_code":
    case "post_write_code":
      return { file_path: path, edits: [{ old_string: "one", new_string: "two" }] };
    case "pre_run_command":
    case "post_run_command":
      return { command_line: commandOn(path, place), cwd: directory };
    case "pre_mcp_tool_use":
      return { mcp_server_name: "files", mcp_tool_name: "read_file", mcp_tool_arguments: { path } };
    case "post_mcp_tool_use":
      return { mcp_server_name: "files", mcp_tool_name: "read_file", mcp_tool_arguments: { path }, mcp_result: "[]" };
    case "pre_user_prompt":
      return { user_prompt: `explain "${path}"` };
    case "post_cascade_response":
      // Empty, so that a hook which keeps answers keeps none of a trial.
      return { response: "" };
    case "post_cascade_response_with_transcript":
      return { transcript_path: `${directory}/transcript.jsonl` };
    case "post_setup_worktree":
      return { worktree_path: place.worktree ?? directory, root_workspace_path: workspace };
  }
}

/** Returns a command on a file; one that should pass is in the form that every guard accepts. */
export function commandOn(path: string, { open }: TrialPlace): string {
  return `${path === open ? "agentcli sandbox -- 'cat'" : "cat"} '${path}'`;
}

/** Returns the input of an event, as the editor writes it. */
function payloadOf(event: HookEvent, touched: Touched): string {
  return JSON.stringify({
    agent_action_name: event,
    trajectory_id: "00000000-0000-4000-8000-000000000001",
    execution_id: "00000000-0000-4000-8000-000000000002",
    timestamp: "2026-01-01T00:00:00.000Z",
    tool_info: toolInfo(event, touched),
  });
}
