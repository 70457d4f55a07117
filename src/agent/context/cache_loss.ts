/** Why a server lost a prompt that it had in its cache, as far as that can be known. Loaded when one did. */
import { grouped } from "../../platform/number.ts";
import { cacheAdvice, type CacheLoss } from "../../provider/backends/advice.ts";
import type { Session } from "../session.ts";

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

/** A cache of which this share is left was not taken by somebody else. */
const LEFT_SHARE = 0.05;

function causeOf({ context, items }: Session, leftShare: number): CacheLoss {
  const reasoned = items.some((item) => item.kind === "assistant" && item.reasoning !== "");
  if (reasoned && !context.history.keepReasoning) return "reasoning";
  return leftShare < LEFT_SHARE ? "evicted" : "rewound";
}
