/** One user turn: requests and tool calls alternate until the model ends it or a limit is reached. */
import { AgentcliError } from "../errors.ts";
import { OutputClosed } from "../platform/io.ts";
import type { TurnListener, TurnResult } from "../protocol/turn_event.ts";
import { isUsersWords } from "../session/item.ts";
import type { AdmittedPrompt } from "./admission.ts";
import type { UnfinishedPrompts } from "./ending/unfinished.ts";
import { nextResponse } from "./response.ts";
import { addUsage, failedTurnResult, rereadOf, startTurnState, turnResult } from "./turn_result.ts";
import { forgetGuess, type Session } from "./session.ts";
import { labelOfText, sessionLabel } from "./labels.ts";
import type { RunningTurn, TurnOptions } from "./turn_options.ts";

/** Continue prompts for a model that ended its turn without an answer, by what it gave instead. */
const CONTINUE_PROMPTS = {
  nothing: "Your last reply was empty. Continue: call a tool, or give your answer as text.",
  reasoning:
    "Your last reply held only reasoning, which nobody sees. Continue: call a tool, or give your answer as text.",
  cut: "Your last reply reached the length limit while you were still reasoning. Reason briefly, then call a tool or " +
    "give your answer as text.",
} as const;

/** How often a turn continues after a response without an answer, if there were calls in between. */
const SILENCE_LIMIT = 4;

/** How often a hook may continue a turn that had ended. */
const CONTINUATION_LIMIT = 10;

/**
 * Runs one turn, and reports it through `emit`. Throws only when the output is closed; the result tells how the turn ended
 * otherwise. In any case the session is valid for the next turn afterwards.
 */
export async function runTurn(session: Session, { item }: AdmittedPrompt, options: TurnOptions): Promise<TurnResult> {
  const state = { ...startTurnState(options.io.clock), rereadBefore: rereadOf(session) };
  const emit: TurnListener = (event) => {
    if (event.kind === "permission_denied") state.denials.push(event.denial);
    const searched = event.kind === "nested" && event.event.kind === "response" ? event.event.usage : null;
    if (searched !== null) addUsage(state.usage, searched);
    return options.emit(event);
  };
  const { model, workspace, tools, policy } = session;
  try {
    session.items.push(item);
    forgetGuess(session);
    session.guard?.reset();
    await session.commandWatch?.turnStart(options.signal);
    await emit({
      kind: "start",
      sessionId: session.id,
      cwd: workspace.cwd,
      tools: tools.map((tool) => tool.name),
      provider: model.provider,
      model: model.entry.id,
      local: model.local,
      label: sessionLabel(session),
      permissionMode: policy.mode,
      keySource: model.keySource,
    });
    await converse(session, { ...options, emit, state });
    return turnResult(session, state, options.io.clock);
  } catch (error) {
    if (error instanceof OutputClosed) throw error;
    const { closeOpenCalls } = await import("./tool_calls.ts");
    closeOpenCalls(session, options.signal.aborted ? "Interrupted." : "Not run: the turn ended before.");
    return failedTurnResult(
      session,
      { state, error: options.signal.aborted ? options.signal.reason : error },
      options.io.clock,
    );
  } finally {
    await session.commandWatch?.turnEnd();
  }
}

async function converse(session: Session, turn: RunningTurn): Promise<void> {
  const { state } = turn;
  let isContinued = false;
  let silences = 0;
  let askedAgain = false;
  const continueUnfinished = deferContinuePrompts(session, turn);
  const checkChanges = deferCheck(session, turn);
  let continuations = 0;
  while (true) {
    if (turn.maxTurns !== undefined && state.responses >= turn.maxTurns) {
      const responses = state.responses === 1 ? "1 response" : `${state.responses} responses`;
      throw new AgentcliError("max_turns", `the turn was ended after ${responses} (--max-turns)`, {
        hint: "raise --max-turns, or ask for less at once",
      });
    }
    const item = await nextResponse(session, turn);
    if (item.calls.length > 0) {
      const { runCalls } = await import("./tool_calls.ts");
      const interrupt = await runCalls(item.calls, session, turn);
      if (interrupt) throw new AgentcliError("interrupted", "the turn was ended by whoever was asked about a call");
      await takeSteered(session, turn);
      isContinued &&= silences >= SILENCE_LIMIT;
      continue;
    }
    if (item.text.trim() !== "") {
      const { askAgain, unparsedTextCall, unreadable } = await import("./text_calls.ts");
      const unread = state.stopReason === "end_turn" ? await unparsedTextCall(item.text, session.schemas) : null;
      if (unread !== null && !askedAgain) {
        askedAgain = true;
        await askAgain(session, unread, turn);
        continue;
      }
      if (unread?.ends === true) throw await unreadable(session);
      if (state.stopReason === "max_tokens") {
        const { askForParts } = await import("./cut_write.ts");
        if (await askForParts(item.text, session, turn)) continue;
      }
      if (unread === null && await continueUnfinished(item.text)) continue;
      if (await checkChanges()) continue;
      const more = continuations < CONTINUATION_LIMIT
        ? await turn.hooks?.end(continuations > 0, turn.signal) ?? null
        : null;
      if (more === null) return;
      continuations++;
      const label = await labelOfText(more, "a hook", session);
      session.items.push({ kind: "user", origin: "engine", text: more, label });
      continue;
    }
    const isThought = item.reasoning.trim() !== "";
    const what = state.stopReason === "max_tokens" ? "cut" : isThought ? "reasoning" : "nothing";
    silences++;
    if (isContinued) {
      const { cutForSilence } = await import("./context/fit_context.ts");
      if (what !== "nothing" || !await cutForSilence(session, turn)) throw noAnswer(what);
    }
    isContinued = true;
    session.items.push({ kind: "user", origin: "engine", text: CONTINUE_PROMPTS[what], label: "open" });
    await turn.emit({ kind: "notice", text: "the response had no answer; asked the model to go on" });
  }
}

/**
 * Returns the check of a response without calls: true where the model was asked to go on, as it announced a step or claimed
 * what it did not do.
 */
function deferContinuePrompts(session: Session, turn: RunningTurn): (text: string) => Promise<boolean> {
  const { tools, policy, work, items } = session;
  const before = { ...work };
  const workedBefore = before.changes + before.commands > 0 ||
    items.some((item) => item.kind === "tool_result" || (item.kind === "user" && item.origin === "summary"));
  const asked = new Set<"step" | "claim">();
  const find = async (text: string): Promise<keyof UnfinishedPrompts | null> => {
    // In plan mode nothing has to be done, and a cut response is not finished.
    if (tools.length === 0 || policy.mode === "plan" || turn.state.stopReason !== "end_turn") return null;
    if (turn.state.isCallLost === true && !asked.has("step")) return "step";
    const { announcesStep, emptyClaim, leavesUndone } = await import("./ending/unfinished.ts");
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
    // No response may follow: this one is the answer.
    if (turn.maxTurns !== undefined && turn.state.responses >= turn.maxTurns) return false;
    const found = await find(text);
    if (found === null) return false;
    asked.add(found === "step" ? "step" : "claim");
    const { UNFINISHED_PROMPTS: { [found]: continuePrompt } } = await import("./ending/unfinished.ts");
    session.items.push({ kind: "user", origin: "engine", text: continuePrompt.text, label: "open" });
    await turn.emit({ kind: "notice", text: continuePrompt.notice });
    return true;
  };
}

/** Returns the check of what the turn changed, loaded once something may have been changed; true where the turn continues. */
function deferCheck(session: Session, turn: RunningTurn): () => Promise<boolean> {
  const { work, findChecks } = session;
  const before = { ...work };
  const start = { changes: work.changes, at: Date.now() };
  let check: (() => Promise<boolean>) | null = null;
  return async () => {
    const isIdle = work.changes === before.changes && work.commands === before.commands;
    if (findChecks === undefined || isIdle) return false;
    check ??= (await import("./ending/turn_check.ts")).createTurnCheck(session, turn, start);
    return await check();
  };
}

/** Appends what the user has said meanwhile, and resets the loop guard: the new words may help. */
async function takeSteered(session: Session, { steered, emit }: RunningTurn): Promise<void> {
  for await (const message of steered?.() ?? []) {
    session.items.push(message.item);
    session.guard?.reset();
    await emit({ kind: "steered", ...message });
  }
}

function noAnswer(what: keyof typeof CONTINUE_PROMPTS): AgentcliError {
  return new AgentcliError("empty_reply", "the model ended its turn without an answer, twice", {
    hint: what === "cut"
      ? "raise --max-tokens, or give the model a larger window: it spends the response on reasoning"
      : "ask again, or try another model",
  });
}
