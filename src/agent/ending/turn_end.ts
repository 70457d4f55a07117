/** Runs when a response would end its turn: nudges a model that did not do what it claims, and loads the check if one is due. */
import { isUsersWords } from "../../session/item.ts";
import type { Session } from "../session.ts";
import type { RunningTurn } from "../turn_options.ts";
import type { Nudges } from "./unfinished.ts";

/** A function that takes a reply without calls, and is true where the turn goes on because of what it holds. */
export function createNudges(session: Session, turn: RunningTurn): (text: string) => Promise<boolean> {
  const { tools, policy, work, items } = session;
  const before = { ...work };
  const workedBefore = before.changes + before.commands > 0 ||
    items.some((item) => item.kind === "tool_result" || (item.kind === "user" && item.origin === "summary"));
  const asked = new Set<"step" | "claim">();
  const find = async (text: string): Promise<keyof Nudges | null> => {
    // In plan mode nothing is to be done, and a reply that was cut is not the model's last word.
    if (tools.length === 0 || policy.mode === "plan" || turn.state.stopReason !== "end_turn") return null;
    if (turn.state.isCallLost === true && !asked.has("step")) return "step";
    const { announcesStep, emptyClaim, leavesUndone } = await import("./unfinished.ts");
    const last = session.items.findLast(isUsersWords);
    const prompt = last?.kind === "user" ? last.text : "";
    if (!asked.has("step") && announcesStep({ text, prompt })) return "step";
    if (asked.has("claim") || !tools.some(({ kind }) => kind === "write" || kind === "execute")) return null;
    const done = { ...work, changes: work.changes - before.changes, commands: work.commands - before.commands };
    const isIdle = done.changes + done.commands === 0;
    return emptyClaim({ text, prompt, done, workedBefore }) ??
      (isIdle ? leavesUndone({ text, prompt, workedBefore, isAlone: turn.isSingle === true }) : null);
  };
  return async (text) => {
    // A reply that is all that there may be stands as it is.
    if (turn.maxTurns !== undefined && turn.state.responses >= turn.maxTurns) return false;
    const found = await find(text);
    if (found === null) return false;
    asked.add(found === "step" ? "step" : "claim");
    const { NUDGES: { [found]: nudge } } = await import("./unfinished.ts");
    session.items.push({ kind: "user", origin: "engine", text: nudge.text, label: "open" });
    await turn.emit({ kind: "notice", text: nudge.notice });
    return true;
  };
}

/** The check of what the turn changed; loaded where something may have been. True where the turn goes on. */
export function deferCheck(session: Session, turn: RunningTurn): () => Promise<boolean> {
  const { work, findChecks } = session;
  const before = { ...work };
  const start = { changes: work.changes, at: Date.now() };
  let check: (() => Promise<boolean>) | null = null;
  return async () => {
    const isIdle = work.changes === before.changes && work.commands === before.commands;
    if (findChecks === undefined || isIdle) return false;
    check ??= (await import("./turn_check.ts")).createTurnCheck(session, turn, start);
    return await check();
  };
}
