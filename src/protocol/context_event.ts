/** What happens to the context, in the words of the protocol. */
import type { TurnEvent } from "./turn_event.ts";

/** The fields of the event besides session and id. */
export function contextEvent(event: TurnEvent & { kind: "status" | "compacted" | "prefix_break" | "truncated" }) {
  switch (event.kind) {
    case "status":
      return { type: "system" as const, subtype: "status" as const, status: event.status };
    case "compacted":
      return {
        type: "system" as const,
        subtype: "compact_boundary" as const,
        compact_metadata: { trigger: event.trigger, pre_tokens: event.preTokens, post_tokens: event.postTokens },
      };
    case "prefix_break":
      return {
        type: "system" as const,
        subtype: "agentcli_prefix_break" as const,
        reason: event.reason,
        bytes_kept: event.bytesKept,
        bytes_before: event.bytesBefore,
        bytes_after: event.bytesAfter,
        count: event.count,
        tool_use_ids: event.callIds,
      };
    case "truncated":
      return {
        type: "system" as const,
        subtype: "agentcli_truncated" as const,
        estimated_tokens: event.estimatedTokens,
        prompt_tokens: event.promptTokens,
        hint: event.hint,
      };
  }
}
