/** The one place that every prompt passes on its way into a session: looked through, labelled, or refused. */
import { admit } from "../boundary/policy/gate.ts";
import { imageUrl } from "../provider/chat/content.ts";
import { imagesOf, type UserItem } from "../session/item.ts";
import { type Session, sessionLabel } from "./session.ts";

const PROMPT = {
  name: "the prompt",
  hint: "use a local model, or send it all the same, this once, with --allow-protected-prompt",
};

const SYSTEM_PROMPT = {
  name: "the system prompt",
  hint: "use a local model, or take that text out of --system-prompt, --append-system-prompt, AGENTS.md and the " +
    "descriptions of a client's tools",
};

/** A prompt that may become part of a session, and why: `released` ones are the user's word, once, and never stored. */
export interface AdmittedPrompt {
  readonly item: UserItem;
  readonly admitted: "open" | "protected" | "released";
}

/**
 * Labels a prompt, and the system message, by what stands in them: for a local model content of a protected file makes
 * them protected, and so does anything protected that the session holds. Throws `policy_refused` for a provider that is
 * not local, before the prompt is part of the session, and `usage` for images that the model is known not to see.
 * `allowed` is the user's word for this one prompt (`--allow-protected-prompt`): it makes a protected one `released`.
 * Source: specification of the boundary, "Letting out".
 */
export async function admitPrompt(
  session: Session,
  item: UserItem,
  { allowed }: { allowed: boolean },
): Promise<AdmittedPrompt> {
  const { workspace, model, scanner, system } = session;
  if (item.images !== undefined) {
    const { requireVision } = await import("./vision.ts");
    await requireVision(session, item);
  }
  if (session.items.length > 0) {
    // Markers may have come since the last request.
    await workspace.refresh();
    model.local &&= workspace.local;
  }
  // A client writes the descriptions of its tools, and they stand before every message as the system message does.
  for (const text of [system.text, JSON.stringify(session.schemas)]) {
    if (await scanner?.checkPart([text], SYSTEM_PROMPT, model) === "protected") system.label = "no-cloud";
  }
  const { provider, local } = model;
  // Content that the user lets through is judged as it would be for a local model.
  const judge = { provider, local: local || allowed };
  const found = await scanner?.checkPart([item.text, ...imagesOf(item).map(imageUrl)], PROMPT, judge) ?? "open";
  if ((found === "protected" && local) || sessionLabel(session) !== "open") item.label = "no-cloud";
  admit({ kind: "provider", name: provider, local }, [system, ...session.items, item]);
  if (found === "open" || local) return { item, admitted: found };
  return { item: { ...item, isReleased: true }, admitted: "released" };
}
