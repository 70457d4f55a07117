/** Ends a response that reasons for too long, and asks once more without reasoning. */
import { grouped } from "../../platform/number.ts";
import type { AskModel, AskOptions, ChatDelta, ChatRequest, ChatResponse, RetryNotice } from "../types.ts";
import { mergedFields, type RequestProfile } from "../profiles/profile.ts";

/** Characters of a token of reasoning. */
const CHARACTERS_PER_TOKEN = 4;
/** A server that keeps the limit itself counts tokens better: it is let to, within this factor. */
const PATIENCE = 1.5;
/** Ends the request; never shown. */
const TOO_LONG = "too long";

/**
 * Asks for a response whose reasoning is within the limit of the profile. One that goes beyond it is broken off and asked
 * for again without reasoning, once: what that is comes of it.
 */
export async function askWithinLimit(
  ask: AskModel,
  { request, profile }: { request: ChatRequest; profile: RequestProfile },
  options: AskOptions,
): Promise<ChatResponse> {
  const { reasoningLimit, noThinking } = profile;
  if (reasoningLimit === null) return await ask(request, options);
  const most = reasoningLimit * CHARACTERS_PER_TOKEN * PATIENCE;
  const stop = new AbortController();
  let length = 0;
  const counted = {
    ...options,
    signal: AbortSignal.any([options.signal, stop.signal]),
    onDelta(delta: ChatDelta) {
      if (delta.kind === "reasoning" && (length += delta.text.length) > most) stop.abort(TOO_LONG);
      return options.onDelta(delta);
    },
    onRetry(notice: RetryNotice) {
      length = 0;
      return options.onRetry?.(notice);
    },
  };
  try {
    return await ask(request, counted);
  } catch (error) {
    if (error !== TOO_LONG || options.signal.aborted) throw error;
  }
  const tokens = grouped(reasoningLimit);
  await options.onRetry?.({
    kind: "reasoning",
    attempt: 1,
    maxRetries: 1,
    delayMs: 0,
    status: null,
    reason: `the model reasoned for more than ${tokens} tokens; asked again without reasoning`,
    restart: true,
  });
  return await ask({ ...request, params: mergedFields(request.params ?? {}, noThinking) }, options);
}
