/** Every break of the prefix is counted and told: the server has to read the prompt anew from there. */
import type { PrefixBreak, TurnListener } from "../protocol/turn_event.ts";
import { requestBytes } from "./chat_request.ts";
import type { Session } from "./session.ts";

/** Counts the break and tells of it, where a request was sent that the next one does not begin with. */
export async function tellBreak(
  session: Session,
  { emit }: { emit: TurnListener },
  happened: Omit<PrefixBreak, "kind" | "bytesAfter" | "count">,
): Promise<void> {
  const { context } = session;
  if (context.sentBytes <= happened.bytesKept) return;
  context.sentBytes = happened.bytesKept;
  await announceBreak(session, { emit }, happened);
}

/** Counts a break and tells of it, also where the request that it is about was sent since. */
export async function announceBreak(
  session: Session,
  { emit }: { emit: TurnListener },
  happened: Omit<PrefixBreak, "kind" | "bytesAfter" | "count">,
): Promise<void> {
  const { context } = session;
  context.breaks++;
  await emit({ kind: "prefix_break", ...happened, bytesAfter: requestBytes(session), count: context.breaks });
}
