/** Keeps the end of what a server writes to its standard error, and names its file. */

/** Bytes that are kept. */
const MOST_BYTES = 64 * 1024;

/** The end of what one server wrote. */
export class ServerLog {
  #bytes = new Uint8Array();

  add(bytes: Uint8Array): void {
    const joined = new Uint8Array(this.#bytes.length + bytes.length);
    joined.set(this.#bytes);
    joined.set(bytes, this.#bytes.length);
    this.#bytes = joined.slice(-MOST_BYTES);
  }

  get text(): string {
    return new TextDecoder().decode(this.#bytes);
  }
}

/** Returns the file of the home that holds what a server wrote the last time. */
export function logOf(name: string): string {
  return `logs/mcp-${name}.log`;
}
