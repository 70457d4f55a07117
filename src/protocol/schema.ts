/**
 * The lines of stream-json, as zod types: the one place that says what stands on a line of standard output. Control
 * lines are answers to the client, and questions to it.
 * The writer takes their types only, so that zod stays off the path of a turn; tests hold every line against them.
 */
import { PERMISSION_MODES } from "../config/types.ts";
import * as z from "../config/zod.ts";
import { CACHE_INVALIDATION_REASONS } from "./turn_event.ts";

const base = { session_id: z.string(), uuid: z.string() };

function system<S extends string, F extends Record<string, z.ZodType>>(subtype: S, fields: F) {
  return z.object({ type: z.literal("system"), subtype: z.literal(subtype), ...base, ...fields });
}

/** Token counts in the protocol's words. */
const usageSchema = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_input_tokens: z.number(),
  cache_creation_input_tokens: z.number(),
});

const textBlock = z.object({ type: z.literal("text"), text: z.string() });
const thinkingBlock = z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() });
const toolUseBlock = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});
const contentBlockSchema = z.discriminatedUnion("type", [textBlock, thinkingBlock, toolUseBlock]);

/** A message of the model: as it begins, and with a block of its content. */
function assistantMessage<C extends z.ZodType>(content: C) {
  return z.object({
    id: z.string(),
    type: z.literal("message"),
    role: z.literal("assistant"),
    model: z.string(),
    content: z.array(content),
    stop_reason: z.null(),
    stop_sequence: z.null(),
    usage: usageSchema,
  });
}

const initSchema = system("init", {
  cwd: z.string(),
  tools: z.array(z.string()),
  mcp_servers: z.array(z.object({ name: z.string(), status: z.string() })),
  model: z.string(),
  permissionMode: z.enum(PERMISSION_MODES),
  slash_commands: z.array(z.string()),
  apiKeySource: z.string(),
  claude_code_version: z.string(),
  output_style: z.string(),
  agents: z.array(z.string()),
  skills: z.array(z.string()),
  plugins: z.array(z.unknown()),
  provider: z.string(),
  local: z.boolean(),
  label: z.enum(["open", "no-cloud"]),
});

const retrySchema = system("api_retry", {
  attempt: z.number(),
  max_retries: z.number(),
  retry_delay_ms: z.number(),
  error_status: z.number().nullable(),
  error: z.string(),
});

const permissionDeniedSchema = system("permission_denied", {
  tool_name: z.string(),
  tool_use_id: z.string(),
  message: z.string(),
});

const recoveredSchema = system("agentcli_tool_call_recovered", {
  family: z.string(),
  tools: z.array(z.string()),
});

const statusSchema = system("status", {
  status: z.enum(["compacting"]).nullable(),
});

const compactBoundarySchema = system("compact_boundary", {
  compact_metadata: z.object({
    trigger: z.enum(["auto", "manual"]),
    pre_tokens: z.number(),
    post_tokens: z.number(),
  }),
});

const cacheInvalidatedSchema = system("agentcli_cache_invalidated", {
  reason: z.enum(CACHE_INVALIDATION_REASONS),
  bytes_kept: z.number(),
  bytes_before: z.number(),
  bytes_after: z.number(),
  count: z.number(),
  tool_use_ids: z.array(z.string()),
});

/** The check of what a turn changed: when it begins, and when it has ended. */
const checkSchema = system("agentcli_check", {
  command: z.string(),
  state: z.enum(["running", "passed", "failed", "not_run"]),
  check_exit_code: z.number().nullable(),
  rounds: z.number(),
});

const truncatedSchema = system("agentcli_truncated", {
  estimated_tokens: z.number(),
  prompt_tokens: z.number(),
  hint: z.string(),
});

/** A result of a tool that is not shown, because it stays with the local model. */
const redactedSchema = system("agentcli_redacted", {
  tool_use_id: z.string(),
  path: z.string(),
  rule: z.string(),
});

/** How far a server that reports it (llama.cpp) has read the prompt, in tokens. */
const prefillSchema = system("agentcli_prefill", {
  elapsed_ms: z.number(),
  processed: z.number(),
  total: z.number(),
});

const assistantSchema = z.object({
  type: z.literal("assistant"),
  ...base,
  message: assistantMessage(contentBlockSchema),
  parent_tool_use_id: z.string().nullable(),
});

const userSchema = z.object({
  type: z.literal("user"),
  ...base,
  message: z.object({
    role: z.literal("user"),
    content: z.array(z.object({
      type: z.literal("tool_result"),
      tool_use_id: z.string(),
      content: z.string(),
      is_error: z.boolean(),
    })),
  }),
  parent_tool_use_id: z.string().nullable(),
  tool_use_result: z.union([z.string(), z.record(z.string(), z.unknown())]),
});

/** A message that went into the turn that was running when it came. */
const replaySchema = z.object({
  type: z.literal("user"),
  ...base,
  message: z.object({ role: z.literal("user"), content: z.array(textBlock) }),
  parent_tool_use_id: z.null(),
  isReplay: z.literal(true),
});

const streamEventBody = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message_start"), message: assistantMessage(z.never()) }),
  z.object({ type: z.literal("content_block_start"), index: z.number(), content_block: contentBlockSchema }),
  z.object({
    type: z.literal("content_block_delta"),
    index: z.number(),
    delta: z.discriminatedUnion("type", [
      z.object({ type: z.literal("text_delta"), text: z.string() }),
      z.object({ type: z.literal("thinking_delta"), thinking: z.string() }),
      z.object({ type: z.literal("input_json_delta"), partial_json: z.string() }),
    ]),
  }),
  z.object({ type: z.literal("content_block_stop"), index: z.number() }),
  z.object({
    type: z.literal("message_delta"),
    delta: z.object({ stop_reason: z.string(), stop_sequence: z.null() }),
    usage: usageSchema,
  }),
  z.object({ type: z.literal("message_stop") }),
]);

const streamEventSchema = z.object({
  type: z.literal("stream_event"),
  ...base,
  event: streamEventBody,
  parent_tool_use_id: z.null(),
});

const resultFields = {
  type: z.literal("result"),
  ...base,
  duration_ms: z.number(),
  duration_api_ms: z.number(),
  is_error: z.boolean(),
  num_turns: z.number(),
  total_cost_usd: z.literal(0),
  usage: usageSchema,
  reread_tokens: z.number(),
  reread_ms: z.number(),
  modelUsage: z.record(
    z.string(),
    z.object({
      inputTokens: z.number(),
      outputTokens: z.number(),
      cacheReadInputTokens: z.number(),
      cacheCreationInputTokens: z.number(),
      webSearchRequests: z.number(),
      costUSD: z.literal(0),
      contextWindow: z.number(),
      maxOutputTokens: z.number(),
    }),
  ),
  permission_denials: z.array(z.object({
    tool_name: z.string(),
    tool_use_id: z.string(),
    tool_input: z.record(z.string(), z.unknown()),
  })),
  check: z.object({ command: z.string(), passed: z.boolean(), rounds: z.number() }).optional(),
  stop_reason: z.string().nullable(),
  label: z.enum(["open", "no-cloud"]),
  exit_code: z.number(),
  error_code: z.string().nullable(),
  hint: z.string().nullable(),
};

const successSchema = z.object({ ...resultFields, subtype: z.literal("success"), result: z.string() });
const errorResultSchema = z.object({
  ...resultFields,
  subtype: z.enum(["error_during_execution", "error_max_turns"]),
  errors: z.array(z.string()),
});

/** Any line of standard output in `stream-json`. */
export const eventSchema = z.union([
  initSchema,
  retrySchema,
  permissionDeniedSchema,
  recoveredSchema,
  statusSchema,
  compactBoundarySchema,
  cacheInvalidatedSchema,
  checkSchema,
  truncatedSchema,
  redactedSchema,
  prefillSchema,
  assistantSchema,
  userSchema,
  replaySchema,
  streamEventSchema,
  successSchema,
  errorResultSchema,
]);

export type ProtocolEvent = z.infer<typeof eventSchema>;
export type ProtocolUsage = z.infer<typeof usageSchema>;
export type ContentBlock = z.infer<typeof contentBlockSchema>;
export type StreamEventBody = z.infer<typeof streamEventBody>;
export type ResultEvent = z.infer<typeof successSchema> | z.infer<typeof errorResultSchema>;

/** The events as JSON Schema, for clients that check what they read. */
export function eventJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(eventSchema), title: "One event of stream-json output" };
}

const controlResponseSchema = z.object({
  type: z.literal("control_response"),
  response: z.discriminatedUnion("subtype", [
    z.object({
      subtype: z.literal("success"),
      request_id: z.string(),
      response: z.record(z.string(), z.unknown()),
    }),
    z.object({
      subtype: z.literal("error"),
      request_id: z.string(),
      error: z.string(),
      error_code: z.string().optional(),
    }),
  ]),
});

const controlRequestSchema = z.object({
  type: z.literal("control_request"),
  request_id: z.string(),
  request: z.discriminatedUnion("subtype", [
    z.object({
      subtype: z.literal("can_use_tool"),
      tool_name: z.string(),
      display_name: z.string(),
      input: z.record(z.string(), z.unknown()),
      description: z.string(),
      tool_use_id: z.string(),
      decision_reason: z.string(),
    }),
    z.object({
      subtype: z.literal("hook_callback"),
      callback_id: z.string(),
      input: z.record(z.string(), z.unknown()),
      tool_use_id: z.string().optional(),
    }),
    z.object({
      subtype: z.literal("mcp_message"),
      server_name: z.string(),
      message: z.record(z.string(), z.unknown()),
    }),
  ]),
});

/** A question that needs no answer any more. */
const controlCancelSchema = z.object({ type: z.literal("control_cancel_request"), request_id: z.string() });

export const controlLineSchema = z.union([controlResponseSchema, controlRequestSchema, controlCancelSchema]);

export type ControlLine = z.infer<typeof controlLineSchema>;
export type ClientQuestion = z.infer<typeof controlRequestSchema>["request"];

/** Control lines as JSON Schema. */
export function controlJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(controlLineSchema), title: "One control line of stream-json output" };
}
