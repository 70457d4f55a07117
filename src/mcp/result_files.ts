/** Long results of a session, each a file that its model can read in parts; they are gone when the session is. */
import { openTemporaryDirectory, type TemporaryDirectory } from "../platform/temporary.ts";

/** Bytes that are kept for one session. */
const MOST_BYTES = 256 * 1024 * 1024;

/** The files. Nothing is made before the first. */
export class ResultFiles {
  #directory: (TemporaryDirectory & { remove(): Promise<void> }) | null = null;
  #count = 0;
  #bytes = 0;

  /** Keeps a text; returns its path, null where it cannot be kept. */
  keep(text: string): string | null {
    if (this.#bytes + text.length > MOST_BYTES) return null;
    try {
      this.#directory ??= openTemporaryDirectory();
      const name = `result-${++this.#count}.txt`;
      this.#directory.write(name, text);
      this.#bytes += text.length;
      return `${this.#directory.path}/${name}`;
    } catch {
      // The result is cut all the same, and says so.
      return null;
    }
  }

  async close(): Promise<void> {
    await this.#directory?.remove();
    this.#directory = null;
  }
}
