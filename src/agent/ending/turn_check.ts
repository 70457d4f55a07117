/** The check of a project: a command that runs after a turn that changed files, and whose failure the model is told. */
import { highestLabel } from "../../boundary/policy/label.ts";
import type { TurnEvent } from "../../protocol/turn_event.ts";
import { decide } from "../../tools/permission.ts";
import { bashDeclaration } from "../../tools/declarations.ts";
import type { ToolResult } from "../../tools/tool.ts";
import { resultRoom, type Session } from "../session.ts";
import { labelOfTexts } from "../labels.ts";
import { runTool } from "../tool_call.ts";
import type { RunningTurn } from "../turn_options.ts";

export interface ProjectCheck {
  command: string;
  timeoutMs: number;
  /** The file of the project that names it; null where the user named it: that is consent. */
  source: string | null;
  /** The user approved this command for this project before. */
  isApproved: boolean;
  answer(isApproved: boolean): Promise<void>;
}

/**
 * Finds the commands that may be meant, of which the first that may run is used; asked after turns that changed files.
 */
export type FindChecks = () => Promise<readonly ProjectCheck[]>;

/** How often a turn continues because its check failed. */
const ROUND_LIMIT = 2;
/** Lines at the end of the output that the model is shown. */
const LINE_LIMIT = 60;

/** How a turn began: files that the session had changed, and the time in milliseconds since 1970. */
interface TurnStart {
  changes: number;
  at: number;
}

/** Returns the check of one turn, which gives true where the turn continues because the model was told of a failure. */
export function createTurnCheck(session: Session, turn: RunningTurn, start: TurnStart): () => Promise<boolean> {
  let seen = start.changes;
  let since = start.at;
  let chosen: ProjectCheck | null | undefined;
  return async () => {
    const isChanged = session.work.changes > seen || await isFileChanged(session, since);
    if (!isChanged || session.findChecks === undefined) return false;
    if (chosen === undefined) chosen = await choose(await session.findChecks(), session, turn);
    if (chosen === null) return false;
    const { state } = turn;
    const rounds = state.check?.rounds ?? 0;
    const ran = await runCheck(chosen, session, turn);
    seen = session.work.changes;
    since = Date.now();
    const goesOn = ran.state === "failed" && rounds < ROUND_LIMIT &&
      (turn.maxTurns === undefined || state.responses < turn.maxTurns);
    state.check = { command: chosen.command, passed: ran.state === "passed", rounds: goesOn ? rounds + 1 : rounds };
    await turn.emit({ ...ran.event, rounds: state.check.rounds, isForModel: goesOn });
    if (!goesOn) return false;
    const text = messageOf(chosen.command, ran.result, session);
    const label = highestLabel([ran.result.label, await labelOfTexts([text], "the check", session)]);
    session.items.push({ kind: "user", origin: "engine", text, label });
    return true;
  };
}

/** The first command that may run. Whoever cannot be asked about one of the project gets a notice. */
async function choose(
  checks: readonly ProjectCheck[],
  session: Session,
  turn: RunningTurn,
): Promise<ProjectCheck | null> {
  for (const check of checks) {
    const { command, source } = check;
    if (source === null || check.isApproved) return check;
    const decision = decide({ tool: bashDeclaration, subject: command }, session.policy);
    if (decision.behavior === "allow") return check;
    const answer = decision.behavior === "deny" ? null : await turn.ask({
      toolName: bashDeclaration.name,
      callId: "check",
      input: { command },
      subject: command,
      reason: `${source} names this command as the check of the project: it runs after each turn that changes files.`,
    }, turn.signal);
    turn.signal.throwIfAborted();
    // Only this very command is approved.
    const isApproved = answer?.behavior === "allow" &&
      (answer.input === undefined || answer.input["command"] === command);
    if (answer !== null) await check.answer(isApproved);
    if (isApproved) return check;
    await turn.emit({
      kind: "notice",
      text: `${source} names a check that you have not approved, so it was not run: ${command} ` +
        "(to run it, pass it with --check, or approve it on a terminal)",
    });
  }
  return null;
}

interface RanCheck {
  state: "passed" | "failed" | "not_run";
  result: ToolResult;
  event: Omit<TurnEvent & { kind: "check" }, "rounds" | "isForModel">;
}

/** As `Bash` runs its commands: in the sandbox, without keys and standard input, bounded in time and output. */
async function runCheck({ command, timeoutMs }: ProjectCheck, session: Session, turn: RunningTurn): Promise<RanCheck> {
  const { bashTool } = await import("../../tools/bash/tool.ts");
  const event = { kind: "check", command } as const;
  await turn.emit({
    ...event,
    state: "running",
    exitCode: null,
    rounds: turn.state.check?.rounds ?? 0,
    isForModel: false,
  });
  // Of what is kept, one half is the end: all that the model may be shown.
  const resultBytes = 2 * resultRoom(session, 1);
  const input = { command, timeout: timeoutMs };
  const result = await runTool(bashTool, { input, session }, { ...turn, resultBytes });
  const { exitCode, timedOut } = result.details ?? {};
  const code = typeof exitCode === "number" && timedOut !== true ? exitCode : null;
  const state = result.details === undefined ? "not_run" : result.isError ? "failed" : "passed";
  return {
    state,
    result,
    event: { ...event, state, exitCode: code, ...state === "not_run" ? { reason: result.content } : {} },
  };
}

function messageOf(command: string, { content }: ToolResult, session: Session): string {
  const lines = content.split("\n").slice(-LINE_LIMIT).join("\n");
  const end = lines.slice(-resultRoom(session, 1));
  const cut = end.length < content.length ? "[earlier output left out]\n" : "";
  return `The check \`${command}\` failed. The end of its output:\n${cut}${end}\n` +
    "Repair what your changes broke; the check then runs again. If it cannot pass, say why.";
}

/** Whether a file that the session read or wrote was changed since, by a command. */
async function isFileChanged({ memory, workspace }: Session, since: number): Promise<boolean> {
  for (const [path, known] of memory.files) {
    const resolved = await workspace.resolve(path);
    if ("refused" in resolved) continue;
    const status = await workspace.status(resolved);
    if (status === null) return true;
    if (status.modified >= since && (status.modified !== known.modified || status.size !== known.size)) return true;
  }
  return false;
}
