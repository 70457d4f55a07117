/** Reads an image: attached for a model with image input, described for any other. */
import { readImage } from "../../provider/chat/image_file.ts";
import { count } from "../result.ts";
import type { ToolContext, ToolResult } from "../tool.ts";

/**
 * Describes an image file and attaches the image where the model takes it; null for a file that is no image. `bytes` may
 * be its beginning only; `size` is that of the file, `type` its format. The image goes only to a model with known image
 * input: a server that cannot take it would refuse every request from then on.
 */
export async function showImage(
  bytes: Uint8Array,
  { display, size, type }: { display: string; size: number; type: string },
  context: Pick<ToolContext, "supportsImages">,
): Promise<Pick<ToolResult, "content" | "images"> | null> {
  const read = readImage(bytes, { name: display, size });
  if (read.kind === "other") return null;
  const bytesText = count(size, "byte");
  if (read.kind === "unusable") {
    return { content: `${display}: ${type}, ${bytesText}. It cannot be shown: ${read.problem}.` };
  }
  const { image, label } = read;
  const what = `${display}: ${label} image, ${image.width}x${image.height} pixels, ${bytesText}.`;
  const sees = context.supportsImages === undefined ? false : await context.supportsImages();
  if (sees === true) return { content: `${what} It follows.`, images: [image] };
  return {
    content: sees === null
      ? `${what} It is not shown: whether this model supports image input is unknown. The user can set \`images: true\` ` +
        "for the model in providers.yaml, or attach the file."
      : `${what} It is not shown: this model does not support image input.`,
  };
}
