/** Images in a session whose model may not see them: asked before, found out by a refusal, taken out and said. */
import { AgentcliError } from "../errors.ts";
import type { ProviderFailure } from "../provider/failure.ts";
import { imagesOf, showsImages, type UserItem } from "../session/item.ts";
import { leaveOutImages, tellLeftOut } from "./left_out_images.ts";
import type { Session } from "./session.ts";
import type { RunningTurn } from "./turn_options.ts";

/** What makes a model see. */
const VISION_HINT =
  "choose a model that does (llama-server needs its --mmproj), or write `images: true` for it in providers.yaml if it does";
/** Stands behind an image that is left out. */
const BLIND = "the model does not see images";
/** Images of one prompt: with 5 MiB each, a request stays below 150 MB. */
const PROMPT_IMAGES = 20;

/** Whether the session's model sees images, by the configuration, by its replies, or by its server; null: nobody knows. */
export async function seesImages(session: Session): Promise<boolean | null> {
  return session.context.vision ??= await session.server.seesImages();
}

/** Throws `usage` for a prompt with images when the model is known not to see them, and for more than twenty. */
export async function requireVision(session: Session, prompt: UserItem): Promise<void> {
  const count = imagesOf(prompt).length;
  if (count > PROMPT_IMAGES) {
    throw new AgentcliError("usage", `${count} images are more than the ${PROMPT_IMAGES} that one prompt may show`);
  }
  if (count === 0 || await seesImages(session) !== false) return;
  const { provider, entry } = session.model;
  throw new AgentcliError("usage", `${entry.id} of ${provider} does not see images`, { hint: VISION_HINT });
}

/** Leaves out the images of a session whose model is known not to see them: it may have had another one before. */
export async function leaveOutUnseen(session: Session, turn: RunningTurn): Promise<void> {
  if (await seesImages(session) !== false) return;
  const leftOut = leaveOutImages(session, () => BLIND);
  if (leftOut === null) return;
  await tellLeftOut(session, turn, { ...leftOut, how: `: ${session.model.entry.id} does not see images`, callIds: [] });
}

/**
 * After the server refused the images of a request: they are left out, so that the session stays usable. True when the
 * request is worth sending again, which it is not when the user's own prompt had shown them.
 */
export async function learnFromImageRefusal(
  session: Session,
  turn: RunningTurn,
  failure: ProviderFailure,
): Promise<boolean> {
  const { items, context } = session;
  const isBlind = failure.kind === "no_images";
  if (isBlind) context.vision = false;
  const lastReply = items.findLastIndex((item) => item.kind === "assistant");
  const unanswered = items.slice(lastReply + 1).filter(showsImages);
  if ((failure.kind === "request" || failure.kind === "template") && unanswered.length === 0) return false;
  // An image that cannot be read is one that this request was the first to hold; of the others a reply has told.
  const from = isBlind || unanswered.length === 0 ? 0 : lastReply + 1;
  const why = isBlind ? BLIND : "the server did not take it";
  const leftOut = leaveOutImages(session, (_, at) => at < from ? null : why);
  if (leftOut === null) return false;
  if (!unanswered.some((item) => item.kind === "user")) {
    await tellLeftOut(session, turn, { ...leftOut, how: `: ${failure.message}`, callIds: [] });
    return true;
  }
  // The turn ends with the failure; its next request begins with less.
  context.sentBytes = Math.min(context.sentBytes, leftOut.bytesKept);
  return false;
}
