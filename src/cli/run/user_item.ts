/** The user's item: a prompt with the files and images that are attached to it. */
import type { Session } from "../../agent/session.ts";
import { highestLabel, type Label } from "../../boundary/label.ts";
import type { Workspace } from "../../boundary/workspace.ts";
import { AgentcliError } from "../../errors.ts";
import type { ShownImage } from "../../provider/image.ts";
import type { UserItem } from "../../session/item.ts";
import { readDenials } from "../../tools/rule_names.ts";
import type { ToolContext } from "../../tools/tool.ts";
import { cannotAttach, mayNotAttach } from "./attach_error.ts";

/** Largest attached text, in bytes; images have a limit of their own. */
const FILE_LIMIT = 1024 * 1024;

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
  { workspace, policy }: Pick<Session, "workspace" | "policy">,
): Promise<UserItem> {
  const readDenied = readDenials(workspace, policy.deny);
  const attached = await Promise.all(files.map((file) => attach(file, { workspace, readDenied })));
  const label = highestLabel([workspace.ambientLabel, ...attached.map((file) => file.label)]);
  const item: UserItem = { kind: "user", text: [prompt, ...attached.map((file) => file.text)].join("\n\n"), label };
  const images = attached.flatMap(({ image }) => image === undefined ? [] : [image]);
  return images.length === 0 ? item : { ...item, images };
}

async function attach(
  file: string,
  { workspace, readDenied }: { workspace: Workspace; readDenied: ToolContext["readDenied"] },
): Promise<Attached> {
  const resolved = await workspace.resolve(file);
  if ("refused" in resolved) throw cannotAttach(file, resolved.message);
  const rule = readDenied?.(resolved) ?? null;
  if (rule !== null) {
    throw new AgentcliError("permission_denied", `cannot attach ${file}: the rule ${rule} denies reading it`, {
      hint: "take the rule out of permissions.deny or --disallowed-tools, or leave the file out",
    });
  }
  const content = await workspace.read(resolved, { limit: FILE_LIMIT });
  if ("refused" in content) throw mayNotAttach(file, content);
  const text = content.more ? null : decoded(content.bytes);
  if (text === null || text.includes("\0")) {
    const { attachedImage } = await import("./attached_image.ts");
    const image = await attachedImage(file, { path: resolved, begun: content, workspace });
    if (image !== null) return image;
  }
  if (content.more) throw cannotAttach(file, `it is larger than ${FILE_LIMIT / 1024 / 1024} MiB`);
  if (text === null) throw cannotAttach(file, "it is not UTF-8 text");
  return { text: `File ${resolved.display}:\n${text}`, label: content.label };
}

/** Null for what is no UTF-8. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
