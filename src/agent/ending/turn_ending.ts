/** Decides after a response without tool calls whether the turn continues, and tells the model why. */
import { AgentcliError } from "../../errors.ts";
import { isUsersWords } from "../../session/item.ts";
import type { UnparsedCall } from "../../provider/text_calls/recover.ts";
import { labelOfTexts, sessionLabel } from "../labels.ts";
import type { TurnResponse } from "../response.ts";
import type { Session } from "../session.ts";
import type { ContinuePrompt, RunningTurn } from "../turn_options.ts";
import type { UnfinishedPrompts, WorkDone } from "./unfinished.ts";

/** Continue prompts for a model that ended its turn without an answer, by what it gave instead. */
const NO_ANSWER = {
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

/** The endings of one turn: each reason to continue counts on its own. Made when the turn begins. */
export class TurnEnding {
  readonly #session: Session;
  readonly #turn: RunningTurn;
  /** The work of the session before this turn. */
  readonly #before: WorkDone;
  readonly #start = Date.now();
  readonly #workedBefore: boolean;
  readonly #asked = new Set<"call" | "step" | "claim">();
  #silences = 0;
  /** The model was asked for an answer, and has done nothing since. */
  #isSilent = false;
  #check: (() => Promise<boolean>) | null = null;
  #continuations = 0;

  constructor(session: Session, turn: RunningTurn) {
    const { work, items } = session;
    this.#session = session;
    this.#turn = turn;
    this.#before = { ...work };
    this.#workedBefore = work.changes + work.commands > 0 ||
      items.some((item) => item.kind === "tool_result" || (item.kind === "user" && item.origin === "summary"));
  }

  /** Notes a response with calls. */
  worked(): void {
    this.#isSilent &&= this.#silences >= SILENCE_LIMIT;
  }

  /**
   * Returns whether the turn continues. Throws `empty_reply` and `invalid_reply` for what is no answer even when asked
   * again.
   */
  async continues(response: TurnResponse): Promise<boolean> {
    const { item: { text }, stopReason } = response;
    if (text.trim() === "") return await this.#afterSilence(response);
    const { unparsedTextCall } = await import("../text_calls.ts");
    const unread = stopReason === "end_turn" ? await unparsedTextCall(text, this.#session.schemas) : null;
    const isAsked = unread !== null
      ? await this.#afterUnread(unread)
      : await this.#afterCut(response) || await this.#afterUnfinished(response);
    return isAsked || await this.#afterCheck() || await this.#afterHook();
  }

  async #ask({ text, notice }: ContinuePrompt): Promise<true> {
    this.#session.items.push({ kind: "user", origin: "engine", text, label: sessionLabel(this.#session) });
    await this.#turn.emit({ kind: "notice", text: notice });
    return true;
  }

  async #afterSilence({ item, stopReason }: TurnResponse): Promise<true> {
    const what = stopReason === "max_tokens" ? "cut" : item.reasoning.trim() !== "" ? "reasoning" : "nothing";
    this.#silences++;
    if (this.#isSilent) {
      const { cutForSilence } = await import("../context/fit_context.ts");
      if (what !== "nothing" || !await cutForSilence(this.#session, this.#turn)) throw noAnswer(what);
    }
    this.#isSilent = true;
    return await this.#ask({ text: NO_ANSWER[what], notice: "the response had no answer; asked the model to go on" });
  }

  async #afterUnread(unread: UnparsedCall): Promise<boolean> {
    const { askAgain, unreadable } = await import("../text_calls.ts");
    if (!this.#asked.has("call")) {
      this.#asked.add("call");
      return await this.#ask(await askAgain(this.#session, unread));
    }
    if (unread.ends) throw await unreadable(this.#session);
    return false;
  }

  async #afterCut({ item, stopReason }: TurnResponse): Promise<boolean> {
    if (stopReason !== "max_tokens") return false;
    const { askForParts } = await import("../cut_write.ts");
    const prompt = await askForParts(item.text, this.#session, this.#turn);
    return prompt !== null && await this.#ask(prompt);
  }

  /** Asks on where the model announced a step, or claimed what it did not do. */
  async #afterUnfinished(response: TurnResponse): Promise<boolean> {
    const { maxTurns, state } = this.#turn;
    // No response may follow: this one is the answer.
    if (maxTurns !== undefined && state.responses >= maxTurns) return false;
    const found = await this.#unfinished(response);
    if (found === null) return false;
    this.#asked.add(found === "step" ? "step" : "claim");
    return await this.#ask((await import("./unfinished.ts")).UNFINISHED_PROMPTS[found]);
  }

  async #unfinished({ item: { text }, stopReason, isCallLost }: TurnResponse): Promise<keyof UnfinishedPrompts | null> {
    const { tools, policy, work, items } = this.#session;
    const [before, workedBefore] = [this.#before, this.#workedBefore];
    // In plan mode nothing has to be done, and a cut response is not finished.
    if (tools.length === 0 || policy.mode === "plan" || stopReason !== "end_turn") return null;
    if (isCallLost && !this.#asked.has("step")) return "step";
    const { announcesStep, emptyClaim, leavesUndone } = await import("./unfinished.ts");
    const last = items.findLast(isUsersWords);
    const prompt = last?.kind === "user" ? last.text : "";
    if (!this.#asked.has("step") && announcesStep({ text, prompt })) return "step";
    if (this.#asked.has("claim") || !tools.some(({ kind }) => kind === "write" || kind === "execute")) return null;
    const done = { ...work, changes: work.changes - before.changes, commands: work.commands - before.commands };
    const isIdle = done.changes + done.commands === 0;
    return emptyClaim({ text, prompt, done, workedBefore }) ??
      (isIdle ? leavesUndone({ text, prompt, workedBefore, isAlone: this.#turn.isSingle === true }) : null);
  }

  /** Runs the check of what the turn changed, loaded once something may have been changed. */
  async #afterCheck(): Promise<boolean> {
    const { work, findChecks } = this.#session;
    const { changes, commands } = this.#before;
    if (findChecks === undefined || (work.changes === changes && work.commands === commands)) return false;
    const start = { changes, at: this.#start };
    this.#check ??= (await import("./turn_check.ts")).createTurnCheck(this.#session, this.#turn, start);
    return await this.#check();
  }

  async #afterHook(): Promise<boolean> {
    if (this.#continuations >= CONTINUATION_LIMIT) return false;
    const text = await this.#turn.hooks?.end(this.#continuations > 0, this.#turn.signal) ?? null;
    if (text === null) return false;
    this.#continuations++;
    const label = await labelOfTexts([text], "a hook", this.#session);
    this.#session.items.push({ kind: "user", origin: "engine", text, label });
    return true;
  }
}

function noAnswer(what: keyof typeof NO_ANSWER): AgentcliError {
  return new AgentcliError("empty_reply", "the model ended its turn without an answer, twice", {
    hint: what === "cut"
      ? "raise --max-tokens, or give the model a larger window: it spends the response on reasoning"
      : "ask again, or try another model",
  });
}
