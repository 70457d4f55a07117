/** Calibrates tokens and the window by responses and failures of the server. */
import { byteLength } from "../../platform/text.ts";
import type { TurnListener } from "../../protocol/turn_event.ts";
import { wordsOf } from "../../provider/chat/content.ts";
import type { ProviderFailure } from "../../provider/failure.ts";
import type { Usage } from "../../provider/types.ts";
import { estimateOf, type SentRequest } from "../chat_request.ts";
import { showsImages } from "../../session/item.ts";
import { buildMessages, messageOf } from "../messages.ts";
import { type Session, setWindow } from "../session.ts";
import { checkUsage, type CountedPrompt, estimateTokens, leastTokens } from "./tokens.ts";

/** No agent can work in a window below this: such a number was misread. Tokens. */
export const SMALLEST_WINDOW = 512;

/**
 * Takes over the window that the server reports now that the model has answered, where it was only assumed: a server
 * that was loading, or a router whose model was not loaded, did not report it before the first request.
 */
export async function takeReportedWindow(session: Session): Promise<void> {
  const window = await session.server.windowOnceLoaded();
  if (window !== null && window >= SMALLEST_WINDOW) setWindow(session, window, "found");
}

/**
 * Learns from the counts of a response. Where they show that the server dropped a part of the prompt, that is said, and
 * the failure that making room and asking again helps against; else null.
 */
export async function calibrate(
  session: Session,
  response: { usage: Usage | null; sent: SentRequest },
  { emit }: { emit: TurnListener },
): Promise<ProviderFailure | null> {
  const { context, model, server, items } = session;
  const { history } = context;
  const isFirst = !context.answered;
  context.answered = true;
  // Asked while the tools run; taken over before the next request.
  if (model.windowSource === "assumed") void server.windowOnceLoaded();
  if (response.usage === null) return null;
  const { usage: { promptTokens, cachedTokens }, sent } = response;
  const before = countedBefore(session, { ...sent, cachedTokens });
  const verdict = checkUsage({
    ...sent,
    promptTokens,
    bytesPerToken: context.bytesPerToken,
    least: (enough) => leastTokens(buildMessages(session.system.text, items, history).map(wordsOf), enough),
    before,
  });
  switch (verdict.kind) {
    case "whole":
      await followCache(session, { usage: response.usage, sent }, { emit });
      context.bytesPerToken = verdict.bytesPerToken;
      context.provenTokens = Math.max(context.provenTokens, promptTokens);
      context.counted = {
        promptTokens,
        bytes: sent.bytes,
        items: session.items.length,
        grew: before !== null || context.counted?.grew === true,
      };
      // The server has room for what it took, and most likely for as much again.
      if (model.windowSource === "assumed" && promptTokens * 2 > model.contextWindow) {
        setWindow(session, promptTokens * 2, "assumed");
      } else if (model.windowSource === "guessed" && promptTokens > model.contextWindow) {
        setWindow(session, promptTokens * 2, "guessed");
      }
      return null;
    case "cut": {
      const { checkDropped } = await import("./lost_prompt.ts");
      return await checkDropped(session, { ...verdict, promptTokens, sent, isFirst }, { emit });
    }
    case "unusable":
      return null;
  }
}

/** Tokens; losing no more than this of a prompt read before is normal for a cache. */
const CACHE_BLOCK = 512;

/** Keeps account of the server's prompt cache, and says once when it lost what it had without a change of ours. */
async function followCache(
  session: Session,
  { usage, sent }: { usage: Usage; sent: SentRequest },
  { emit }: { emit: TurnListener },
): Promise<void> {
  const { promptTokens, cachedTokens, cacheReported, promptMs = 0 } = usage;
  const { cache, said } = session.context;
  if (cacheReported !== true || cachedTokens > promptTokens) return;
  const { last } = cache;
  cache.last = { promptTokens, cachedTokens, bytes: sent.bytes };
  if (last === null || sent.bytes - sent.newBytes !== last.bytes) return;
  const again = Math.min(last.promptTokens, promptTokens) - cachedTokens;
  if (again <= CACHE_BLOCK) return;
  const ms = Math.round(promptMs * again / (promptTokens - cachedTokens));
  cache.rereadTokens += again;
  cache.rereadMs += ms;
  if (said.has("reread")) return;
  said.add("reread");
  const { lossNotice } = await import("./lost_prompt.ts");
  await emit({ kind: "notice", text: await lossNotice(session, { again, ms, promptTokens, cachedTokens }) });
}

/**
 * Returns the counted prompt that a request begins with; null where that was not counted whole, or has changed since.
 */
function countedBefore(
  { context, items }: Session,
  sent: SentRequest & { cachedTokens: number },
): CountedPrompt["before"] {
  const { counted, bytesPerToken, history } = context;
  if (counted === null || sent.newBytes === 0 || sent.bytes - sent.newBytes < counted.bytes) return null;
  // What was smaller than a prompt that was taken whole is not cut, whatever the count says; images count as they like.
  const expected = counted.promptTokens + estimateTokens(sent.bytes - counted.bytes, bytesPerToken);
  if (expected <= context.provenTokens || items.some(showsImages)) return null;
  // Templates show the reasoning of the last turn, not that of turns before.
  const reasoning = history.keepReasoning
    ? items.reduce((sum, item) => sum + (item.kind === "assistant" ? byteLength(item.reasoning) : 0), 0)
    : 0;
  return {
    promptTokens: counted.promptTokens,
    // Some count the cached tokens beside the others.
    slack: sent.cachedTokens + Math.ceil(reasoning / bytesPerToken * 1.5),
    // After a cut the next prompt is shorter than what was sent: there only a count that falls is proof.
    leastNew: (enough) =>
      sent.bytes - sent.newBytes > counted.bytes
        ? 0
        : leastTokens(items.slice(counted.items).map((item) => wordsOf(messageOf(item, history))), enough),
  };
}

/**
 * Learns from a refusal as too long: the window that the server names, or reports when it is asked. Where neither
 * helps, a window that the server reported stands and tokens are counted higher; any other is taken to be much smaller.
 */
export async function recordOverflow(
  session: Session,
  { failure, sent }: { failure: ProviderFailure; sent: SentRequest },
  { emit }: { emit: TurnListener },
): Promise<void> {
  const { context, model, server } = session;
  const { promptTokens } = failure.facts;
  if (promptTokens !== undefined && promptTokens > 0) {
    const ratio = sent.bytes / promptTokens;
    if (ratio >= 1 && ratio <= 8) context.bytesPerToken = ratio;
  }
  const named = failure.facts.contextWindow;
  const window = named !== undefined && named >= SMALLEST_WINDOW ? named : await server.findWindow();
  if (window !== null && window >= SMALLEST_WINDOW) {
    // Where the server reports no window, or another, a cut shows about how large it is.
    const isGuess = failure.facts.dropped === true && window !== context.reportedWindow;
    if (model.windowSource === "configured" && window < model.contextWindow) {
      await emit({
        kind: "notice",
        text:
          `the server ${
            isGuess ? "cuts prompts that are longer than about" : "has a window of"
          } ${window} tokens; context_window: ${model.contextWindow} in ` +
          "providers.yaml is too large",
      });
    }
    setWindow(session, window, "learned");
    if (!isGuess) await server.remember({ window, refusedWindow: window });
    // The prompt has at least as many tokens as the window, whatever the estimate.
    if (named === undefined) context.bytesPerToken = Math.max(Math.min(context.bytesPerToken, sent.bytes / window), 1);
    return;
  }
  const smaller = Math.floor(Math.min(model.contextWindow, estimateOf(session)) * 0.8);
  setWindow(session, Math.max(smaller, context.provenTokens, SMALLEST_WINDOW), "guessed");
}
