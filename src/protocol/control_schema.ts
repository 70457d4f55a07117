/** The control lines of stream-json on standard output, as zod types: answers to the client, and questions to it. */
import * as z from "../config/zod.ts";

/** The answer to a request of the client. */
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

/** A question to the client. */
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

/** Any control line. */
export const controlLineSchema = z.union([controlResponseSchema, controlRequestSchema, controlCancelSchema]);

export type ControlLine = z.infer<typeof controlLineSchema>;
export type ClientQuestion = z.infer<typeof controlRequestSchema>["request"];

/** Control lines as JSON Schema. */
export function controlJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(controlLineSchema), title: "One control line of stream-json output" };
}
