/** The user's item: a prompt with the files and images that are attached to it. */
import type { Session } from "../agent/session.ts";
import { highestLabel, type Label } from "../boundary/policy/label.ts";
import type { ShownImage } from "../provider/chat/content.ts";
import type { UserItem } from "../session/item.ts";

/** A file as a part of the prompt. */
export interface Attached {
  text: string;
  label: Label;
  image?: ShownImage;
}

/**
 * The prompt and the attached files and images, with the highest label of what is in it. A file that cannot be attached
 * is `usage`, a protected one `policy_refused`, one that a deny rule of Read covers `permission_denied`.
 */
export async function userItem(
  prompt: string,
  files: readonly string[],
  session: Pick<Session, "workspace" | "policy">,
): Promise<UserItem> {
  const attached = files.length === 0 ? [] : await attachedFiles(files, session);
  const label = highestLabel([session.workspace.ambientLabel, ...attached.map((file) => file.label)]);
  const item: UserItem = { kind: "user", text: [prompt, ...attached.map((file) => file.text)].join("\n\n"), label };
  const images = attached.flatMap(({ image }) => image === undefined ? [] : [image]);
  return images.length === 0 ? item : { ...item, images };
}

async function attachedFiles(
  files: readonly string[],
  session: Pick<Session, "workspace" | "policy">,
): Promise<Attached[]> {
  const { attachFiles } = await import("./attachments.ts");
  return await attachFiles(files, session);
}
