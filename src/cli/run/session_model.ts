/** What a session knows of its model before the first request. */
import type { ToolProtocol } from "../../agent/context_state.ts";
import { ASSUMED_WINDOW, replyLimit } from "../../agent/limits.ts";
import type { SessionModel } from "../../agent/session.ts";
import type { ModelKnowledge } from "../../provider/known_models.ts";
import type { SessionContext } from "../../session/line.ts";
import type { ChosenModel } from "./choose_model.ts";
import type { RunOptions } from "./verb.ts";

/** Window and limits: what is configured, else what is known of the server, else assumed. */
export function sessionModel(
  { provider, entry, endpoint }: ChosenModel,
  { known, options }: { known: ModelKnowledge; options: Pick<RunOptions, "maxTokens" | "temperature"> },
): SessionModel {
  const found = known.window ?? undefined;
  const window = entry.contextWindow ?? found ?? ASSUMED_WINDOW;
  return {
    provider: provider.name,
    local: endpoint.local,
    keySource: endpoint.keySource,
    entry,
    contextWindow: window,
    windowSource: entry.contextWindow !== undefined ? "configured" : found !== undefined ? "found" : "assumed",
    maxTokens: replyLimit(window, entry, options.maxTokens),
    askedMaxTokens: options.maxTokens,
    temperature: options.temperature,
  };
}

/** How tools are offered: what is configured, else as the stored session did, else what is known, else native. */
export function toolProtocolOf(
  { entry }: Pick<ChosenModel, "entry">,
  { known, before }: { known: ModelKnowledge; before: SessionContext | null },
): ToolProtocol {
  return entry.toolCalls ?? storedProtocol(before) ?? known.toolCalls ?? "native";
}

function storedProtocol(before: SessionContext | null): ToolProtocol | undefined {
  const protocol = before?.toolProtocol;
  return protocol === "native" || protocol === "text" || protocol === "none" ? protocol : undefined;
}
