/** Turns what the engine reports into the events of stream-json, one at a time, in order. */
import { messageUsage } from "../session/line.ts";
import { assistantMessage, createPartialBlocks } from "./partial.ts";
import type { ContentBlock, ProtocolEvent, ResultEvent, StreamEventBody } from "./schema.ts";
import {
  type LabelTrace,
  REDACTED_INPUT,
  REDACTED_TEXT,
  traceLabel,
  type TurnEvent,
  type TurnResult,
} from "./turn_event.ts";
import type { AssistantItem } from "../session/item.ts";

interface WriterOptions {
  sessionId: string;
  /** Also `stream_event`s. */
  partial: boolean;
  version: string;
  model: string;
  /** The call whose search these events are of. */
  parent?: string;
  /** Workflows and skills of the project that a message can begin with. */
  commands?: readonly { name: string; kind: string }[];
}

/** Turns events of the engine into lines. Holds only the state of the open response, and the label of the session. */
export interface ProtocolWriter {
  /** The lines for one event, each ending in LF; empty for events that the protocol does not have. */
  lines(event: TurnEvent): string;
  result(result: TurnResult): string;
}

/** Stands for the result of a tool that may not leave the session (specification of the boundary, letting out). */
const REDACTED = "[no-cloud: this result stays with the local model]";

type SystemEvent = Extract<ProtocolEvent, { type: "system" }>;
/** The fields that every event of this subtype has of its own. */
type SystemFields<S> = Omit<Extract<SystemEvent, { subtype: S }>, "type" | "subtype" | "session_id" | "uuid">;
type SystemLine = <S extends SystemEvent["subtype"]>(subtype: S, fields: SystemFields<S>) => string;

/** A writer for one session. */
export function createProtocolWriter(options: WriterOptions): ProtocolWriter {
  const base = () => ({ session_id: options.sessionId, uuid: crypto.randomUUID() });
  const parent = options.parent ?? null;
  const trace = traceLabel();
  /** By call; what is read there has a label of its own. */
  const searches = new Map<string, ProtocolWriter>();
  const blocks = options.partial ? createPartialBlocks(options.model, trace) : null;
  /** When the last request was sent, in milliseconds of `performance.now`. */
  let requested = 0;
  const line = (event: ProtocolEvent) => JSON.stringify(event) + "\n";
  const system: SystemLine = (subtype, fields) =>
    line({ type: "system", subtype, ...fields as object, ...base() } as SystemEvent);
  const streamed = (bodies: StreamEventBody[] = []) =>
    bodies.map((event) => line({ type: "stream_event", event, ...base(), parent_tool_use_id: null })).join("");
  return {
    lines(event) {
      trace.follow(event);
      switch (event.kind) {
        case "start":
          return system("init", initFields(event, options));
        case "request":
          requested = performance.now();
          return streamed(blocks?.start(event.messageId, event.position));
        case "delta": {
          const { delta } = event;
          if (delta.kind !== "prefill") return streamed(blocks?.delta(delta, event.isUnjudged));
          const elapsed_ms = Math.round(performance.now() - requested);
          return system("agentcli_prefill", { elapsed_ms, processed: delta.processed, total: delta.total });
        }
        case "response": {
          const usage = messageUsage(event.usage);
          const { item, model } = event;
          const messages = contentBlocks(shownWords(item, parent), trace).map((content) => {
            const message = assistantMessage(item.id, { model, content: [content], usage });
            return line({ type: "assistant", message, parent_tool_use_id: parent, ...base() });
          });
          return [streamed(blocks?.close()), ...messages, streamed(blocks?.end(event.stopReason, usage))].join("");
        }
        case "tool_result": {
          const { source, callId: tool_use_id, label, content, isError: is_error } = event.item;
          const isOpen = label === "open";
          const redacted = source === undefined ? "" : system("agentcli_redacted", { tool_use_id, ...source });
          const block = { type: "tool_result" as const, tool_use_id, content: isOpen ? content : REDACTED, is_error };
          const tool_use_result = isOpen ? event.details ?? content : REDACTED;
          const message = { role: "user" as const, content: [block] };
          return redacted + line({ type: "user", message, parent_tool_use_id: parent, tool_use_result, ...base() });
        }
        case "steered": {
          const text = event.item.label === "open" ? event.text : REDACTED_TEXT;
          const message = { role: "user" as const, content: [{ type: "text" as const, text }] };
          const named = event.id === undefined ? {} : { uuid: event.id };
          return line({ type: "user", message, parent_tool_use_id: null, isReplay: true, ...base(), ...named });
        }
        case "nested": {
          const { callId, event: inner } = event;
          const search = searches.get(callId) ?? createProtocolWriter({ ...options, partial: false, parent: callId });
          searches.set(callId, search);
          const text = search.lines(inner);
          return inner.kind === "response" || inner.kind === "tool_result" ? text : "";
        }
        default:
          return reportLine(event, { system, trace });
      }
    },
    result: (result) => JSON.stringify(resultEvent(result)) + "\n",
  };
}

/** The kinds of events whose lines depend on those before. */
type Followed = "start" | "request" | "delta" | "response" | "tool_result" | "steered" | "nested";

/** Returns the line of an event that is reported as it is. */
function reportLine(
  event: Exclude<TurnEvent, { kind: Followed }>,
  { system, trace }: { system: SystemLine; trace: LabelTrace },
): string {
  switch (event.kind) {
    case "permission_denied": {
      const { toolName: tool_name, callId: tool_use_id } = event.denial;
      const message = trace.label === "open" ? event.message : REDACTED_TEXT;
      return system("permission_denied", { tool_name, tool_use_id, message });
    }
    case "retry": {
      const { attempt, maxRetries, delayMs: retry_delay_ms, status: error_status, reason: error } = event.notice;
      return system("api_retry", { attempt, max_retries: maxRetries, retry_delay_ms, error_status, error });
    }
    case "recovered":
      return system("agentcli_tool_call_recovered", {
        family: event.family,
        tools: event.toolNames.map(trace.toolName),
      });
    case "check": {
      const { command, state, exitCode: check_exit_code, rounds } = event;
      return system("agentcli_check", { command, state, check_exit_code, rounds });
    }
    case "status":
      return system("status", { status: event.status });
    case "compacted": {
      const { trigger, preTokens: pre_tokens, postTokens: post_tokens } = event;
      return system("compact_boundary", { compact_metadata: { trigger, pre_tokens, post_tokens } });
    }
    case "cache_invalidated": {
      const { reason, count, callIds: tool_use_ids } = event;
      const { bytesKept: bytes_kept, bytesBefore: bytes_before, bytesAfter: bytes_after } = event;
      const bytes = { bytes_kept, bytes_before, bytes_after };
      return system("agentcli_cache_invalidated", { reason, ...bytes, count, tool_use_ids });
    }
    case "truncated": {
      const { estimatedTokens: estimated_tokens, promptTokens: prompt_tokens, hint } = event;
      return system("agentcli_truncated", { estimated_tokens, prompt_tokens, hint });
    }
    case "sent":
    case "tool_start":
    case "tool_output":
    case "notice":
      return "";
  }
}

function initFields(
  event: TurnEvent & { kind: "start" },
  { version, commands = [] }: WriterOptions,
): SystemFields<"init"> {
  return {
    cwd: event.cwd,
    tools: event.tools,
    mcp_servers: event.mcpServers ?? [],
    model: event.model,
    permissionMode: event.permissionMode,
    slash_commands: commands.map(({ name }) => name),
    apiKeySource: event.keySource,
    // Clients read this field for features they may use; the number is ours.
    claude_code_version: version,
    output_style: "default",
    agents: [],
    skills: commands.filter(({ kind }) => kind === "skill").map(({ name }) => name),
    plugins: [],
    provider: event.provider,
    local: event.local,
    label: event.label,
  };
}

/** Text of a model in a search is for the session that asked, not for the user. */
function shownWords(item: AssistantItem, parent: string | null): AssistantItem {
  if (parent === null || item.label === "open") return item;
  const redacted = (words: string) => words === "" ? "" : REDACTED_TEXT;
  return { ...item, text: redacted(item.text), reasoning: redacted(item.reasoning) };
}

/** The words of a protected response are what the user asked for; its calls are not. */
function contentBlocks(item: AssistantItem, trace: LabelTrace): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  if (item.reasoning !== "") blocks.push({ type: "thinking", thinking: item.reasoning, signature: "" });
  if (item.text !== "") blocks.push({ type: "text", text: item.text });
  for (const call of item.calls) {
    const input = item.label === "open" ? call.input ?? {} : REDACTED_INPUT;
    blocks.push({ type: "tool_use", id: call.id, name: trace.toolName(call.name), input });
  }
  return blocks;
}

/** The closing event of a turn; also what `--output-format json` prints. */
export function resultEvent(result: TurnResult): ResultEvent {
  const usage = messageUsage(result.usage);
  const common = {
    type: "result" as const,
    duration_ms: result.durationMs,
    duration_api_ms: result.apiMs,
    is_error: result.outcome !== "success",
    num_turns: result.turns,
    session_id: result.sessionId,
    uuid: crypto.randomUUID(),
    total_cost_usd: 0 as const,
    usage,
    reread_tokens: result.reread.tokens,
    reread_ms: result.reread.ms,
    modelUsage: {
      [result.model]: {
        inputTokens: usage.input_tokens,
        outputTokens: usage.output_tokens,
        cacheReadInputTokens: usage.cache_read_input_tokens,
        cacheCreationInputTokens: 0,
        webSearchRequests: 0,
        costUSD: 0 as const,
        contextWindow: result.contextWindow,
        maxOutputTokens: result.maxTokens,
      },
    },
    permission_denials: result.denials.map((denial) => ({
      tool_name: denial.toolName,
      tool_use_id: denial.callId,
      tool_input: result.label === "open" ? denial.input : REDACTED_INPUT,
    })),
    check: result.check,
    stop_reason: result.stopReason,
    label: result.label,
    exit_code: result.exitCode,
    error_code: result.errorCode,
    hint: result.hint,
  };
  return result.outcome === "success"
    ? { ...common, subtype: "success", result: result.answer }
    : { ...common, subtype: result.outcome, errors: result.errors };
}
