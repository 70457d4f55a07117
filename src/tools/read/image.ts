/** Read of an image: shown to a model that sees, described to one that does not. */
import { readImage } from "../../provider/chat/image_file.ts";
import { count } from "../result.ts";
import type { ToolContext, ToolResult } from "../tool.ts";
import { describeType } from "./file_type.ts";

/**
 * What the model gets of an image file: words, and the image where it goes with them; null for a file that is none.
 * `bytes` may be its beginning only, `size` is that of the file. The image goes only to a model that is known to see:
 * where it is not known, a server that cannot take it would refuse every request from then on.
 */
export async function showImage(
  bytes: Uint8Array,
  { display, size }: { display: string; size: number },
  context: Pick<ToolContext, "seesImages">,
): Promise<Pick<ToolResult, "content" | "images"> | null> {
  const read = readImage(bytes, { name: display, size });
  if (read.kind === "other") return null;
  const bytesText = count(size, "byte");
  if (read.kind === "unusable") {
    return { content: `${display}: ${describeType(bytes)}, ${bytesText}. It cannot be shown: ${read.problem}.` };
  }
  const { image, label } = read;
  const what = `${display}: ${label} image, ${image.width}x${image.height} pixels, ${bytesText}.`;
  const sees = context.seesImages === undefined ? false : await context.seesImages();
  if (sees === true) return { content: `${what} It follows.`, images: [image] };
  return {
    content: sees === null
      ? `${what} It is not shown, since nobody knows whether this model sees images. The user can write \`images: true\` ` +
        "for the model in providers.yaml, or attach the file."
      : `${what} It is not shown: this model does not see images.`,
  };
}
