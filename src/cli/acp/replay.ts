/** The history of a session as updates, for a client that loads it. */
import { writtenTodos } from "../../agent/todos.ts";
import { isUsersWords, type SessionItem, type UserItem } from "../../session/item.ts";
import { type CallPlace, endedCall, openedCall } from "./tool_calls.ts";
import { planOf } from "./updates.ts";
import { type ContentBlock, type SendUpdate, shownText, textBlock } from "./wire.ts";

/** Sends the history, in its order; every call in it ends. */
export async function replay(
  items: readonly SessionItem[],
  { place, send, showProtected }: { place: CallPlace; send: SendUpdate; showProtected: boolean },
): Promise<void> {
  const open = new Set<string>();
  const words = (text: string, { label }: SessionItem) => textBlock(showProtected ? text : shownText(text, label));
  for (const [at, item] of items.entries()) {
    switch (item.kind) {
      case "user":
        if (!isUsersWords(item)) break;
        for (const content of userBlocks(item)) {
          await send({ sessionUpdate: "user_message_chunk", content, messageId: `user${at}` });
        }
        break;
      case "assistant": {
        const { id: messageId, reasoning, text } = item;
        if (reasoning.trim() !== "") {
          await send({ sessionUpdate: "agent_thought_chunk", content: words(reasoning, item), messageId });
        }
        if (text.trim() !== "") {
          await send({ sessionUpdate: "agent_message_chunk", content: words(text, item), messageId });
        }
        for (const call of item.calls) {
          open.add(call.id);
          await send({ sessionUpdate: "tool_call", ...openedCall(call, place, { isOpen: item.label === "open" }) });
        }
        break;
      }
      case "tool_result":
        open.delete(item.callId);
        await send({ sessionUpdate: "tool_call_update", ...endedCall(item, {}) });
    }
  }
  for (const toolCallId of open) await send({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
  const todos = writtenTodos(items.filter(({ label }) => label === "open"));
  if (todos.length > 0) await send({ sessionUpdate: "plan", entries: planOf(todos) });
}

/** A protected message is a placeholder here too: it may hold what was attached to it. */
function userBlocks({ text, label, images = [] }: UserItem): ContentBlock[] {
  const shown = label === "open" ? images : [];
  return [
    textBlock(shownText(text, label)),
    ...shown.map(({ mediaType, data }): ContentBlock => ({ type: "image", mimeType: mediaType, data })),
  ];
}
