/** One user turn: requests and tool calls alternate until the model ends it or a limit is reached. */
import { AgentcliError } from "../errors.ts";
import { OutputClosed } from "../platform/io.ts";
import type { TurnListener, TurnResult } from "../protocol/turn_event.ts";
import type { AdmittedPrompt } from "./admission.ts";
import { TurnEnding } from "./ending/turn_ending.ts";
import { nextResponse } from "./response.ts";
import { addUsage, failedTurnResult, rereadOf, startTurnState, turnResult } from "./turn_result.ts";
import { forgetGuess, type Session } from "./session.ts";
import { sessionLabel } from "./labels.ts";
import type { RunningTurn, TurnOptions } from "./turn_options.ts";

/**
 * Runs one turn, and reports it through `emit`. Throws only when the output is closed; the result tells how the turn
 * ended otherwise. In any case the session is valid for the next turn afterwards.
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
  const { state, maxTurns } = turn;
  const ending = new TurnEnding(session, turn);
  while (true) {
    if (maxTurns !== undefined && state.responses >= maxTurns) {
      const responses = state.responses === 1 ? "1 response" : `${state.responses} responses`;
      throw new AgentcliError("max_turns", `the turn was ended after ${responses} (--max-turns)`, {
        hint: "raise --max-turns, or ask for less at once",
      });
    }
    const response = await nextResponse(session, turn);
    if (response.item.calls.length > 0) {
      const { runCalls } = await import("./tool_calls.ts");
      const interrupt = await runCalls(response, session, turn);
      if (interrupt) throw new AgentcliError("interrupted", "the turn was ended by whoever was asked about a call");
      await takeSteered(session, turn);
      ending.worked();
    } else if (!await ending.continues(response)) return;
  }
}

/** Appends what the user has said meanwhile, and resets the loop guard: the new words may help. */
async function takeSteered(session: Session, { steered, emit }: RunningTurn): Promise<void> {
  for await (const message of steered?.() ?? []) {
    session.items.push(message.item);
    session.guard?.reset();
    await emit({ kind: "steered", ...message });
  }
}
