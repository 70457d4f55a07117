/** Pages of files that are too large to be read whole: memory stays flat however long the file or a line is. */
import type { Label } from "../../boundary/policy/label.ts";
import type { Refusal, ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { isRefusal } from "../result.ts";
import type { ToolContext } from "../tool.ts";
import { LINE_LENGTH, Page, type PageRange } from "./page.ts";

/** Bytes read at a time. */
const STEP = 1024 * 1024;

/** Bytes of a line that are kept: enough for {@link LINE_LENGTH} characters of any alphabet. */
const LINE_BYTES = LINE_LENGTH * 4;

const LINE_FEED = 0x0a;

/** Puts lines together from pieces of a file, keeping no more of each than a page shows. */
class LineCollector {
  readonly #page: Page;
  readonly #decoder = new TextDecoder();
  #kept: number[] = [];
  #length = 0;

  constructor(page: Page) {
    this.#page = page;
  }

  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.#page.full;) {
      const found = bytes.indexOf(LINE_FEED, at);
      const end = found === -1 ? bytes.length : found;
      const room = LINE_BYTES - this.#kept.length;
      if (room > 0) this.#kept.push(...bytes.subarray(at, Math.min(end, at + room)));
      this.#length += end - at;
      if (found !== -1) this.#finish();
      at = end + 1;
    }
  }

  /** The last line, when no line end closed it. */
  end(): void {
    if (this.#length > 0 && !this.#page.full) this.#finish();
  }

  #finish(): void {
    const line = this.#decoder.decode(new Uint8Array(this.#kept));
    // What was kept whole is counted in characters; of what was not, bytes are all that is known.
    this.#page.add(line, this.#length > LINE_BYTES ? this.#length : line.length);
    this.#kept = [];
    this.#length = 0;
  }
}

/** The page of a long file in UTF-8, and the number of lines when the end was reached. */
export async function readLongFile(
  path: ResolvedPath,
  options: { range: PageRange; context: ToolContext },
): Promise<{ page: Page; total: number | null; label: Label } | Refusal> {
  const page = new Page(options.range);
  const lines = new LineCollector(page);
  for (let offset = 0;; offset += STEP) {
    options.context.signal.throwIfAborted();
    const read = await options.context.workspace.read(path, { offset, limit: STEP });
    if (isRefusal(read)) return read;
    lines.take(read.bytes);
    if (read.more && !page.full) continue;
    lines.end();
    return { page, total: page.full ? null : page.seen, label: read.label };
  }
}
