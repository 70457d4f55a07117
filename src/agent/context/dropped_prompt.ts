/** A server that drops a part of the prompt without a word: judged when the count of a response looks like it. */
import type { TurnListener } from "../../protocol/turn_event.ts";
import { windowAdvice } from "../../provider/backends/advice.ts";
import { ProviderFailure } from "../../provider/failure.ts";
import { type SentRequest, SMALLEST_WINDOW } from "./calibrate.ts";
import { type Session, setWindow } from "../session.ts";
import { estimateTokens } from "./tokens.ts";

export interface SuspectCount {
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
 * Judges a suspect count and says what it means; the failure where making room may help, else null. A count that fell
 * while the prompt grew proves the cut, whatever window the server tells, unless it may only leave out what the server
 * had cached: then the counts before must have grown with the prompt. One that is merely low counts for nothing where
 * the server tells a window with room; where it tells none, it is believed for the first response, and for servers
 * whose counts grew before: numbers can be made up, and a session that is forced into a window of its own invention dies
 * of summaries.
 */
export async function checkDropped(
  session: Session,
  count: SuspectCount,
  { emit }: { emit: TurnListener },
): Promise<ProviderFailure | null> {
  const { context, model, server, items } = session;
  const { promptTokens, isFirst, certain, fell } = count;
  const name = await server.recognize();
  const told = context.toldWindow === undefined ? await server.findWindow() : context.toldWindow;
  context.toldWindow = told;
  const estimatedTokens = estimateTokens(count.sent.bytes, context.bytesPerToken);
  const grew = context.counted?.grew === true;
  const isProven = fell && (certain || grew);
  const isRoomTold = told !== null && told >= estimatedTokens;
  if (!isProven && (isRoomTold || (told === null && !isFirst && !grew))) return null;
  const held = isRoomTold ? null : told;
  // What only counted its cache would not have fallen like this: from here on its counts are of all of it.
  if (isProven && context.counted !== null) context.counted.grew = true;
  const configured = told !== null && model.windowSource === "configured" && told < model.contextWindow
    ? model.contextWindow
    : null;
  const hint = windowAdvice(name, { model: model.entry.id, configured });
  if (!context.said.has("truncated")) {
    context.said.add("truncated");
    await emit({ kind: "truncated", estimatedTokens, promptTokens, hint });
  }
  // Untold, the window lies between what was taken whole and what was cut.
  const least = Math.max(context.provenTokens, promptTokens, fell ? Math.floor(estimatedTokens / 2) : 0);
  const contextWindow = Math.max(held ?? least, SMALLEST_WINDOW);
  if (items.some((item) => item.kind !== "user")) {
    const message = `${model.provider} dropped a part of the prompt: it read ${promptTokens} of about ` +
      `${estimatedTokens} tokens`;
    return new ProviderFailure("context_overflow", message, { kind: "context", dropped: true, contextWindow, hint });
  }
  // Of the first words of a session nothing can be left out: their response is better than none.
  if (told !== null && told < model.contextWindow) setWindow(session, contextWindow, "found");
  await server.remember({ window: told ?? undefined });
  return null;
}
