/** What a tool of the client answered, as a result for the model. */
import type { ShownImage } from "../../provider/chat/content.ts";
import type { ToolContext, ToolResult } from "../../tools/tool.ts";
import { fieldsOf, textOf } from "./fields.ts";

/** Longest text of one result, in characters. */
const RESULT_LIMIT = 400_000;
/** Most images of one result. */
const IMAGE_LIMIT = 8;

/**
 * Texts joined, images where the model is known to see them; everything else is named. `name` is the tool's, for the
 * names of its images.
 */
export async function resultOf(
  result: Record<string, unknown>,
  options: Pick<ToolContext, "seesImages"> & { name: string },
): Promise<ToolResult> {
  const blocks = Array.isArray(result.content) ? result.content.map(fieldsOf) : [];
  const images: ShownImage[] = [];
  const texts: string[] = [];
  for (const block of blocks) {
    if (block.type === "text") texts.push(textOf(block.text) ?? "");
    else {
      const name = `${images.length + 1} of ${options.name}`;
      const image = images.length < IMAGE_LIMIT ? await imageIn(block, { ...options, name }) : null;
      if (image !== null) images.push(image);
      texts.push(image === null ? `[${textOf(block.type) ?? "block"} left out]` : `[image ${name} follows]`);
    }
  }
  if (texts.length === 0 && result.structuredContent !== undefined) {
    texts.push(JSON.stringify(result.structuredContent));
  }
  const whole = texts.join("\n");
  const content = whole.length > RESULT_LIMIT ? `${whole.slice(0, RESULT_LIMIT)}\n[the rest was left out]` : whole;
  const shown = images.length === 0 ? {} : { images };
  return { content, isError: result.isError === true, ...shown, label: "open" };
}

/** Null for what is no image, cannot be sent, or would not be seen. */
async function imageIn(
  block: Record<string, unknown>,
  { name, seesImages }: Pick<ToolContext, "seesImages"> & { name: string },
): Promise<ShownImage | null> {
  if (block.type !== "image" || typeof block.data !== "string" || await seesImages?.() !== true) return null;
  const { readEncodedImage } = await import("../../provider/chat/image_file.ts");
  const read = readEncodedImage(block.data, { name });
  return read.kind === "image" ? read.image : null;
}
