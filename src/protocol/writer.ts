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
  const system = <S extends SystemEvent["subtype"]>(subtype: S, fields: SystemFields<S>) =>
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
          const { source, callId, label, content, isError } = event.item;
          const isOpen = label === "open";
          const redacted = source === undefined ? "" : system("agentcli_redacted", { tool_use_id: callId, ...source });
          return redacted + line({
            type: "user",
            message: {
              role: "user",
              content: [{
                type: "tool_result",
                tool_use_id: callId,
                content: isOpen ? content : REDACTED,
                is_error: isError,
              }],
            },
            parent_tool_use_id: parent,
            tool_use_result: isOpen ? event.details ?? content : REDACTED,
            ...base(),
          });
        }
        case "steered":
          return line({
            type: "user",
            message: {
              role: "user",
              content: [{ type: "text", text: event.item.label === "open" ? event.text : REDACTED_TEXT }],
            },
            parent_tool_use_id: null,
            isReplay: true,
            ...base(),
            ...event.id === undefined ? {} : { uuid: event.id },
          });
        case "permission_denied":
          return system("permission_denied", {
            tool_name: event.denial.toolName,
            tool_use_id: event.denial.callId,
            message: trace.label === "open" ? event.message : REDACTED_TEXT,
          });
        case "retry":
          return system("api_retry", {
            attempt: event.notice.attempt,
            max_retries: event.notice.maxRetries,
            retry_delay_ms: event.notice.delayMs,
            error_status: event.notice.status,
            error: event.notice.reason,
          });
        case "recovered":
          return system("agentcli_tool_call_recovered", {
            family: event.family,
            tools: event.toolNames.map(trace.toolName),
          });
        case "check":
          return system("agentcli_check", {
            command: event.command,
            state: event.state,
            check_exit_code: event.exitCode,
            rounds: event.rounds,
          });
        case "status":
          return system("status", { status: event.status });
        case "compacted": {
          const { trigger, preTokens, postTokens } = event;
          const compact_metadata = { trigger, pre_tokens: preTokens, post_tokens: postTokens };
          return system("compact_boundary", { compact_metadata });
        }
        case "cache_invalidated":
          return system("agentcli_cache_invalidated", {
            reason: event.reason,
            bytes_kept: event.bytesKept,
            bytes_before: event.bytesBefore,
            bytes_after: event.bytesAfter,
            count: event.count,
            tool_use_ids: event.callIds,
          });
        case "truncated":
          return system("agentcli_truncated", {
            estimated_tokens: event.estimatedTokens,
            prompt_tokens: event.promptTokens,
            hint: event.hint,
          });
        case "nested": {
          const { callId, event: inner } = event;
          const search = searches.get(callId) ?? createProtocolWriter({ ...options, partial: false, parent: callId });
          searches.set(callId, search);
          const text = search.lines(inner);
          return inner.kind === "response" || inner.kind === "tool_result" ? text : "";
        }
        case "sent":
        case "tool_start":
        case "tool_output":
        case "notice":
          return "";
      }
    },
    result: (result) => JSON.stringify(resultEvent(result)) + "\n",
  };
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
