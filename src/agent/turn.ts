/** One user turn: requests and tool calls in turn, until the model ends it or a limit is reached. */
import { admit } from "../boundary/gate.ts";
import { AgentcliError } from "../errors.ts";
import { type Clock, OutputClosed } from "../platform/io.ts";
import type { TurnListener, TurnResult } from "../protocol/turn_event.ts";
import { createHold } from "../provider/text_calls/hold.ts";
import type { ChatDelta, ChatReply, ChatRequest, RetryNotice } from "../provider/types.ts";
import { type AssistantItem, callId, type ToolCall, type UserItem } from "../session/item.ts";
import { type CallOptions, type CallOutcome, runCall } from "./call.ts";
import { buildMessages } from "./request.ts";
import { failure, type TurnCount, turnResult } from "./result.ts";
import { type Session, sessionLabel } from "./session.ts";
import { recoverTextCalls } from "./text_calls.ts";

/** Asks the session's model for one reply. Throws what the door throws; a reply is always complete. */
export type AskModel = (
  request: ChatRequest,
  options: {
    signal: AbortSignal;
    onDelta(delta: ChatDelta): void | Promise<void>;
    onRetry(notice: RetryNotice): void;
  },
) => Promise<ChatReply>;

/** What a turn needs besides the session. */
export interface TurnOptions extends Omit<CallOptions, "io"> {
  io: CallOptions["io"] & { clock: Clock };
  model: AskModel;
  /** End after this many replies. */
  maxTurns: number | undefined;
}

/** Said to a model that ended its turn without saying or doing anything. */
const GO_ON = "Your last reply was empty. Continue: call a tool, or give your answer as text.";

/**
 * Runs one turn and tells of it through `emit`. Throws only when the reader of the output has gone; how else a turn
 * ended is in its result.
 * The session is valid for a next turn afterwards, whatever happened.
 */
export async function runTurn(session: Session, prompt: UserItem, options: TurnOptions): Promise<TurnResult> {
  const count: TurnCount = {
    started: options.io.clock.monotonic(),
    apiMs: 0,
    turns: 0,
    usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
    answer: "",
    denials: [],
    stopReason: null,
  };
  const emit: TurnListener = (event) => {
    if (event.kind === "permission_denied") count.denials.push(event.denial);
    return options.emit(event);
  };
  const { model, workspace, tools, policy } = session;
  try {
    session.items.push(prompt);
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
    await converse(session, { ...options, emit }, count);
    return turnResult(session, count, options.io.clock);
  } catch (error) {
    if (error instanceof OutputClosed) throw error;
    closeOpenCalls(session, options.signal.aborted ? "Interrupted." : "Not run: the turn ended before.");
    return failure(session, { count, error: options.signal.aborted ? options.signal.reason : error }, options.io.clock);
  }
}

async function converse(session: Session, options: TurnOptions, count: TurnCount): Promise<void> {
  let nudged = false;
  while (true) {
    if (options.maxTurns !== undefined && count.turns >= options.maxTurns) {
      throw new AgentcliError("max_turns", `the turn was ended after ${count.turns} replies (--max-turns)`, {
        hint: "raise --max-turns, or ask for less at once",
      });
    }
    const item = await oneReply(session, options, count);
    if (item.calls.length > 0) {
      const interrupt = await runCalls(item.calls, session, options);
      if (interrupt) throw new AgentcliError("interrupted", "the turn was ended by whoever denied the permission");
      continue;
    }
    if (item.text.trim() !== "" || count.stopReason === "max_tokens") return;
    if (nudged) {
      throw new AgentcliError("empty_reply", `the model ended its turn without an answer, twice`, {
        hint: "ask again, or try another model",
      });
    }
    nudged = true;
    session.items.push({ kind: "user", text: GO_ON, label: "open" });
    await options.emit({ kind: "notice", text: "the reply was empty; asked the model to go on" });
  }
}

async function oneReply(session: Session, options: TurnOptions, count: TurnCount): Promise<AssistantItem> {
  const { clock } = options.io;
  const destination = { kind: "provider", name: session.model.provider, local: session.model.local } as const;
  admit(destination, [session.system, ...session.items]);
  const messageId = `msg_${crypto.randomUUID().replaceAll("-", "")}`;
  count.turns++;
  await options.emit({ kind: "request", messageId, turn: count.turns, position: session.items.length });
  const started = clock.monotonic();
  const arrived: string[] = [];
  // A call written as text is not the answer: what may become one is held back until the reply is complete.
  const hold = createHold(session.schemas.length > 0);
  let reply: ChatReply;
  try {
    reply = await options.model(requestOf(session), {
      signal: options.signal,
      onDelta(delta) {
        if (delta.kind !== "text") return options.emit({ kind: "delta", messageId, delta });
        arrived.push(delta.text);
        return emitText(hold.push(delta.text));
      },
      onRetry: (notice) => void options.emit({ kind: "retry", notice }),
    });
  } catch (error) {
    await emitText(hold.end());
    keepPartial(session, { messageId, text: arrived.join("") }, count);
    throw error;
  } finally {
    count.apiMs += clock.monotonic() - started;
  }
  options.signal.throwIfAborted();
  const recovered = await recoverTextCalls(reply, session.schemas);
  if (recovered === null) await emitText(hold.end());
  return await takeReply(session, { reply, messageId, recovered }, { ...options, count });

  function emitText(text: string): void | Promise<void> {
    if (text !== "") return options.emit({ kind: "delta", messageId, delta: { kind: "text", text } });
  }
}

/** The request for the next reply, from nothing but the session. */
export function requestOf(session: Session): ChatRequest {
  const { entry, maxTokens, temperature } = session.model;
  return {
    model: entry.id,
    messages: buildMessages(session.system.text, session.items, { keepReasoning: entry.reasoning === "keep" }),
    tools: entry.toolCalls === "none" ? [] : session.schemas,
    maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(entry.params === undefined ? {} : { params: entry.params }),
  };
}

async function takeReply(
  session: Session,
  received: { reply: ChatReply; messageId: string; recovered: { reply: ChatReply; family: string } | null },
  options: TurnOptions & { count: TurnCount },
): Promise<AssistantItem> {
  const { count } = options;
  const { recovered } = received;
  const reply = recovered?.reply ?? received.reply;
  if (recovered !== null) {
    const toolNames = reply.calls.map((call) => call.name);
    await options.emit({ kind: "recovered", family: recovered.family, toolNames });
  }
  const item: AssistantItem = {
    kind: "assistant",
    id: received.messageId,
    text: reply.text,
    reasoning: reply.reasoning,
    calls: reply.calls.map((call, index) => toolCall(call, { position: session.items.length, index })),
    label: sessionLabel(session),
  };
  session.items.push(item);
  count.answer = reply.text;
  count.stopReason = reply.finish === "length" ? "max_tokens" : item.calls.length > 0 ? "tool_use" : "end_turn";
  if (reply.usage !== null) {
    count.usage.promptTokens += reply.usage.promptTokens;
    count.usage.completionTokens += reply.usage.completionTokens;
    count.usage.cachedTokens += reply.usage.cachedTokens;
  }
  await options.emit({
    kind: "reply",
    item,
    model: reply.model ?? session.model.entry.id,
    usage: reply.usage,
    stopReason: count.stopReason,
  });
  if (reply.finish === "length") {
    await options.emit({
      kind: "notice",
      text: `the reply was cut at the limit of ${session.model.maxTokens} tokens (or the context was full)`,
    });
  }
  return item;
}

function toolCall(call: ChatReply["calls"][number], at: { position: number; index: number }): ToolCall {
  const id = callId(at.position, at.index);
  return { id, name: call.name, input: call.input, ...(call.problem === undefined ? {} : { problem: call.problem }) };
}

/** What arrived of a reply that broke off stays in the session and is the answer so far. */
function keepPartial(session: Session, partial: { messageId: string; text: string }, count: TurnCount): void {
  if (partial.text === "") return;
  count.answer = partial.text;
  session.items.push({
    kind: "assistant",
    id: partial.messageId,
    text: partial.text,
    reasoning: "",
    calls: [],
    label: sessionLabel(session),
  });
}

/** Runs the calls of one reply in order; reads that follow each other run together. True when the turn shall end. */
async function runCalls(calls: readonly ToolCall[], session: Session, options: TurnOptions): Promise<boolean> {
  let interrupt = false;
  for (const batch of batches(calls, session)) {
    options.signal.throwIfAborted();
    const outcomes = await Promise.all(batch.map((call) => runCall(call, session, options)));
    options.signal.throwIfAborted();
    for (const outcome of outcomes) {
      await keepResult(session, outcome, options);
      interrupt ||= outcome.interrupt;
    }
    if (interrupt) break;
  }
  return interrupt;
}

async function keepResult(session: Session, outcome: CallOutcome, options: TurnOptions): Promise<void> {
  session.items.push(outcome.item);
  await options.emit({ kind: "tool_result", item: outcome.item, details: outcome.details });
}

function* batches(calls: readonly ToolCall[], session: Session): Generator<ToolCall[]> {
  const reads = new Set(session.tools.filter((tool) => tool.kind === "read").map((tool) => tool.name));
  let batch: ToolCall[] = [];
  for (const call of calls) {
    if (reads.has(call.name)) {
      batch.push(call);
      continue;
    }
    if (batch.length > 0) yield batch;
    batch = [];
    yield [call];
  }
  if (batch.length > 0) yield batch;
}

/** Gives every call without a result one, so that the history is valid for any server. */
function closeOpenCalls(session: Session, content: string): void {
  const answered = new Set<string>();
  let last = -1;
  session.items.forEach((item, index) => {
    if (item.kind === "tool_result") answered.add(item.callId);
    if (item.kind === "assistant" && item.calls.length > 0) last = index;
  });
  const item = session.items[last];
  if (item?.kind !== "assistant") return;
  for (const call of item.calls) {
    if (answered.has(call.id)) continue;
    const label = sessionLabel(session);
    session.items.push({ kind: "tool_result", callId: call.id, name: call.name, content, isError: true, label });
  }
}
