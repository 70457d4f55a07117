/** A file attached to a prompt that turns out to be an image. Loaded when the first such file comes. */
import { highestLabel } from "../boundary/policy/label.ts";
import type { LabelledBytes, ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import { IMAGE_BYTES, readImage } from "../provider/chat/image_file.ts";
import { cannotAttach, mayNotAttach } from "./attach_error.ts";
import type { Attached } from "./user_item.ts";

/** The image in a file of which the beginning was read; null when it is none. Throws for one that cannot be sent. */
export async function attachedImage(
  file: string,
  { path, begun, workspace }: { path: ResolvedPath; begun: LabelledBytes; workspace: Workspace },
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
