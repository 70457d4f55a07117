/** What a session knows of its model before the first request. */
import { ASSUMED_WINDOW, replyLimit } from "../agent/limits.ts";
import type { SessionModel } from "../agent/session.ts";
import { protocolNamed, safest, type ToolProtocol } from "../agent/tool_protocol.ts";
import type { ModelMetadata } from "../provider/backends/model_metadata.ts";
import type { SessionContext } from "../session/line.ts";
import type { ChosenModel } from "./choose_model.ts";
import type { SessionOptions } from "./session_options.ts";

/** Window and limits: what is configured unless the server refused it, else what is known of the server, else assumed. */
export function sessionModel(
  { provider, entry, endpoint }: ChosenModel,
  { known, options }: { known: ModelMetadata; options: Pick<SessionOptions, "maxTokens" | "temperature"> },
): SessionModel {
  const { contextWindow, windowSource } = windowOf(entry.contextWindow, known);
  return {
    provider: provider.name,
    local: endpoint.local,
    keySource: endpoint.keySource,
    entry,
    contextWindow,
    windowSource,
    maxTokens: replyLimit(contextWindow, entry, options.maxTokens),
    askedMaxTokens: options.maxTokens,
    temperature: options.temperature,
  };
}

function windowOf(
  configured: number | undefined,
  { window, refusedWindow = Infinity }: ModelMetadata,
): Pick<SessionModel, "contextWindow" | "windowSource"> {
  if (configured === undefined) {
    const isFound = window !== undefined && window !== null;
    return { contextWindow: isFound ? window : ASSUMED_WINDOW, windowSource: isFound ? "found" : "assumed" };
  }
  return refusedWindow < configured
    ? { contextWindow: refusedWindow, windowSource: "learnt" }
    : { contextWindow: configured, windowSource: "configured" };
}

/** What a configured protocol leaves open, and a server may need. */
const REFINED: Partial<Record<ToolProtocol, ToolProtocol>> = { native: "single", text: "no_system" };

/**
 * How tools are offered and calls sent back: what is configured, else as the stored session did and as the server is known
 * to need it.
 */
export function toolProtocolOf(
  { entry }: Pick<ChosenModel, "entry">,
  { known, before }: { known: ModelMetadata; before: SessionContext | null },
): ToolProtocol {
  const found = [protocolNamed(before?.toolProtocol), known.toolCalls, known.template];
  if (entry.toolCalls === undefined) return safest(found) ?? "native";
  const refined = REFINED[entry.toolCalls];
  return refined !== undefined && found.includes(refined) ? refined : entry.toolCalls;
}
