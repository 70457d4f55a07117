/** Tool calls as clients show them: kind, title, locations and content. */
import { fenced, shortened } from "../../platform/text.ts";
import { isRecord } from "../../platform/record.ts";
import { resolve } from "../../platform/path.ts";
import { REDACTED_INPUT, REDACTED_TEXT } from "../../protocol/turn_event.ts";
import type { ToolCall, ToolResultItem } from "../../session/item.ts";
import { type FileChange, subjectOfUnchecked, type Tool } from "../../tools/tool.ts";
import { cleanLine } from "../../terminal/clean.ts";
import { textBlock, type ToolCallContent, type ToolCallFields, type ToolKind } from "./wire.ts";

const KINDS: Readonly<Record<string, ToolKind>> = {
  Read: "read",
  Git: "read",
  BashOutput: "read",
  Glob: "search",
  Grep: "search",
  Explore: "search",
  Write: "edit",
  Edit: "edit",
  Bash: "execute",
  TodoWrite: "think",
};

const TITLE_LIMIT = 200;

export interface CallPlace {
  /** Where relative paths start. */
  cwd: string;
  tools: readonly Tool[];
}

/** Returns the kind of a tool; external tools are `other`. */
export function kindOf(toolName: string): ToolKind {
  return Object.hasOwn(KINDS, toolName) ? KINDS[toolName] ?? "other" : "other";
}

/** Returns the title of a call: the command, else the tool with what it acts on. */
export function titleOf(toolName: string, subject: string): string {
  const cut = shortened(cleanLine(subject), TITLE_LIMIT);
  if (cut === "") return toolName;
  return toolName === "Bash" ? cut : `${toolName} ${cut}`;
}

/** Returns a call as the model made it. Where it may quote protected content, its name alone is shown. */
export function openedCall(
  call: ToolCall,
  { cwd, tools }: CallPlace,
  { isOpen }: { isOpen: boolean },
): ToolCallFields & { title: string } {
  const { id: toolCallId, name, input } = call;
  const tool = tools.find((known) => known.name === name);
  if (!isOpen) {
    const shown = tool === undefined ? "Redacted" : name;
    return { toolCallId, title: shown, kind: kindOf(name), status: "pending", rawInput: REDACTED_INPUT };
  }
  return {
    toolCallId,
    title: titleOf(name, input === null ? "" : subjectOfUnchecked(tool, input) ?? ""),
    name,
    kind: kindOf(name),
    status: "pending",
    rawInput: input ?? {},
    locations: locationsOf(input, cwd),
  };
}

function locationsOf(input: Record<string, unknown> | null, cwd: string): { path: string; line?: number }[] {
  const path = input?.file_path ?? input?.path;
  if (typeof path !== "string" || path === "") return [];
  const line = input?.offset;
  const isLine = typeof line === "number" && Number.isInteger(line) && line > 0;
  return [{ path: resolve(cwd, path), ...isLine ? { line } : {} }];
}

/** Returns how a call ended. */
export function endedCall(
  item: ToolResultItem,
  { details, change }: { details?: Record<string, unknown> | undefined; change?: FileChange | undefined },
): ToolCallFields {
  const { callId: toolCallId, isError } = item;
  const status = isError ? "failed" as const : "completed" as const;
  if (item.label !== "open") {
    return { toolCallId, status, content: [textContent(REDACTED_TEXT)], rawOutput: REDACTED_TEXT };
  }
  const path = details?.filePath;
  const isChange = change !== undefined && typeof path === "string" && !isError;
  const content: ToolCallContent[] = isChange
    ? [{ type: "diff", path, oldText: change.before, newText: change.after }]
    : [textContent(isError || kindOf(item.name) === "think" ? item.content : fenced(item.content))];
  const line = changedLine(details);
  return {
    toolCallId,
    status,
    content,
    ...isChange ? { locations: [{ path, ...line === null ? {} : { line } }] } : {},
    rawOutput: details ?? item.content,
  };
}

/** Returns a text as content of a call. */
export function textContent(text: string): ToolCallContent {
  return { type: "content", content: textBlock(text) };
}

function changedLine(details: Record<string, unknown> | undefined): number | null {
  const [first] = Array.isArray(details?.structuredPatch) ? details.structuredPatch : [];
  return isRecord(first) && typeof first.newStart === "number" && first.newStart > 0 ? first.newStart : null;
}
