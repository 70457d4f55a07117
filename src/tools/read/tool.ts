/** Read: a page of a text file with line numbers, a directory listing, an image, or the type of any other file. */
import { counted } from "../../platform/number.ts";
import { rowsWithin } from "../../platform/text.ts";
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { ALL_LINES, type CurrentFile, readWhole, rememberShown, unsavedText } from "../known_file.ts";
import { existing, markOf, shownName } from "../file_names.ts";
import { failure, isRefusal, refused, sourceOf, success } from "../result.ts";
import { countLines, decodeText, isUtf16, looksBinary } from "../text.ts";
import type { LineRange, Tool, ToolContext, ToolResult } from "../tool.ts";
import { Page, type PageRange, pageRange, readLongFile } from "./page.ts";
import { readDeclaration, type ReadInput } from "../declarations.ts";

const UNSAVED = "[unsaved changes of the editor: the file on the disk differs]";

/** Entries of a directory that are listed. */
const LISTING_LIMIT = 500;

/** Lines that a page beyond the end shows. */
const LAST_LINES = 50;

export const readTool: Tool<ReadInput> = {
  ...readDeclaration,
  async run(input, context) {
    context.signal.throwIfAborted();
    const found = await existing(input.file_path, context);
    if ("content" in found) return found;
    const { path, status } = found;
    if (status.kind === "directory") return await listing(path, context);
    return await file(path, pageRange(input, context.resultBytes), context);
  },
};

async function listing(path: ResolvedPath, context: ToolContext): Promise<ToolResult> {
  const entries = await context.workspace.list(path);
  if (isRefusal(entries)) return refused(entries, context);
  const name = shownName(path.display);
  if (entries.length === 0) return success(`${name} is an empty directory.`, context);
  const rows = entries.slice(0, LISTING_LIMIT).map((entry) =>
    shownName(entry.name) + (entry.kind === "directory" ? "/" : "") +
    markOf({ ...path, path: `${path.path}/${entry.name}`, real: `${path.real}/${entry.name}` }, context)
  );
  const { kept, left } = rowsWithin(rows, context.resultBytes);
  const hidden = entries.length - rows.length + left;
  if (hidden > 0) kept.push(`[${counted(hidden, "more name")}; list a subdirectory or search by pattern]`);
  return success(`${name} (directory)\n${kept.join("\n")}`, context);
}

async function file(path: ResolvedPath, range: PageRange, context: ToolContext): Promise<ToolResult> {
  const current = await readWhole(path, context);
  if (isRefusal(current)) return refused(current, context);
  const { bytes, label, status: { size } } = current;
  const facts = { label, ...sourceOf(path, current.rule, context) };
  const details = { filePath: path.path };
  const finish = async (
    content: string,
    { shown = [], ...more }: { shown?: readonly LineRange[]; images?: ToolResult["images"] } = {},
  ) => {
    await rememberShown(path, current, { memory: context.memory, shown });
    return success(content, context, { ...facts, details, ...more });
  };
  const finishWithout = (type: string) =>
    finish(`${path.display}: ${type}, ${counted(size, "byte")}. Read shows text files only.`);
  if (size === 0) return await finish(`${path.display} is empty.`, { shown: ALL_LINES });
  const head = await firstBytes(path, current, context);
  // A PDF is not text, although it may begin without a NUL byte.
  if (describeType(head) === PDF || looksBinary(head) || (bytes === null && isUtf16(head))) {
    const image = await showImage(bytes ?? head, { display: path.display, size }, context);
    if (image === null) {
      return await finishWithout(isUtf16(head) ? "UTF-16 text, too long to show" : describeType(head));
    }
    const { content, ...images } = image;
    return await finish(content, images);
  }
  const unsaved = await unsavedText(path, current, context);
  if (unsaved !== null) {
    const page = pageOf(new TextEncoder().encode(unsaved), range);
    const text = page?.page.text(page.total) ?? "The page is beyond its end.";
    // None of it is on the disk: a change of the file has to wait until it is saved.
    return success(`${UNSAVED}\n${text}`, context, { ...facts, details });
  }
  const found = bytes === null ? await readLongFile(path, { range, context }) : pageOf(bytes, range);
  if (isRefusal(found)) return refused(found, context);
  if (found === null) return await finishWithout(describeType(head));
  const text = found.page.text(found.total);
  if (text !== null) return await finish(text, { shown: found.page.shown });
  // The end is what is there.
  const limit = Math.min(range.limit, LAST_LINES);
  const offset = Math.max((found.total ?? 1) - limit + 1, 1);
  if (offset >= range.offset) {
    const problem = `${path.display} cannot be read from line ${offset} on. Call Read without offset.`;
    return failure(problem, context, facts);
  }
  const last = await file(path, { ...range, offset, limit }, context);
  return { ...last, content: `[offset ${range.offset} is beyond the end; the last lines:]\n${last.content}` };
}

/**
 * Describes an image and attaches it where the model is known to take it: a server that cannot would refuse every
 * request from then on. Null for a file that is not an image. `bytes` may be its beginning only; `size` is that of the
 * file.
 */
async function showImage(
  bytes: Uint8Array,
  { display, size }: { display: string; size: number },
  { supportsImages }: ToolContext,
): Promise<Pick<ToolResult, "content" | "images"> | null> {
  const { readImage } = await import("../../provider/chat/image_file.ts");
  const read = readImage(bytes, { name: display, size });
  if (read.kind === "other") return null;
  const bytesText = counted(size, "byte");
  if (read.kind === "unusable") {
    return { content: `${display}: ${describeType(bytes)}, ${bytesText}. It cannot be shown: ${read.problem}.` };
  }
  const { image, label } = read;
  const what = `${display}: ${label} image, ${image.width}x${image.height} pixels, ${bytesText}.`;
  const sees = supportsImages === undefined ? false : await supportsImages();
  if (sees === true) return { content: `${what} It follows.`, images: [image] };
  const why = sees === null
    ? "whether this model supports image input is unknown. The user can set `images: true` for the model in " +
      "providers.yaml, or attach the file."
    : "this model does not support image input.";
  return { content: `${what} It is not shown: ${why}` };
}

async function firstBytes(path: ResolvedPath, { bytes }: CurrentFile, context: ToolContext): Promise<Uint8Array> {
  if (bytes !== null) return bytes.subarray(0, 8192);
  const read = await context.workspace.read(path, { limit: 8192 });
  return isRefusal(read) ? new Uint8Array() : read.bytes;
}

function pageOf(bytes: Uint8Array, range: PageRange): { page: Page; total: number } | null {
  const decoded = decodeText(bytes);
  if (decoded === null) return null;
  const page = new Page(range);
  const { text } = decoded;
  for (let at = 0; at < text.length && !page.full;) {
    const found = text.indexOf("\n", at);
    const end = found === -1 ? text.length : found;
    page.add(text.slice(at, end));
    at = end + 1;
  }
  return { page, total: countLines(text) };
}

const PDF = "PDF document";

/** Signatures as they are defined by the formats: bytes at an offset. `..` stands for any byte. */
const SIGNATURES: readonly [name: string, offset: number, hex: string][] = [
  ["PNG image", 0, "89504e470d0a1a0a"],
  ["JPEG image", 0, "ffd8ff"],
  ["GIF image", 0, "47494638"],
  ["WebP image", 0, "52494646........57454250"],
  ["WAV audio", 0, "52494646........57415645"],
  ["TIFF image", 0, "49492a00"],
  ["TIFF image", 0, "4d4d002a"],
  ["icon", 0, "00000100"],
  [PDF, 0, "255044462d"],
  ["zip archive (also docx, xlsx, jar)", 0, "504b0304"],
  ["gzip archive", 0, "1f8b"],
  ["xz archive", 0, "fd377a585a00"],
  ["zstd archive", 0, "28b52ffd"],
  ["bzip2 archive", 0, "425a68"],
  ["7z archive", 0, "377abcaf271c"],
  ["tar archive", 257, "7573746172"],
  ["ELF program", 0, "7f454c46"],
  ["Windows program", 0, "4d5a"],
  ["Mach-O program", 0, "cffaedfe"],
  ["WebAssembly module", 0, "0061736d"],
  ["Java class", 0, "cafebabe"],
  ["SQLite database", 0, "53514c69746520666f726d6174"],
  ["GGUF model", 0, "47475546"],
  ["MP4 video", 4, "66747970"],
  ["MP3 audio", 0, "494433"],
  ["Ogg media", 0, "4f676753"],
  ["FLAC audio", 0, "664c6143"],
  ["WOFF font", 0, "774f4646"],
  ["WOFF font", 0, "774f4632"],
];

function matches(head: Uint8Array, offset: number, hex: string): boolean {
  for (let at = 0; at * 2 < hex.length; at++) {
    const byte = hex.slice(at * 2, at * 2 + 2);
    if (byte !== ".." && head[offset + at] !== Number.parseInt(byte, 16)) return false;
  }
  return true;
}

/** `PNG image`, …; `binary file` when the signature is unknown. */
function describeType(head: Uint8Array): string {
  return SIGNATURES.find(([, offset, hex]) => matches(head, offset, hex))?.[0] ?? "binary file";
}
