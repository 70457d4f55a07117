/** Runs when a response would end its turn: nudges a model that did not do what it claims, and loads the check if one is due. */
import { isUsersWords } from "../../session/item.ts";
import type { Session } from "../session.ts";
import type { RunningTurn } from "../turn_options.ts";

/** By what the reply holds: for the model, and for the person who looks on. */
const NUDGES = {
  step: {
    text:
      "Your reply announces a step, but it holds no tool call, so nothing was done. Make the call now. If nothing is " +
      "left to do, give your answer.",
    notice: "the response announces a step without a tool call; asked the model to make it",
  },
  change: {
    text: "Your reply says that something was changed, but no file was changed in this turn, and no command ran that " +
      "could have. Make the change now. If none is needed, say so. If you spoke of earlier work, give your answer again.",
    notice: "the response claims a change, but no file was changed and no command ran; told the model so",
  },
  code: {
    text:
      "Your reply shows code, but no file was changed. If a file is to hold it, call Edit or Write now. If not, give " +
      "your answer again.",
    notice: "the response shows code, but no file was changed; asked the model to make the change",
  },
  offer: {
    text: "You were asked to do it, and nobody can answer you here. Do it now, or say why it cannot be done.",
    notice: "the response offers what was asked for; told the model to go on",
  },
  tests: {
    text:
      "Your reply says that tests pass, but no command ran in this turn. Run them now, or give your answer without " +
      "that claim.",
    notice: "the response claims that tests pass, but no command ran; told the model so",
  },
  failed: {
    text:
      "Your reply says that tests pass, but the last command of this turn failed. Repair what is wrong and run them " +
      "again, or give your answer without that claim.",
    notice: "the response claims that tests pass, but the last command failed; told the model so",
  },
} as const;

/** A function that takes a reply without calls, and is true where the turn goes on because of what it holds. */
export function createNudges(session: Session, turn: RunningTurn): (text: string) => Promise<boolean> {
  const { tools, policy, work, items } = session;
  const before = { ...work };
  const workedBefore = before.changes + before.commands > 0 ||
    items.some((item) => item.kind === "tool_result" || (item.kind === "user" && item.origin === "summary"));
  const asked = new Set<"step" | "claim">();
  const find = async (text: string): Promise<keyof typeof NUDGES | null> => {
    // In plan mode nothing is to be done, and a reply that was cut is not the model's last word.
    if (tools.length === 0 || policy.mode === "plan" || turn.count.stopReason !== "end_turn") return null;
    if (turn.count.isCallLost === true && !asked.has("step")) return "step";
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
    if (turn.maxTurns !== undefined && turn.count.turns >= turn.maxTurns) return false;
    const found = await find(text);
    if (found === null) return false;
    asked.add(found === "step" ? "step" : "claim");
    session.items.push({ kind: "user", origin: "engine", text: NUDGES[found].text, label: "open" });
    await turn.emit({ kind: "notice", text: NUDGES[found].notice });
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
