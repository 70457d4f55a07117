/** Every break of the prefix is counted and told: the server has to read the prompt anew from there. */
import type { PrefixBreakReason, TurnListener } from "../protocol/turn_event.ts";
import { requestBytes } from "./chat_request.ts";
import type { Session } from "./session.ts";

/** Counts the break and tells of it, where a request was sent that the next one does not begin with. */
export async function tellBreak(
  session: Session,
  { emit }: { emit: TurnListener },
  happened: { reason: PrefixBreakReason; bytesKept: number; bytesBefore: number; callIds: string[] },
): Promise<void> {
  const { context } = session;
  if (context.sentBytes <= happened.bytesKept) return;
  context.breaks++;
  const bytesAfter = requestBytes(session);
  context.sentBytes = happened.bytesKept;
  await emit({ kind: "prefix_break", ...happened, bytesAfter, count: context.breaks });
}
