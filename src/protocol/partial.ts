/** The pieces of a response while it arrives, as the protocol's nested blocks: start, deltas, stop, numbered from 0. */
import { messageUsage } from "../session/line.ts";
import type { ChatDelta } from "../provider/types.ts";
import { callId } from "../session/item.ts";
import { type LabelTrace, REDACTED_INPUT } from "./turn_event.ts";
import type { ContentBlock, ProtocolUsage, StreamEventBody } from "./schema.ts";

/** A part of the response itself. */
type ResponseDelta = Exclude<ChatDelta, { kind: "prefill" }>;

interface PartialBlocks {
  /** `position` is the place of the response in the session, from which the ids of its calls follow. */
  start(messageId: string, position: number): StreamEventBody[];
  /** Returns the events of a delta; {@link PartialBlocks.close} sends an unjudged one, once its label is known. */
  delta(delta: ResponseDelta, isUnjudged?: boolean): StreamEventBody[];
  /** Ends the open block, and sends what waited for the label. */
  close(): StreamEventBody[];
  end(stopReason: string, usage: ProtocolUsage): StreamEventBody[];
}

/** Which block a delta belongs to: text and reasoning by kind, calls by their number. */
function blockOf(delta: ResponseDelta): string {
  return delta.kind === "tool_call" ? `call ${delta.index}` : delta.kind;
}

function opening(delta: ResponseDelta, position: number, trace: LabelTrace): ContentBlock {
  switch (delta.kind) {
    case "reasoning":
      return { type: "thinking", thinking: "", signature: "" };
    case "tool_call":
      return { type: "tool_use", id: callId(position, delta.index), name: trace.toolName(delta.name ?? ""), input: {} };
    default:
      return { type: "text", text: "" };
  }
}

/** No block is open at first. The arguments of calls in a protected session are one piece that says so. */
export function createPartialBlocks(model: string, trace: LabelTrace): PartialBlocks {
  let position = 0;
  let index = -1;
  let open: string | null = null;
  /** A message was started and not ended: its request failed on the way and is sent again. */
  let unfinished = false;
  /** Calls by their number, until the label of the response is known. */
  const unjudged = new Map<number, ResponseDelta & { kind: "tool_call" }>();
  const stop = (): StreamEventBody[] => {
    if (open === null) return [];
    open = null;
    return [{ type: "content_block_stop", index }];
  };
  const piece = (delta: Extract<StreamEventBody, { type: "content_block_delta" }>["delta"]): StreamEventBody => ({
    type: "content_block_delta",
    index,
    delta,
  });
  const eventsOf = (delta: ResponseDelta): StreamEventBody[] => {
    const events: StreamEventBody[] = [];
    const block = blockOf(delta);
    if (block !== open) {
      events.push(...stop());
      open = block;
      index++;
      events.push({ type: "content_block_start", index, content_block: opening(delta, position, trace) });
      if (delta.kind === "tool_call" && trace.label !== "open") {
        events.push(piece({ type: "input_json_delta", partial_json: JSON.stringify(REDACTED_INPUT) }));
      }
    }
    if (delta.kind === "text") events.push(piece({ type: "text_delta", text: delta.text }));
    else if (delta.kind === "reasoning") events.push(piece({ type: "thinking_delta", thinking: delta.text }));
    else if (delta.arguments !== "" && trace.label === "open") {
      events.push(piece({ type: "input_json_delta", partial_json: delta.arguments }));
    }
    return events;
  };
  const close = (): StreamEventBody[] => {
    const calls = [...unjudged.values()];
    unjudged.clear();
    return [...calls.flatMap((call) => eventsOf(call)), ...stop()];
  };
  return {
    start(id, at) {
      const before = unfinished ? [...stop(), ...ending("end_turn", messageUsage(null))] : [];
      position = at;
      index = -1;
      open = null;
      unjudged.clear();
      unfinished = true;
      return [...before, {
        type: "message_start",
        message: assistantMessage(id, { model, content: [], usage: messageUsage(null) }),
      }];
    },
    delta(delta, isUnjudged = false) {
      if (delta.kind !== "tool_call" || !isUnjudged || trace.label !== "open") return eventsOf(delta);
      const before = unjudged.get(delta.index);
      unjudged.set(delta.index, { ...delta, ...before, arguments: (before?.arguments ?? "") + delta.arguments });
      return [];
    },
    close,
    end(stopReason, usage) {
      unfinished = false;
      return ending(stopReason, usage);
    },
  };
}

/** A message of the model, without content as it begins, or with a block of it. */
export function assistantMessage<Content extends ContentBlock[]>(
  id: string,
  { model, content, usage }: { model: string; content: Content; usage: ProtocolUsage },
) {
  const [type, role] = ["message", "assistant"] as const;
  return { id, type, role, model, content, stop_reason: null, stop_sequence: null, usage };
}

function ending(stopReason: string, usage: ProtocolUsage): StreamEventBody[] {
  return [
    { type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}
