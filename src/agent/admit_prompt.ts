/** The one place that every prompt passes on its way into a session: looked through, labelled, or refused. */
import { admit } from "../boundary/policy/gate.ts";
import { imageUrl } from "../provider/image.ts";
import { imagesOf, type UserItem } from "../session/item.ts";
import { type Session, sessionLabel } from "./session.ts";

const SYSTEM_PROMPT = {
  name: "the system prompt",
  hint: "use a local model, or take that text out of --system-prompt, --append-system-prompt, AGENTS.md and the " +
    "descriptions of a client's tools",
};

/**
 * Labels a prompt, and the system message, by what stands in them: for a local model content of a protected file makes
 * them protected, and so does anything protected that the session holds. Throws `policy_refused` for a provider that is
 * not local, before the prompt is part of the session; `allowed` is the user's word for this one prompt
 * (`--allow-protected-prompt`), and `usage` for images that the model is known not to see. `protected` says that the
 * prompt holds content of a protected file. Every turn asks this itself; who needs the answer before the turn asks first.
 * Source: specification of the boundary, "Letting out".
 */
export async function admitPrompt(
  session: Session,
  prompt: UserItem,
  { allowed }: { allowed: boolean },
): Promise<"open" | "protected"> {
  const { workspace, model, scanner, system } = session;
  const images = imagesOf(prompt).map(imageUrl);
  if (prompt.images !== undefined) {
    const { requireSight } = await import("./sight.ts");
    await requireSight(session, prompt);
  }
  if (session.items.length > 0) {
    // Markers may have come since the last request.
    await workspace.refresh();
    model.local &&= workspace.local;
  }
  const { provider, local } = model;
  // A client writes the descriptions of its tools, and they stand before every message as the system message does.
  for (const text of [system.text, JSON.stringify(session.schemas)]) {
    if (await scanner?.checkPart([text], SYSTEM_PROMPT, model) === "protected") system.label = "no-cloud";
  }
  const found = await scanner?.checkPrompt({ text: prompt.text, images }, { provider, local, allowed }) ?? "open";
  if ((found === "protected" && local) || sessionLabel(session) !== "open") prompt.label = "no-cloud";
  admit({ kind: "provider", name: provider, local }, [system, ...session.items, prompt]);
  return found;
}
