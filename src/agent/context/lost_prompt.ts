/**
 * Finds what a server lost, by its counts: a part of a prompt that it dropped without a word, or one that was in its
 * cache.
 */
import type { TurnListener } from "../../protocol/turn_event.ts";
import { grouped } from "../../platform/number.ts";
import { cacheAdvice, type CacheLoss, windowAdvice } from "../../provider/backends/backends.ts";
import { ProviderFailure } from "../../provider/failure.ts";
import type { SentRequest } from "../chat_request.ts";
import { SMALLEST_WINDOW } from "./calibrate.ts";
import { type Session, setWindow } from "../session.ts";
import { estimateTokens } from "./tokens.ts";

interface SuspectCount {
  promptTokens: number;
  sent: SentRequest;
  /** Of the first response in the session. */
  isFirst: boolean;
  /** The count cannot be explained by the server's cache. */
  certain: boolean;
  /** The prompt grew, and its count went down. */
  fell: boolean;
}

/**
 * Returns what a suspect count means: the failure where making room may help, else null. A count that fell
 * while the prompt grew proves the cut, whatever window the server reports, unless it may only leave out what the
 * server had cached: then the counts before must have grown with the prompt. One that is merely low counts for nothing
 * where the server reports a window with room; where it reports none, it is believed for the first response, and for
 * servers whose counts grew before: numbers can be made up, and a session forced into an imaginary window does nothing
 * but summarize.
 */
export async function checkDropped(
  session: Session,
  count: SuspectCount,
  { emit }: { emit: TurnListener },
): Promise<ProviderFailure | null> {
  const { context, model, server, items } = session;
  const { promptTokens, isFirst, certain, fell } = count;
  const name = await server.recognize();
  const reported = context.reportedWindow === undefined ? await server.findWindow() : context.reportedWindow;
  context.reportedWindow = reported;
  const estimatedTokens = estimateTokens(count.sent.bytes, context.bytesPerToken);
  const grew = context.counted?.grew === true;
  const isProven = fell && (certain || grew);
  const isRoomReported = reported !== null && reported >= estimatedTokens;
  if (!isProven && (isRoomReported || (reported === null && !isFirst && !grew))) return null;
  const held = isRoomReported ? null : reported;
  // What only counted its cache would not have fallen like this: from here on its counts are of all of it.
  if (isProven && context.counted !== null) context.counted.grew = true;
  const configured = reported !== null && model.windowSource === "configured" && reported < model.contextWindow
    ? model.contextWindow
    : null;
  const hint = windowAdvice(name, { model: model.entry.id, configured });
  if (!context.said.has("truncated")) {
    context.said.add("truncated");
    await emit({ kind: "truncated", estimatedTokens, promptTokens, hint });
  }
  // Unreported, the window is between what was taken whole and what was cut.
  const least = Math.max(context.provenTokens, promptTokens, fell ? Math.floor(estimatedTokens / 2) : 0);
  const contextWindow = Math.max(held ?? least, SMALLEST_WINDOW);
  if (items.some((item) => item.kind !== "user")) {
    const message = `${model.provider} dropped a part of the prompt: it read ${promptTokens} of about ` +
      `${estimatedTokens} tokens`;
    return new ProviderFailure("context_overflow", message, { kind: "context", dropped: true, contextWindow, hint });
  }
  // Nothing can be left out of a session's first words: their response is better than none.
  if (reported !== null && reported < model.contextWindow) setWindow(session, contextWindow, "found");
  await server.remember({ window: reported ?? undefined });
  return null;
}

const CAUSES: Record<CacheLoss, string> = {
  reasoning: "reasoning is not sent back, and the cache cannot return to the state before it",
  evicted: "another client used its slot, or the model was reloaded",
  rewound: "the chat template changed earlier messages, or the cache cannot return to an earlier state",
};

/** Returns the notice about a prompt of which `again` tokens were read a second time, in `ms` milliseconds. */
export async function lossNotice(
  session: Session,
  { again, ms, promptTokens, cachedTokens }: { again: number; ms: number; promptTokens: number; cachedTokens: number },
): Promise<string> {
  const loss = causeOf(session, cachedTokens / promptTokens);
  const time = ms >= 100 ? `, in ${(ms / 1000).toFixed(1)} s` : "";
  const advice = cacheAdvice(await session.server.recognize(), loss);
  return `the server reprocessed ${grouped(again)} of ${
    grouped(promptTokens)
  } tokens that were in its cache before${time}: ` +
    `${CAUSES[loss]}${advice === null ? "" : `; ${advice}`}`;
}

/** A cache of which this share is left was not emptied by somebody else. */
const LEFT_SHARE = 0.05;

function causeOf({ context, items }: Session, leftShare: number): CacheLoss {
  const reasoned = items.some((item) => item.kind === "assistant" && item.reasoning !== "");
  if (reasoned && !context.history.keepReasoning) return "reasoning";
  return leftShare < LEFT_SHARE ? "evicted" : "rewound";
}
