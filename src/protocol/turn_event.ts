/**
 * Events of a running turn, and the label that they give a session: the one stream that text output, JSON and
 * stream-json are made of.
 */
import { type Label, labelOf } from "../boundary/policy/label.ts";
import type { ChatDelta, RetryNotice, Usage } from "../provider/types.ts";
import type { AssistantItem, ToolResultItem, UserItem } from "../session/item.ts";
import type { FileChange } from "../tools/tool.ts";
import type { PermissionMode } from "../config/types.ts";
import type { ErrorCode } from "../errors.ts";

/** Facts about the session, sent at the start of every turn. */
interface TurnStart {
  kind: "start";
  sessionId: string;
  cwd: string;
  tools: string[];
  provider: string;
  model: string;
  /** As the boundary sees the address. */
  local: boolean;
  label: Label;
  permissionMode: PermissionMode;
  keySource: string;
  /** Servers of tools besides the built-in ones; absent for none. */
  mcpServers?: { name: string; status: string }[];
}

export interface PermissionDenial {
  toolName: string;
  callId: string;
  input: Record<string, unknown>;
}

/** The last run of the check of a turn. */
export interface CheckResult {
  command: string;
  passed: boolean;
  /** How often the turn continued because it failed. */
  rounds: number;
}

export interface TurnResult {
  outcome: "success" | "error_during_execution" | "error_max_turns";
  sessionId: string;
  /** The text of the last complete response. */
  answer: string;
  durationMs: number;
  /** Of it, waiting for the server. */
  apiMs: number;
  turns: number;
  usage: Usage;
  /** Tokens that the server lost from its cache in this turn and read again, and the milliseconds for them. */
  reread: { tokens: number; ms: number };
  model: string;
  contextWindow: number;
  maxTokens: number;
  denials: PermissionDenial[];
  /** Absent where no check ran. */
  check?: CheckResult;
  stopReason: string | null;
  label: Label;
  exitCode: number;
  errorCode: ErrorCode | null;
  hint: string | null;
  errors: string[];
}

/** Why a request does not begin with the bytes of the one before. */
export const CACHE_INVALIDATION_REASONS = [
  "shortened",
  "compacted",
  "images_left_out",
  "one_call_a_message",
  "tool_calls_as_text",
  "no_system_message",
] as const;

/** The next request does not begin with the bytes of the one before: the server has to read it again from there. */
export interface CacheInvalidation {
  kind: "cache_invalidated";
  reason: typeof CACHE_INVALIDATION_REASONS[number];
  /** Bytes at the beginning that stay as they were. */
  bytesKept: number;
  bytesBefore: number;
  bytesAfter: number;
  /** Breaks of the session so far, this one included. */
  count: number;
  /** Calls whose results were shortened. */
  callIds: string[];
}

/** A summary took the place of the older part of the session. */
interface Compacted {
  kind: "compacted";
  trigger: "auto" | "manual";
  /** Estimated tokens of a request before and after. */
  preTokens: number;
  postTokens: number;
  summary: UserItem;
  /** How many items, from the beginning, the summary stands for; the user's last words among them stay after it. */
  replaced: number;
}

/** One thing that happened. */
export type TurnEvent =
  | TurnStart
  /** A request is about to be sent; `messageId` names the response to it, `position` is its place in the session. */
  | { kind: "request"; messageId: string; turn: number; position: number }
  /** The request is on its way: what need not precede it is done now, while the server works. */
  | { kind: "sent" }
  /** `isUnjudged`: a part of a call that may turn out to hold protected content once the response is whole. */
  | { kind: "delta"; messageId: string; delta: ChatDelta; isUnjudged?: boolean }
  | { kind: "response"; item: AssistantItem; model: string; usage: Usage | null; stopReason: string }
  /** A call is about to run. `subject` is what it acts on, for people. */
  | { kind: "tool_start"; callId: string; toolName: string; subject: string }
  /** Output of a running command: for the person, not stored. */
  | { kind: "tool_output"; callId: string; bytes: Uint8Array }
  /** `change`: of a file that was written, as protected as the item. */
  | {
    kind: "tool_result";
    item: ToolResultItem;
    details: Record<string, unknown> | undefined;
    change?: FileChange | undefined;
  }
  /**
   * `message`: why the rules did not allow it. `shown`: for the terminal where a person said no; it holds their words.
   */
  | {
    kind: "permission_denied";
    denial: PermissionDenial;
    subject: string;
    message: string;
    shown?: string | undefined;
  }
  /**
   * A message that the user sent while the turn ran is part of the session; `text` as it was sent, `id` the client's.
   */
  | { kind: "steered"; item: UserItem; text: string; id: string | undefined }
  | { kind: "retry"; notice: RetryNotice }
  /** An event of the search that an Explore call runs: a separate session, of which this one sees only the result. */
  | { kind: "nested"; callId: string; event: TurnEvent }
  /** Calls were found in the text of a response; `family` names the form. */
  | { kind: "recovered"; family: string; toolNames: string[] }
  /** Work between requests that takes its time; null when it is over. */
  | { kind: "status"; status: "compacting" | null }
  /**
   * The check of what the turn changed. `rounds`: how often the turn continued because it failed, as it does where
   * `isForModel`.
   */
  | {
    kind: "check";
    command: string;
    state: "running" | "passed" | "failed" | "not_run";
    /** Null while it runs, and where it was ended at its time limit. */
    exitCode: number | null;
    rounds: number;
    isForModel: boolean;
    reason?: string;
  }
  | CacheInvalidation
  | Compacted
  /** The server dropped a part of the prompt without saying so; `hint` is how to give it more room. */
  | { kind: "truncated"; estimatedTokens: number; promptTokens: number; hint: string }
  /** Information that is not an error: for stderr. */
  | { kind: "notice"; text: string };

/** Takes events in order; a promise is awaited, so that a slow reader slows the turn. */
export type TurnListener = (event: TurnEvent) => void | Promise<void>;

/** Stands for arguments and words that may quote protected content (specification of the boundary, "Letting out"). */
export const REDACTED_TEXT = "[no-cloud: this stays with the local model]";

/** Stands for the arguments of such a call. */
export const REDACTED_INPUT: Readonly<Record<string, unknown>> = { redacted: REDACTED_TEXT };

/** The label of one session, as far as its events have shown. */
export interface LabelTrace {
  /** Takes an event in; ask afterwards. */
  follow(event: TurnEvent): void;
  /** `no-cloud` before the first event: an item without a label counts as protected. */
  readonly label: Label;
  /** A tool's name as it may be shown: a name that no tool of the session has is the model's own word. */
  toolName(name: string): string;
}

/** A trace of nothing yet. */
export function traceLabel(): LabelTrace {
  let label: Label = "no-cloud";
  let tools: ReadonlySet<string> = new Set();
  return {
    follow(event) {
      if (event.kind === "start") {
        label = event.label;
        tools = new Set(event.tools);
      } else if (
        (event.kind === "response" || event.kind === "tool_result" || event.kind === "steered") &&
        labelOf(event.item) !== "open"
      ) {
        label = "no-cloud";
      }
    },
    get label() {
      return label;
    },
    toolName: (name) => label === "open" || tools.has(name) ? name : "Redacted",
  };
}
