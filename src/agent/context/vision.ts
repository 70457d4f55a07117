/**
 * Images in a session: whether the model sees them, and dropping them where it does not or where room is needed. Loaded
 * when there are any.
 */
import { AgentcliError } from "../../errors.ts";
import type { ProviderFailure } from "../../provider/failure.ts";
import { imagesOf, isUsersWords, type SessionItem, showsImages, type UserItem } from "../../session/item.ts";
import type { Session } from "../session.ts";
import type { RunningTurn } from "../turn_options.ts";
import { bytesUpTo, reportCacheInvalidation, requestBytes } from "../chat_request.ts";

const VISION_HINT =
  "choose a model that does (llama-server needs its --mmproj), or write `images: true` for it in providers.yaml if it does";
/** Stands after an image that is left out. */
const NO_VISION = "the model does not support image input";
/** Images of one prompt: with 5 MiB each, a request stays below 150 MB. */
const PROMPT_IMAGES = 20;

/**
 * Whether the session's model supports image input, by the configuration, by its responses, or by its server; null: not
 * known.
 */
export async function supportsImages(session: Session): Promise<boolean | null> {
  return session.context.vision ??= await session.server.supportsImages();
}

/** Throws `usage` for a prompt with images when the model is known not to see them, and for more than twenty. */
export async function requireVision(session: Session, prompt: UserItem): Promise<void> {
  const count = imagesOf(prompt).length;
  if (count > PROMPT_IMAGES) {
    throw new AgentcliError("usage", `${count} images are more than the ${PROMPT_IMAGES} that one prompt may show`);
  }
  if (count === 0 || await supportsImages(session) !== false) return;
  const { provider, entry } = session.model;
  throw new AgentcliError("usage", `${entry.id} of ${provider} does not support image input`, { hint: VISION_HINT });
}

/** Leaves out the images of a session whose model is known not to see them: it may have had another one before. */
export async function dropUnseenImages(session: Session, turn: RunningTurn): Promise<void> {
  if (await supportsImages(session) !== false) return;
  const dropped = dropImages(session, () => NO_VISION);
  if (dropped === null) return;
  await reportDropped(session, turn, {
    ...dropped,
    how: `: ${session.model.entry.id} does not support image input`,
    callIds: [],
  });
}

/**
 * After the server refused the images of a request: they are left out, so that the session stays usable. True when the
 * request is worth sending again, which it is not when the user's own prompt had shown them.
 */
export async function recordImageRefusal(
  session: Session,
  turn: RunningTurn,
  failure: ProviderFailure,
): Promise<boolean> {
  const { items, context } = session;
  const hasNoVision = failure.kind === "no_images";
  if (hasNoVision) context.vision = false;
  const lastReply = items.findLastIndex((item) => item.kind === "assistant");
  const unanswered = items.slice(lastReply + 1).filter(showsImages);
  if ((failure.kind === "request" || failure.kind === "template") && unanswered.length === 0) return false;
  // An image that cannot be read is one that this request was the first to hold; of the others a response has shown it.
  const from = hasNoVision || unanswered.length === 0 ? 0 : lastReply + 1;
  const why = hasNoVision ? NO_VISION : "the server did not take it";
  const dropped = dropImages(session, (_, at) => at < from ? null : why);
  if (dropped === null) return false;
  if (!unanswered.some((item) => item.kind === "user")) {
    await reportDropped(session, turn, { ...dropped, how: `: ${failure.message}`, callIds: [] });
    return true;
  }
  // The turn ends with the failure; its next request begins with less.
  context.sentBytes = Math.min(context.sentBytes, dropped.bytesKept);
  return false;
}

/** The images that were dropped, and the bytes before them. */
interface LeftOut {
  count: number;
  bytesKept: number;
  bytesBefore: number;
}

/** Leaves out the images of each item for which `why` gives a reason; null when there are none. */
function dropImages(
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

/** Says that images were left out, and why: `how` follows "2 images left out". */
async function reportDropped(
  session: Session,
  turn: RunningTurn,
  { count, how, ...sizes }: LeftOut & { how: string; callIds: string[] },
): Promise<void> {
  await turn.emit({ kind: "notice", text: `${count === 1 ? "1 image" : `${count} images`} left out${how}` });
  await reportCacheInvalidation(session, turn, { reason: "images_left_out", ...sizes });
}

/**
 * Leaves out the images before the item at `end` to save room, but for those of the user's last words, and says so;
 * false when there are none. All at once, because each time the server has to read again from the first of them.
 */
export async function dropOldImages(
  session: Session,
  turn: RunningTurn,
  { end }: { end: number },
): Promise<boolean> {
  const { items } = session;
  const lastWords = items.findLastIndex(isUsersWords);
  const isOld = (item: SessionItem, at: number) => at < end && at !== lastWords && showsImages(item);
  const callIds = items.filter(isOld).flatMap((item) => item.kind === "tool_result" ? [item.callId] : []);
  const dropped = dropImages(session, (item, at) => {
    if (!isOld(item, at)) return null;
    return item.kind === "tool_result" ? `to save room; call ${item.name} again to see it` : "to save room";
  });
  if (dropped === null) return false;
  await reportDropped(session, turn, { ...dropped, how: " to save room", callIds });
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
