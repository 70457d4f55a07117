/** Images in a session whose model may not see them: asked before, found out by a refusal, taken out and said. */
import { AgentcliError } from "../errors.ts";
import type { ProviderFailure } from "../provider/failure.ts";
import { imagesOf, type SessionItem, type UserItem } from "../session/item.ts";
import { bytesUpTo, requestBytes } from "./chat_request.ts";
import { countDropped, withoutImages } from "./old_images.ts";
import { tellBreak } from "./prefix_break.ts";
import type { Session } from "./session.ts";
import type { RunningTurn } from "./turn_options.ts";

/** Whether the session's model sees images: the configuration's word, what replies taught, what its server says; or null. */
export async function seesImages(session: Session): Promise<boolean | null> {
  return session.context.sight ??= await session.server.seesImages();
}

/** Images of one prompt: with 5 MiB each, a request stays below 150 MB. */
const PROMPT_IMAGES = 20;

/** Throws `usage` for a prompt with images when the model is known not to see them, and for more than twenty. */
export async function requireSight(session: Session, prompt: UserItem): Promise<void> {
  const count = imagesOf(prompt).length;
  if (count > PROMPT_IMAGES) {
    throw new AgentcliError("usage", `${count} images are more than the ${PROMPT_IMAGES} that one prompt may show`);
  }
  if (count === 0 || await seesImages(session) !== false) return;
  const { provider, entry } = session.model;
  throw new AgentcliError("usage", `${entry.id} of ${provider} does not see images`, { hint: SIGHT_HINT });
}

/** What makes a model see. */
export const SIGHT_HINT =
  "choose a model that does (llama-server needs its --mmproj), or write `images: true` for it in providers.yaml if it does";

/** Takes images out of the history of a session whose model is known not to see them: it may have had another before. */
export async function leaveOutUnseen(session: Session, turn: RunningTurn): Promise<void> {
  if (await seesImages(session) !== false) return;
  const out = leaveOut(session, { from: 0, why: "the model does not see images" });
  await tell(session, turn, { ...out, because: `${session.model.entry.id} does not see images` });
}

/**
 * After the server refused the images of a request: they are taken out, so that the session stays usable. True when the
 * request is worth sending again, which it is not when the user's own prompt had shown them.
 */
export async function learnFromBlindness(
  session: Session,
  turn: RunningTurn,
  failure: ProviderFailure,
): Promise<boolean> {
  const { items, context } = session;
  const isBlind = failure.kind === "no_images";
  if (isBlind) context.sight = false;
  const lastReply = items.findLastIndex((item) => item.kind === "assistant");
  const unanswered = items.slice(lastReply + 1).filter(showsImages);
  if (failure.kind === "request" && unanswered.length === 0) return false;
  // An image that cannot be read is one that this request was the first to hold; of the others a reply has told.
  const from = isBlind || unanswered.length === 0 ? 0 : lastReply + 1;
  const why = isBlind ? "the model does not see images" : "the server did not take it";
  const out = leaveOut(session, { from, why });
  if (!unanswered.some((item) => item.kind === "user")) {
    await tell(session, turn, { ...out, because: failure.message });
    return true;
  }
  // The turn ends with the failure; its next request begins with less.
  context.sentBytes = Math.min(context.sentBytes, out.bytesKept);
  return false;
}

/** Whether an item shows images. */
export function showsImages(item: SessionItem): boolean {
  return imagesOf(item).length > 0;
}

/** Images that were taken out. */
interface LeftOut {
  count: number;
  bytesKept: number;
  bytesBefore: number;
}

/** Takes out the images from an item on. */
function leaveOut(session: Session, { from, why }: { from: number; why: string }): LeftOut {
  const { items } = session;
  const bytesBefore = requestBytes(session);
  const first = items.findIndex((item, at) => at >= from && showsImages(item));
  const bytesKept = bytesUpTo(session, first);
  const changed = items.slice(first).map((item) => withoutImages(item, why));
  const count = countDropped(items.slice(first), changed);
  items.splice(first, items.length, ...changed);
  return { count, bytesKept, bytesBefore };
}

async function tell(
  session: Session,
  turn: RunningTurn,
  { count, because, bytesKept, bytesBefore }: LeftOut & { because: string },
): Promise<void> {
  const images = count === 1 ? "1 image" : `${count} images`;
  await turn.emit({ kind: "notice", text: `${images} left out: ${because}` });
  await tellBreak(session, turn, { reason: "images_left_out", bytesKept, bytesBefore, callIds: [] });
}
