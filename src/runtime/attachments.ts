/** Files and images attached to a prompt. Loaded when there are any. */
import { utf8Text } from "../platform/text.ts";
import type { LabeledBytes, Refusal, ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import { AgentcliError, type ErrorDetails } from "../errors.ts";
import type { Session } from "../agent/session.ts";
import { readDenials } from "../tools/permission.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { Attached } from "./prompts.ts";
import { highestLabel } from "../boundary/policy/label.ts";
import { IMAGE_BYTES, readImage } from "../provider/chat/image_file.ts";

/** Hints for refusals that have none. */
const HINTS: Partial<Record<Refusal["refused"], ErrorDetails>> = {
  absent: { hint: "paths are taken from the working directory (-C), then from the project's root" },
  not_a_file: { hint: "attach its files one by one, or name it in the prompt: the model can list it" },
};

/** Returns the error for a file that cannot be sent; `reason` is a clause. */
export function cannotAttach(file: string, reason: string, details: ErrorDetails = {}): AgentcliError {
  return new AgentcliError("usage", `cannot attach ${file}: ${reason}`, details);
}

/** Returns the error for a file that the workspace refuses. */
export function mayNotAttach(file: string, { refused, message, forUser }: Refusal): AgentcliError {
  if (refused !== "protected") return cannotAttach(file, message, HINTS[refused] ?? {});
  return new AgentcliError("policy_refused", `cannot attach ${file}: ${forUser?.message ?? message}`, forUser);
}

/** Largest attached text, in bytes; images have a limit of their own. */
const FILE_LIMIT = 1024 * 1024;

/** Reads files as parts of a prompt, in their order. Throws for a file that cannot or may not be attached. */
export async function attachFiles(
  files: readonly string[],
  { workspace, policy }: Pick<Session, "workspace" | "policy">,
): Promise<Attached[]> {
  const readDenied = readDenials(workspace, policy.deny);
  return await Promise.all(files.map((file) => attach(file, { workspace, readDenied })));
}

/** The workspace that files are read from, and the deny rules for reading. */
interface AttachmentSource {
  workspace: Workspace;
  readDenied: ToolContext["readDenied"];
}

/** Resolves the path of an attachment. Throws where it may not be reached, and where a deny rule covers it. */
export async function attachable(file: string, { workspace, readDenied }: AttachmentSource): Promise<ResolvedPath> {
  const resolved = await workspace.resolve(file);
  if ("refused" in resolved) throw cannotAttach(file, resolved.message);
  const rule = readDenied?.(resolved) ?? null;
  if (rule === null) return resolved;
  throw new AgentcliError("permission_denied", `cannot attach ${file}: the rule ${rule} denies reading it`, {
    hint: "take the rule out of permissions.deny or --disallowed-tools, or leave the file out",
  });
}

async function attach(file: string, source: AttachmentSource): Promise<Attached> {
  const { workspace } = source;
  const resolved = await attachable(file, source);
  const content = await workspace.read(resolved, { limit: FILE_LIMIT });
  if ("refused" in content) throw mayNotAttach(file, content);
  const text = content.more ? null : utf8Text(content.bytes);
  if (text === null || text.includes("\0")) {
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

/**
 * Returns the image in a file whose beginning was read; null if it is no image. Throws for an image that cannot be
 * sent.
 */
export async function attachedImage(
  file: string,
  { path, begun, workspace }: { path: ResolvedPath; begun: LabeledBytes; workspace: Workspace },
): Promise<Attached | null> {
  const { size } = begun.status;
  if (readImage(begun.bytes, { name: path.display, size }).kind === "other") return null;
  const whole = begun.more && size <= IMAGE_BYTES ? await workspace.read(path, { limit: IMAGE_BYTES }) : begun;
  if ("refused" in whole) throw mayNotAttach(file, whole);
  const read = readImage(whole.bytes, { name: path.display, size: whole.more ? IMAGE_BYTES + 1 : whole.bytes.length });
  if (read.kind === "unusable") throw cannotAttach(file, read.problem);
  if (read.kind === "other") throw cannotAttach(file, "it changed while it was read");
  const { image, label } = read;
  return {
    text: `Image ${path.display}: ${label}, ${image.width}x${image.height} pixels`,
    image,
    label: highestLabel([begun.label, whole.label]),
  };
}
