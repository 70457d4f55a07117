/** Images that are left out of a session: a note stands in their place, and it is said. Loaded when there are any. */
import { imagesOf, isUsersWords, type SessionItem, showsImages } from "../session/item.ts";
import { bytesUpTo, requestBytes } from "./chat_request.ts";
import { tellBreak } from "./prefix_break.ts";
import type { Session } from "./session.ts";
import type { RunningTurn } from "./turn_options.ts";

/** What was left out of the history, and how much of it stayed as it was. */
export interface LeftOut {
  /** Images. */
  count: number;
  bytesKept: number;
  bytesBefore: number;
}

/** Leaves out the images of each item for which `why` gives a reason; null when there are none. */
export function leaveOutImages(
  session: Session,
  why: (item: SessionItem, at: number) => string | null,
): LeftOut | null {
  const { items } = session;
  const changed = items.map((item, at) => {
    const reason = showsImages(item) ? why(item, at) : null;
    return reason === null ? item : withoutImages(item, reason);
  });
  const first = changed.findIndex((item, at) => item !== items[at]);
  if (first < 0) return null;
  const count = imageCount(items) - imageCount(changed);
  const sizes = { bytesKept: bytesUpTo(session, first), bytesBefore: requestBytes(session) };
  items.splice(first, items.length, ...changed.slice(first));
  return { count, ...sizes };
}

/** Says that images were left out, and why: `how` goes on behind "2 images left out". */
export async function tellLeftOut(
  session: Session,
  turn: RunningTurn,
  { count, how, ...sizes }: LeftOut & { how: string; callIds: string[] },
): Promise<void> {
  await turn.emit({ kind: "notice", text: `${count === 1 ? "1 image" : `${count} images`} left out${how}` });
  await tellBreak(session, turn, { reason: "images_left_out", ...sizes });
}

/**
 * Leaves out the images before the item at `end` to save room, but for those of the user's last words, and says so; false
 * when there are none. All in one go, because each time the server has to read anew from the first of them.
 */
export async function leaveOutOldImages(
  session: Session,
  turn: RunningTurn,
  { end }: { end: number },
): Promise<boolean> {
  const { items } = session;
  const lastWords = items.findLastIndex(isUsersWords);
  const isOld = (item: SessionItem, at: number) => at < end && at !== lastWords && showsImages(item);
  const callIds = items.filter(isOld).flatMap((item) => item.kind === "tool_result" ? [item.callId] : []);
  const leftOut = leaveOutImages(session, (item, at) => {
    if (!isOld(item, at)) return null;
    return item.kind === "tool_result" ? `to save room; call ${item.name} again to see it` : "to save room";
  });
  if (leftOut === null) return false;
  await tellLeftOut(session, turn, { ...leftOut, how: " to save room", callIds });
  return true;
}

function withoutImages(item: SessionItem, why: string): SessionItem {
  if (item.kind === "assistant") return item;
  const { images = [], ...rest } = item;
  const note = images.map(({ name }) => `[image ${name} left out: ${why}]`).join("\n");
  return rest.kind === "user"
    ? { ...rest, text: `${rest.text}\n\n${note}`.trim() }
    : { ...rest, content: `${rest.content}\n${note}`.trim() };
}

function imageCount(items: readonly SessionItem[]): number {
  return items.reduce((count, item) => count + imagesOf(item).length, 0);
}
