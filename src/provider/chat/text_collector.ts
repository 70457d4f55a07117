/** A text that grows by small pieces, in flat memory: pieces are joined in batches, the whole only when asked for. */
export class TextCollector {
  #blocks: string[] = [];
  #pieces: string[] = [];

  push(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length === BATCH) {
      this.#blocks.push(this.#pieces.join(""));
      this.#pieces = [];
    }
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0 && this.#pieces.length === 0;
  }

  text(): string {
    return this.#blocks.join("") + this.#pieces.join("");
  }

  /** Gives the text and starts anew. */
  take(): string {
    const text = this.text();
    this.#blocks = [];
    this.#pieces = [];
    return text;
  }
}

const BATCH = 1024;
