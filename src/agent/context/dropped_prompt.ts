/** A server that drops a part of the prompt without a word: judged when the count of a response looks like it. */
import type { TurnListener } from "../../protocol/turn_event.ts";
import { windowAdvice } from "../../provider/backends/advice.ts";
import { ProviderFailure } from "../../provider/failure.ts";
import { type SentRequest, SMALLEST_WINDOW } from "./calibrate.ts";
import { type Session, setWindow } from "../session.ts";
import { estimateTokens } from "./tokens.ts";

/** A count that looks like a dropped part. */
export interface SuspectCount {
  promptTokens: number;
  sent: SentRequest;
  /** Of the first response in the session. */
  isFirst: boolean;
  /** The count cannot be explained by the server's cache. */
  certain: boolean;
}

/**
 * Judges a suspect count and says what it means; the failure where making room may help, else null. Where the server
 * tells its window, that decides. Where it does not, counts are believed for the first response, and later on where they grew
 * with the prompt before: they may leave out what the server had cached, or be made up, and a session that is forced into
 * a window of its own invention dies of summaries.
 */
export async function checkDropped(
  session: Session,
  count: SuspectCount,
  { emit }: { emit: TurnListener },
): Promise<ProviderFailure | null> {
  const { context, model, server, items } = session;
  const { promptTokens, isFirst, certain } = count;
  const name = await server.recognize();
  const told = context.toldWindow === undefined ? await server.findWindow() : context.toldWindow;
  context.toldWindow = told;
  const estimatedTokens = estimateTokens(count.sent.bytes, context.bytesPerToken);
  const believed = isFirst || (certain && context.counted?.grew === true);
  if (told === null ? !believed : told >= estimatedTokens) return null;
  const configured = told !== null && model.windowSource === "configured" && told < model.contextWindow
    ? model.contextWindow
    : null;
  const hint = windowAdvice(name, { model: model.entry.id, configured });
  if (!context.said.has("truncated")) {
    context.said.add("truncated");
    await emit({ kind: "truncated", estimatedTokens, promptTokens, hint });
  }
  const contextWindow = Math.max(told ?? context.provenTokens, told === null ? promptTokens : 0, SMALLEST_WINDOW);
  if (items.some((item) => item.kind !== "user")) {
    const message = `${model.provider} dropped a part of the prompt: it read ${promptTokens} of about ` +
      `${estimatedTokens} tokens`;
    return new ProviderFailure("context_overflow", message, { kind: "context", dropped: true, contextWindow, hint });
  }
  // Of the first words of a session nothing can be left out: their response is better than none.
  if (told !== null && told < model.contextWindow) setWindow(session, contextWindow, "found");
  await server.remember({ window: told });
  return null;
}
