/** The answer of a server, as a text for the model with its images. */
import type { ShownImage } from "../provider/chat/content.ts";
import { fieldsOf, isRecord, type JsonRecord, membersOf, textOf } from "../platform/record.ts";
import { cleanText } from "./tool_info.ts";

const IMAGE_LIMIT = 8;
/** Most parts of one result, and characters of all of them. */
const PART_LIMIT = 500;
const TEXT_LIMIT = 8_000_000;

export interface ServerResult {
  text: string;
  images: ShownImage[];
  isError: boolean;
}

/** How images are shown: `name` is the tool's, for the names of its images. */
interface ResultOptions {
  name: string;
  supportsImages?: (() => Promise<boolean | null>) | undefined;
}

/** Joins the texts of a tool's result; images where the model sees them; everything else is named. */
export async function readResult(result: JsonRecord, options: ResultOptions): Promise<ServerResult> {
  const blocks = membersOf(result.content).slice(0, PART_LIMIT);
  const read = await readBlocks(blocks, options);
  if (read.text === "" && read.images.length === 0 && result.structuredContent !== undefined) {
    read.text = JSON.stringify(result.structuredContent).slice(0, TEXT_LIMIT);
  }
  return { ...read, isError: result.isError === true };
}

/** The same for the messages of a prompt and the contents of a resource. */
export async function readBlocks(
  blocks: readonly unknown[],
  options: ResultOptions,
): Promise<{ text: string; images: ShownImage[] }> {
  const images: ShownImage[] = [];
  const texts: string[] = [];
  for (const block of blocks.map(fieldsOf)) {
    const name = `${images.length + 1} of ${options.name}`;
    const image = images.length < IMAGE_LIMIT ? await imageIn(block, { ...options, name }) : null;
    if (image !== null) images.push(image);
    texts.push(image === null ? textIn(block) : `[image ${name} follows]`);
  }
  return { text: texts.join("\n").slice(0, TEXT_LIMIT), images };
}

function textIn(block: JsonRecord): string {
  // Nothing that was sent as text is dropped for being empty.
  if (typeof block.text === "string") return block.text;
  if (isRecord(block.resource)) return textIn(block.resource);
  const named = textOf(block.uri) ?? textOf(block.name);
  const kind = cleanText(textOf(block.type) ?? "data", 40);
  return named === null ? `[${kind} left out]` : `[${kind} ${cleanText(named, 300)}]`;
}

/** Null for anything but an image, and for one that cannot be sent or would not be seen. */
async function imageIn(block: JsonRecord, { name, supportsImages }: ResultOptions): Promise<ShownImage | null> {
  if (block.type !== "image" || typeof block.data !== "string" || await supportsImages?.() !== true) return null;
  const { readEncodedImage } = await import("../provider/chat/image_file.ts");
  const read = readEncodedImage(block.data, { name });
  return read.kind === "image" ? read.image : null;
}
