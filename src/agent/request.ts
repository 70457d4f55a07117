/** From the items of a session to the messages of a request. Same items, same bytes: servers cache prompts by prefix. */
import type { WireMessage } from "../provider/types.ts";
import type { AssistantItem, SessionItem } from "../session/item.ts";

/** How assistant messages are sent back. */
export interface HistoryOptions {
  /** Send the model's reasoning back (`reasoning: keep`). */
  keepReasoning: boolean;
  /** The messages of items that were asked for before. Items do not change, so each needs its message made once. */
  made?: WeakMap<SessionItem, WireMessage>;
}

/** Stands for a reply that never came, so that user and assistant alternate for every chat template. */
const NO_REPLY = "(no reply)";
/** Stands for an empty prompt: servers refuse empty messages. */
const NO_WORDS = "(nothing)";

/**
 * The messages of a request: the system message, then the items. Every call has exactly one result, arguments are valid
 * JSON, no message is empty, user and assistant alternate (also after results that were never answered), and the last
 * message is the user's or a tool's. A summary and the user's words behind it are one message. The messages of a longer
 * session begin with those of a shorter one that could be sent.
 */
export function buildMessages(
  system: string,
  items: readonly SessionItem[],
  options: HistoryOptions,
): WireMessage[] {
  const messages: WireMessage[] = [{ role: "system", content: system }];
  let previous: WireMessage["role"] = "system";
  let summary: string | null = null;
  for (const item of items) {
    const message = messageOf(item, options);
    if (message.role === "user" && summary !== null) {
      messages.pop();
      messages.push({ role: "user", content: `${summary}\n\n${message.content}` });
    } else {
      if (message.role === "user" && (previous === "user" || previous === "tool")) {
        messages.push({ role: "assistant", content: NO_REPLY });
      }
      messages.push(message);
    }
    previous = message.role;
    summary = item.kind === "user" && item.origin === "summary" ? item.text : null;
  }
  return messages;
}

/** One item as a message by itself. */
export function messageOf(item: SessionItem, options: HistoryOptions): WireMessage {
  const known = options.made?.get(item);
  if (known !== undefined) return known;
  const message = newMessage(item, options);
  options.made?.set(item, message);
  return message;
}

function newMessage(item: SessionItem, options: HistoryOptions): WireMessage {
  switch (item.kind) {
    case "user":
      return { role: "user", content: item.text || NO_WORDS };
    case "tool_result":
      return { role: "tool", tool_call_id: item.callId, name: item.name, content: item.content || "(no output)" };
    case "assistant":
      return assistantMessage(item, options);
  }
}

function assistantMessage(item: AssistantItem, options: HistoryOptions): WireMessage {
  const reasoning = options.keepReasoning && item.reasoning !== "" ? { reasoning_content: item.reasoning } : {};
  if (item.calls.length === 0) return { role: "assistant", content: item.text || NO_REPLY, ...reasoning };
  return {
    role: "assistant",
    content: item.text,
    ...reasoning,
    tool_calls: item.calls.map((call) => ({
      id: call.id,
      type: "function",
      // Broken arguments in the history make servers fail at every later turn: an empty object stands for them.
      function: { name: call.name, arguments: JSON.stringify(call.input ?? {}) },
    })),
  };
}
