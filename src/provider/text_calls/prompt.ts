/** Tool calls for servers without them: tools in the system prompt, calls and results as text (Hermes form). */
import { imageParts, wordsOf } from "../chat/content.ts";
import type { ContentPart, ToolSchema, WireMessage, WireToolCall } from "../types.ts";
import { isRecord, parseJson } from "../../platform/record.ts";

/**
 * Returns the part of the system prompt that declares tools; empty without tools. The same tools give the same bytes,
 * so that the server's cache of the prompt holds. Source: chat template of Hermes 2 Pro, which most models have seen in
 * training.
 */
export function promptProtocol(tools: readonly ToolSchema[]): string {
  if (tools.length === 0) return "";
  const signatures = tools.map(({ function: { name, description, parameters } }) =>
    JSON.stringify({ name, description, parameters })
  );
  return `# Tools
To use a tool, end your reply with a call in exactly this form, not in a code block:
<tool_call>
{"name": "tool name", "arguments": {"argument name": "value"}}
</tool_call>
Several calls may follow each other. Then wait: results come as <tool_response>. The tools, with JSON Schemas of their arguments:
${signatures.join("\n")}`;
}

/**
 * The history of a request without tool calls and tool messages, in an order that every chat template takes: at most
 * one system message, first; then user and assistant in turn, beginning with user. Adjacent messages of one role are
 * merged, empty ones of the assistant and its reasoning left out. A longer history begins with the same messages.
 */
export function asTextMessages(messages: readonly WireMessage[]): WireMessage[] {
  const system = messages.filter((message) => message.role === "system").map((message) => message.content);
  const turns: { role: "user" | "assistant"; parts: string[]; images: ContentPart[] }[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = textOf(message);
    if (role === "assistant" && content.trim() === "") continue;
    const last = turns.at(-1);
    if (last?.role === role) {
      last.parts.push(content);
      last.images.push(...imageParts(message));
    } else turns.push({ role, parts: [content], images: imageParts(message) });
  }
  // Templates of Mistral and Gemma refuse a conversation that the assistant opens.
  if (turns[0]?.role === "assistant") {
    turns.unshift({ role: "user", parts: ["(The conversation goes on.)"], images: [] });
  }
  const spoken = turns.map(({ role, parts, images }): WireMessage => {
    const content = parts.join("\n");
    return images.length === 0
      ? { role, content }
      : { role: "user", content: [{ type: "text", text: content }, ...images] };
  });
  return system.length === 0 ? spoken : [{ role: "system", content: system.join("\n\n") }, ...spoken];
}

/** The same with the words of the system message before those of the first message, which is the user's. */
export function withoutSystemMessage(messages: readonly WireMessage[]): WireMessage[] {
  const [system, first, ...others] = messages;
  if (system?.role !== "system" || first?.role !== "user") return [...messages];
  const text = `${system.content}\n\n${wordsOf(first)}`;
  const images = imageParts(first);
  const content = images.length === 0 ? text : [{ type: "text" as const, text }, ...images];
  return [{ role: "user", content }, ...others];
}

function textOf(message: WireMessage): string {
  switch (message.role) {
    case "assistant":
      return [message.content.trimEnd(), ...(message.tool_calls ?? []).map(callText)]
        .filter((part) => part !== "").join("\n");
    case "tool":
      return `<tool_response>\n${withoutClosing(message.content)}\n</tool_response>`;
    default:
      return wordsOf(message);
  }
}

function callText(call: WireToolCall): string {
  const parsed = parseJson(call.function.arguments);
  const input = isRecord(parsed) ? parsed : {};
  return `<tool_call>\n${JSON.stringify({ name: call.function.name, arguments: input })}\n</tool_call>`;
}

/** A result that holds the closing tag could speak as the user after it; a space removes the tag's meaning. */
function withoutClosing(content: string): string {
  return content.replaceAll(/<(?=\/tool_response>)/g, "< ");
}
