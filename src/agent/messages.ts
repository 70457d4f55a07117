/**
 * Turns the items of a session into the messages of a request. The same items give the same bytes: servers cache
 * prompts by prefix.
 */
import { imageParts, imageUrl, type ShownImage, wordsOf } from "../provider/chat/content.ts";
import type { ContentPart, WireMessage } from "../provider/types.ts";
import { type AssistantItem, imagesOf, type SessionItem } from "../session/item.ts";

export interface HistoryOptions {
  /** Send the model's reasoning back (`reasoning: keep`). */
  keepReasoning: boolean;
  /** The messages of items so far. Items do not change, so each message is made once. */
  made?: WeakMap<SessionItem, WireMessage>;
  /** The messages that show the images of a response, by the first of these: an image is too large to encode again. */
  shown?: WeakMap<ShownImage, { images: readonly ShownImage[]; message: WireMessage }>;
}

/** Stands for a missing response, so that user and assistant alternate for every chat template. */
const NO_RESPONSE = "(no reply)";
/** Stands for an empty prompt: servers refuse empty messages. */
const NO_WORDS = "(nothing)";
/** Stands between the results of a response and the images in them, which only a user's message can show. */
const LOOKING = "(looking at the images)";

/**
 * Returns the messages of a request: the system message, then the items. Every call has exactly one result, arguments
 * are valid JSON, no message is empty, user and assistant alternate (also after results that were never answered), and
 * the last message is the user's or a tool's. A summary or a note and the user's words after it are one message. Images
 * of results are a message of the user after the last result of their response. The messages of a longer session begin
 * with those of a shorter one that could be sent.
 */
export function buildMessages(
  system: string,
  items: readonly SessionItem[],
  options: HistoryOptions,
): WireMessage[] {
  const messages: WireMessage[] = [{ role: "system", content: system }];
  let previous: WireMessage["role"] = "system";
  /** A summary, and notes, that stand in front of the user's next words. */
  let lead: string | null = null;
  let shown: ShownImage[] = [];
  const showResults = () => {
    if (shown.length === 0) return;
    messages.push({ role: "assistant", content: LOOKING }, imagesMessage(shown, options));
    previous = "user";
    shown = [];
  };
  for (const item of items) {
    if (item.kind !== "tool_result") showResults();
    else if (item.images !== undefined) shown.push(...item.images);
    const message = messageOf(item, options);
    if (message.role === "user" && lead !== null) {
      messages.pop();
      messages.push(behindLead(lead, message));
    } else {
      if (message.role === "user" && (previous === "user" || previous === "tool")) {
        messages.push({ role: "assistant", content: NO_RESPONSE });
      }
      messages.push(message);
    }
    previous = message.role;
    const isLead = item.kind === "user" && (item.origin === "summary" || item.origin === "note");
    lead = !isLead ? null : lead === null ? item.text : `${lead}\n\n${item.text}`;
  }
  showResults();
  return messages;
}

function imagesMessage(images: readonly ShownImage[], options: HistoryOptions): WireMessage {
  const [first] = images;
  const known = first === undefined ? undefined : options.shown?.get(first);
  const same = known?.images.length === images.length && known.images.every((image, at) => image === images[at]);
  if (known !== undefined && same) return known.message;
  const text = images.map(({ name }) => `Image ${name}`).join("\n");
  const message: WireMessage = { role: "user", content: withImages(text, images) };
  if (first !== undefined) options.shown?.set(first, { images, message });
  return message;
}

function withImages(text: string, images: readonly ShownImage[]): ContentPart[] {
  return [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...images.map((image): ContentPart => ({ type: "image_url", image_url: { url: imageUrl(image) } })),
  ];
}

function behindLead(lead: string, message: WireMessage & { role: "user" }): WireMessage {
  const content = `${lead}\n\n${wordsOf(message)}`;
  if (typeof message.content === "string") return { role: "user", content };
  return { role: "user", content: [{ type: "text", text: content }, ...imageParts(message)] };
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
    case "user": {
      const images = imagesOf(item);
      return { role: "user", content: images.length === 0 ? item.text || NO_WORDS : withImages(item.text, images) };
    }
    case "tool_result":
      return { role: "tool", tool_call_id: item.callId, name: item.name, content: item.content || "(no output)" };
    case "assistant":
      return assistantMessage(item, options);
  }
}

function assistantMessage(item: AssistantItem, options: HistoryOptions): WireMessage {
  const reasoning = options.keepReasoning && item.reasoning !== "" ? { reasoning_content: item.reasoning } : {};
  if (item.calls.length === 0) return { role: "assistant", content: item.text || NO_RESPONSE, ...reasoning };
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
