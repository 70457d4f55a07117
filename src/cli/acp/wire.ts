/**
 * The types of the Agent Client Protocol, version 1, as far as this side writes them, and failures as clients get them.
 */
import type { Label } from "../../boundary/policy/label.ts";
import type { PermissionMode } from "../../config/types.ts";
import { REDACTED_TEXT } from "../../protocol/turn_event.ts";
import { asAgentcliError, type ErrorCode } from "../../errors.ts";
import { RPC_CODES, RpcError } from "../../rpc/message.ts";

export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string };

export type ToolCallContent =
  | { type: "content"; content: ContentBlock }
  | { type: "diff"; path: string; oldText: string | null; newText: string };

export type ToolKind = "read" | "edit" | "search" | "execute" | "think" | "other";

/** A tool call, or what changed in it. Lists replace earlier ones. */
export interface ToolCallFields {
  toolCallId: string;
  title?: string;
  name?: string;
  kind?: ToolKind;
  status?: "pending" | "in_progress" | "completed" | "failed";
  content?: ToolCallContent[];
  /** `line` from 1. */
  locations?: { path: string; line?: number }[];
  rawInput?: unknown;
  rawOutput?: unknown;
}

export interface PlanEntry {
  content: string;
  priority: "medium";
  status: "pending" | "in_progress" | "completed";
}

/** A command that the client offers after `/`. */
export interface AvailableCommand {
  name: string;
  description: string;
  input?: { hint: string };
}

/** A setting of the session that the client shows as a list. */
export interface ConfigOption {
  id: "mode" | "model" | "thinking";
  name: string;
  description?: string;
  category: "mode" | "model" | "thought_level";
  type: "select";
  currentValue: string;
  options: { value: string; name: string; description?: string }[];
}

/** The modes, for clients without {@link ConfigOption}. */
export interface ModeState {
  currentModeId: PermissionMode;
  availableModes: { id: PermissionMode; name: string; description: string }[];
}

type MessageKind = "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";

type SessionUpdate =
  | { sessionUpdate: MessageKind; content: ContentBlock; messageId?: string }
  | { sessionUpdate: "tool_call"; title: string } & ToolCallFields
  | { sessionUpdate: "tool_call_update" } & ToolCallFields
  | { sessionUpdate: "plan"; entries: PlanEntry[] }
  | { sessionUpdate: "available_commands_update"; availableCommands: AvailableCommand[] }
  | { sessionUpdate: "current_mode_update"; currentModeId: PermissionMode }
  | { sessionUpdate: "config_option_update"; configOptions: ConfigOption[] }
  | { sessionUpdate: "session_info_update"; title?: string; updatedAt?: string }
  | { sessionUpdate: "usage_update"; used: number; size: number }
  | { sessionUpdate: "notice"; severity: "info" | "warning"; title: string }
  | {
    sessionUpdate: "compaction_update";
    compactionId: string;
    status: "in_progress" | "completed" | "failed";
    summary?: ContentBlock[];
  };

export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";

/** Sends a change to the client; resolves when the system took it. */
export type SendUpdate = (update: SessionUpdate) => Promise<void>;

/** A text as a block. */
export function textBlock(text: string): ContentBlock {
  return { type: "text", text };
}

/** The text where its label is `open`: clients keep transcripts of their own. */
export function shownText(text: string, label: Label): string {
  return label === "open" ? text : REDACTED_TEXT;
}

/** The protocol's own error codes. */
const AUTH_REQUIRED = -32000;
const NOT_FOUND = -32002;

const CODES: Partial<Record<ErrorCode, number>> = {
  usage: RPC_CODES.invalidParams,
  unknown_provider: RPC_CODES.invalidParams,
  unknown_model: RPC_CODES.invalidParams,
  policy_refused: RPC_CODES.invalidParams,
  session_in_use: RPC_CODES.invalidRequest,
  unknown_session: NOT_FOUND,
  // The client then offers the methods of `initialize`, one of which looks for servers.
  no_provider: AUTH_REQUIRED,
};

/** The error that a request is answered with. The message holds the hint: many clients show nothing else. */
export function rpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const { code, message, hint } = asAgentcliError(error);
  const text = hint === undefined ? message : `${message} (${hint})`;
  return new RpcError(CODES[code] ?? RPC_CODES.internalError, text, { code, hint });
}

/** The error for parameters that cannot be used. */
export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message);
}

/** Errors for prompts that were not added to the session, so that the user can change them and try again. */
export const REFUSALS: ReadonlySet<ErrorCode> = new Set(["usage", "policy_refused", "permission_denied"]);
