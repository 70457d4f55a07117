/** Writes the lines of a transcript: in the format that other readers know, with protected content redacted. */
import { type Label, labelOf } from "../boundary/policy/label.ts";
import type { ToolSchema, Usage } from "../provider/types.ts";
import type { ShownImage } from "../provider/chat/content.ts";
import { type AssistantItem, imagesOf, type ProtectedSource, type SessionItem, type UsedFiles } from "./item.ts";

export interface LineFacts {
  sessionId: string;
  cwd: string;
  version: string;
  gitBranch?: string | undefined;
  /** ISO 8601, never before that of the line above. */
  timestamp: string;
}

/** The state of the session at a line. A list reads it from the end of the file alone. */
export interface LineState {
  turn: number;
  /** Highest label of what the session holds. */
  sessionLabel: Label;
  model: string;
  /** The provider of the model as the configuration names it; absent in what earlier versions wrote. */
  provider?: string | undefined;
  /** The name that a person gave the session; absent for none. */
  title?: string | undefined;
  /** Whether the model of a role was refused something in the session. */
  isRefused?: boolean | undefined;
}

/** The system message and the tools of a request. */
export interface SessionContext {
  system: { text: string; label: Label; files?: UsedFiles };
  tools: ToolSchema[];
  /** How tools are offered; the engine's word. */
  toolProtocol?: string | undefined;
}

export interface MetaLine {
  projectRoot: string;
  cwd: string;
  version: string;
  model: string;
  timestamp: string;
  /** Items that are no longer there, counted from the beginning: a fork continues the count. */
  removed: number;
  forkedFrom?: string | undefined;
}

/** Version of what agentcli adds to the shape; a higher one is not read. */
export const FORMAT = 1;

/** Token counts in the words of messages; zero before the server has counted. */
export function messageUsage(usage: Usage | null) {
  const { promptTokens = 0, completionTokens = 0, cachedTokens = 0 } = usage ?? {};
  return {
    input_tokens: Math.max(0, promptTokens - cachedTokens),
    output_tokens: completionTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: 0,
  };
}

export interface NamedItem {
  uuid: string;
  item: SessionItem;
}

/** Returns `value` as one line of JSON. Characters that some readers take for line ends are escaped. */
export function lineText(value: unknown): string {
  return JSON.stringify(value).replace(/[\u2028\u2029]/g, (sign) => sign === "\u2028" ? "\\u2028" : "\\u2029") + "\n";
}

/** The first line. */
export function metaLine(meta: MetaLine, sessionId: string): Record<string, unknown> {
  return { type: "meta", format: FORMAT, sessionId, ...meta };
}

/** Returns the line of an item, which callers have redacted. `usage` is for open responses only. */
export function itemLine(
  { uuid, item }: NamedItem,
  options: { parent: string | null; facts: LineFacts; state: LineState; usage?: Usage | null; stopReason?: string },
): Record<string, unknown> {
  const { facts, state } = options;
  return {
    parentUuid: options.parent,
    isSidechain: false,
    userType: "external",
    cwd: facts.cwd,
    sessionId: facts.sessionId,
    version: facts.version,
    gitBranch: facts.gitBranch,
    type: item.kind === "assistant" ? "assistant" : "user",
    message: item.kind === "assistant" ? assistantMessage(item, { ...options, model: state.model }) : userMessage(item),
    uuid,
    timestamp: facts.timestamp,
    costUSD: 0,
    label: labelOf(item),
    agentcli: { ...state, ...extras(item) },
  };
}

/** Returns an item as a part of another line. */
export function innerItem({ uuid, item }: NamedItem, model: string): Record<string, unknown> {
  return {
    uuid,
    type: item.kind === "assistant" ? "assistant" : "user",
    message: item.kind === "assistant" ? assistantMessage(item, { model }) : userMessage(item),
    label: labelOf(item),
    agentcli: extras(item),
  };
}

/** Returns fields that the message format lacks. */
function extras(item: SessionItem): Record<string, unknown> {
  switch (item.kind) {
    case "user":
      return { origin: item.origin, said: item.said, source: item.source, files: item.files, ...imageFacts(item) };
    case "tool_result":
      return { name: item.name, source: item.source, files: item.files, ...imageFacts(item) };
    case "assistant": {
      const odd = item.calls.some((call) => call.input === null || call.problem !== undefined);
      return odd ? { calls: item.calls.map((call) => ({ unread: call.input === null, problem: call.problem })) } : {};
    }
  }
}

/** Returns sizes and names of images, in the order of the blocks. */
function imageFacts(item: SessionItem): { images?: Record<string, unknown>[] } {
  const images = imagesOf(item);
  return images.length === 0 ? {} : { images: images.map(({ name, width, height }) => ({ name, width, height })) };
}

function userMessage(item: Exclude<SessionItem, AssistantItem>): Record<string, unknown> {
  if (item.kind === "user") return { role: "user", content: withBlocks(item.text, imagesOf(item)) };
  const { callId, isError } = item;
  const content = withBlocks(item.content, imagesOf(item));
  return {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: callId, content, is_error: isError }],
  };
}

function withBlocks(text: string, images: readonly ShownImage[]): string | Record<string, unknown>[] {
  if (images.length === 0) return text;
  const shown = images.map(({ mediaType, data }) => ({
    type: "image",
    source: { type: "base64", media_type: mediaType, data },
  }));
  return [{ type: "text", text }, ...shown];
}

function assistantMessage(
  item: AssistantItem,
  options: { model: string; usage?: Usage | null; stopReason?: string },
): Record<string, unknown> {
  return {
    id: item.id,
    type: "message",
    role: "assistant",
    model: options.model,
    content: [
      ...(item.reasoning === "" ? [] : [{ type: "thinking", thinking: item.reasoning, signature: "" }]),
      ...(item.text === "" ? [] : [{ type: "text", text: item.text }]),
      ...item.calls.map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: call.input ?? {} })),
    ],
    stop_reason: options.stopReason ?? null,
    stop_sequence: null,
    usage: messageUsage(options.usage ?? null),
  };
}

/** Returns a line that only agentcli reads. */
export function ownLine(
  subtype: "context" | "rewritten" | "note",
  options: { facts: LineFacts; state: LineState },
  fields: Record<string, unknown>,
): Record<string, unknown> {
  const { sessionId, timestamp } = options.facts;
  return { type: "agentcli", subtype, sessionId, timestamp, ...fields, agentcli: { ...options.state } };
}

/** Returns the placeholder for protected content. */
function placeholder(source?: ProtectedSource): string {
  return source === undefined
    ? "[redacted: protected content (no-cloud) is not stored]"
    : `[redacted: ${source.path} is protected (${source.rule}) and not stored]`;
}

/**
 * Returns the item as it may be stored: open items as they are, protected ones as placeholders. Calls of a protected
 * response keep their ids, which their results refer to, and the names of existing tools; any other name is the model's
 * own words. Rule: specification of the boundary, §5.
 */
export function storedForm(item: SessionItem, isTool: (name: string) => boolean): SessionItem {
  if (labelOf(item) === "open") return item;
  const name = (tool: string) => isTool(tool) ? tool : "Redacted";
  switch (item.kind) {
    case "user": {
      const { origin, said, source } = item;
      return { kind: "user", text: placeholder(source), label: "no-cloud", origin, said, source };
    }
    case "assistant":
      return {
        kind: "assistant",
        id: item.id,
        text: placeholder(),
        reasoning: "",
        calls: item.calls.map((call) => ({ id: call.id, name: name(call.name), input: {} })),
        label: "no-cloud",
      };
    case "tool_result": {
      const { callId, isError, source } = item;
      const content = placeholder(source);
      return { kind: "tool_result", callId, name: name(item.name), content, isError, label: "no-cloud", source };
    }
  }
}
