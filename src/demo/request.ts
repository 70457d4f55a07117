/** A chat request as the demo reads it: only what its script looks at. */

/** A message, with what is missing filled in. */
export interface DemoMessage {
  role: string;
  content: string;
  /** Calls of an assistant message. */
  calls: { id: string; name: string; input: Record<string, unknown> }[];
  /** The call that a tool message answers; empty for other messages. */
  callId: string;
}

/** A request for a reply. */
export interface DemoRequest {
  messages: DemoMessage[];
  /** Names of the tools that may be called. */
  tools: string[];
  stream: boolean;
  includeUsage: boolean;
  /** Bytes of the request, for the token counts. */
  bytes: number;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function inputOf(serialised: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(serialised);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function messageOf(message: Record<string, unknown>): DemoMessage {
  const calls = list(message.tool_calls).map((call) => {
    const called = isRecord(call.function) ? call.function : {};
    return { id: text(call.id), name: text(called.name), input: inputOf(text(called.arguments)) };
  });
  const parts = list(message.content).map((part) => text(part.text)).join("");
  return {
    role: text(message.role),
    content: text(message.content) || parts,
    calls,
    callId: text(message.tool_call_id),
  };
}

/** The request in `body`; null when it is not a chat request. */
export function readDemoRequest(body: string): DemoRequest | null {
  const value = inputOf(body);
  if (!Array.isArray(value.messages)) return null;
  const options = isRecord(value.stream_options) ? value.stream_options : {};
  return {
    messages: list(value.messages).map(messageOf),
    tools: list(value.tools).map((tool) => text(isRecord(tool.function) ? tool.function.name : "")),
    stream: value.stream === true,
    includeUsage: options.include_usage === true,
    bytes: new TextEncoder().encode(body).length,
  };
}
