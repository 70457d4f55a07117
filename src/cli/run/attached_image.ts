/** A file attached to a prompt that turns out to be an image. Loaded when the first such file comes. */
import type { Label } from "../../boundary/label.ts";
import { highestLabel } from "../../boundary/label.ts";
import type { LabelledBytes, Refusal, ResolvedPath, Workspace } from "../../boundary/workspace.ts";
import type { ShownImage } from "../../provider/image.ts";
import { IMAGE_BYTES, readImage } from "../../provider/image_file.ts";

/** An image with its line for the prompt. */
export interface AttachedImage {
  text: string;
  image: ShownImage;
  label: Label;
}

/**
 * The image in a file of which the beginning was read; null when it is none. Gives a refusal of the workspace, or why the
 * image cannot be sent.
 */
export async function attachedImage(
  path: ResolvedPath,
  begun: LabelledBytes,
  workspace: Workspace,
): Promise<AttachedImage | Refusal | { problem: string } | null> {
  const { size } = begun.status;
  if (readImage(begun.bytes, { name: path.display, size }).kind === "other") return null;
  const whole = begun.more && size <= IMAGE_BYTES ? await workspace.read(path, { limit: IMAGE_BYTES }) : begun;
  if ("refused" in whole) return whole;
  const read = readImage(whole.bytes, { name: path.display, size: whole.more ? IMAGE_BYTES + 1 : whole.bytes.length });
  if (read.kind !== "image") {
    return { problem: read.kind === "unusable" ? read.problem : "it changed while it was read" };
  }
  const { image, label } = read;
  return {
    text: `Image ${path.display}: ${label}, ${image.width}x${image.height} pixels`,
    image,
    label: highestLabel([begun.label, whole.label]),
  };
}
