/** Files attached to a prompt. Loaded when there are any. */
import type { Session } from "../agent/session.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { AgentcliError } from "../errors.ts";
import { readDenials } from "../tools/rule_names.ts";
import type { ToolContext } from "../tools/tool.ts";
import { cannotAttach, mayNotAttach } from "./attach_error.ts";
import type { Attached } from "./user_item.ts";

/** Largest attached text, in bytes; images have a limit of their own. */
const FILE_LIMIT = 1024 * 1024;

/** The files as parts of the prompt, in their order. Throws for one that cannot or may not be attached. */
export async function attachFiles(
  files: readonly string[],
  { workspace, policy }: Pick<Session, "workspace" | "policy">,
): Promise<Attached[]> {
  const readDenied = readDenials(workspace, policy.deny);
  return await Promise.all(files.map((file) => attach(file, { workspace, readDenied })));
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
  if (content.more) {
    throw cannotAttach(
      file,
      `it is larger than ${FILE_LIMIT / 1024 / 1024} MiB`,
      { hint: "name it in the prompt instead: the model reads it in parts" },
    );
  }
  if (text === null || text.includes("\0")) {
    throw cannotAttach(file, "it is not UTF-8 text", { hint: "attach its text, or an image (PNG, JPEG, WebP)" });
  }
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
