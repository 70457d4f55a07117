/**
 * The body of a response: the bytes as they come, whatever carries them; taken out of an HTTP/1.1 connection (RFC 9112,
 * sections 6 and 7); or small and read whole.
 */
import { type BodyLength, HEAD_LIMIT, NoHttp, type ReceivedHeaders } from "./headers.ts";

/** Bytes of the one buffer that every read uses. Measured: a buffer for each piece costs three times the time. */
export const BUFFER_SIZE = 64 * 1024;

/** A body. Its holder reads it to its end or cancels it. */
export interface ByteSource {
  /** The next bytes, valid until the next read; null at the end. Rejects when the connection breaks. */
  read(): Promise<Uint8Array | null>;
  /** Discards the rest; what waits in {@link read} gets the end. */
  cancel(): Promise<void>;
}

/** A response as it came, over either kind of connection. Its holder reads the body to its end or cancels it. */
export interface RawResponse {
  status: number;
  headers: ReceivedHeaders;
  body: ByteSource | null;
}

/** The body of a response of the runtime. */
export function streamSource(stream: ReadableStream<Uint8Array<ArrayBuffer>>): ByteSource {
  const reader = byteReader(stream) ?? stream.getReader();
  let buffer = new Uint8Array(BUFFER_SIZE);
  return {
    async read() {
      if (!(reader instanceof ReadableStreamBYOBReader)) return (await reader.read()).value ?? null;
      const { value, done } = await reader.read(buffer);
      if (value !== undefined) buffer = new Uint8Array(value.buffer);
      return done ? null : value;
    },
    async cancel() {
      await reader.cancel().catch(() => {});
    },
  };
}

/** A reader that fills the given buffer; null for a stream of another kind, such as a decompressed one. */
function byteReader(stream: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStreamBYOBReader | null {
  try {
    return stream.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}

/** The source, decompressed by `format`. */
export function unpacked(source: ByteSource, format: CompressionFormat): ByteSource {
  const packed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const bytes = await source.read();
      if (bytes === null) controller.close();
      else controller.enqueue(bytes.slice());
    },
    cancel: () => source.cancel(),
  });
  return streamSource(packed.pipeThrough(new DecompressionStream(format)));
}

interface BoundedText {
  text: string;
  complete: boolean;
}

/** Reads at most about `limitBytes` (after decompression) as UTF-8, then discards the rest. */
export async function readBounded(source: ByteSource | null, limitBytes: number): Promise<BoundedText> {
  if (source === null) return { text: "", complete: true };
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let length = 0;
  for (let bytes = await source.read(); bytes !== null; bytes = await source.read()) {
    length += bytes.length;
    if (length > limitBytes) {
      parts.push(decoder.decode(bytes.subarray(0, bytes.length - (length - limitBytes))));
      await source.cancel();
      return { text: parts.join(""), complete: false };
    }
    parts.push(decoder.decode(bytes, { stream: true }));
  }
  parts.push(decoder.decode());
  return { text: parts.join(""), complete: true };
}

/** Takes a body out of the bytes of a connection, in pieces of any size. */
export interface BodyDecoder {
  /** True if the body is complete. */
  readonly done: boolean;
  /** Moves what belongs to the body to the front of `bytes`; how many bytes that is. Throws {@link NoHttp}. */
  take(bytes: Uint8Array): number;
  /** Says that the connection ended. Throws when the body is not complete. */
  end(): void;
}

/** The decoder for a body of that length. */
export function bodyDecoder(length: BodyLength): BodyDecoder {
  switch (length.kind) {
    case "bytes":
      return new Counted(length.count);
    case "rest":
      return { done: false, take: (bytes) => bytes.length, end() {} };
    case "chunked":
      return new Chunked();
  }
}

function incomplete(): Error {
  return new Error("unexpected end of the body");
}

class Counted implements BodyDecoder {
  #left: number;

  constructor(count: number) {
    this.#left = count;
  }

  get done(): boolean {
    return this.#left === 0;
  }

  take(bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, this.#left);
    this.#left -= taken;
    return taken;
  }

  end(): void {
    if (!this.done) throw incomplete();
  }
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
/** Hexadecimal digits of a size that is still exact. */
const SIZE_DIGITS = 13;

class Chunked implements BodyDecoder {
  /** The part that the next byte belongs to: a chunk, or the line that stands before or after one. */
  #place: "size" | "extension" | "data" | "behind" | "trailer" | "end" = "size";
  /** Of the chunk: its size as far as it is read, then the bytes to come. */
  #left = 0;
  /** Characters of the line, without those of an extension. */
  #length = 0;
  /** Bytes beside the chunks since the last one of them. */
  #aside = 0;

  get done(): boolean {
    return this.#place === "end";
  }

  take(bytes: Uint8Array): number {
    let taken = 0;
    let at = 0;
    while (at < bytes.length && !this.done) {
      if (this.#place === "data") {
        const count = Math.min(this.#left, bytes.length - at);
        if (taken !== at) bytes.copyWithin(taken, at, at + count);
        taken += count;
        at += count;
        this.#left -= count;
        if (this.#left === 0) this.#place = "behind";
      } else this.#control(bytes[at++] ?? 0);
    }
    return taken;
  }

  end(): void {
    if (!this.done) throw incomplete();
  }

  #control(byte: number): void {
    if (++this.#aside > HEAD_LIMIT) throw new NoHttp("body");
    if (byte === LINE_FEED) this.#endLine();
    else if (this.#place === "size") this.#digit(String.fromCharCode(byte));
    else if (this.#place !== "extension" && byte !== CARRIAGE_RETURN) this.#length++;
  }

  #digit(sign: string): void {
    const digit = parseInt(sign, 16);
    if (!Number.isNaN(digit)) {
      this.#left = this.#left * 16 + digit;
      this.#length++;
    } else if ("\r\t ;".includes(sign)) this.#place = "extension";
    else throw new NoHttp("body");
  }

  #endLine(): void {
    const length = this.#length;
    this.#length = 0;
    if (this.#place === "trailer") {
      if (length === 0) this.#place = "end";
    } else if (this.#place === "behind") {
      if (length > 0) throw new NoHttp("body");
      this.#place = "size";
    } else {
      if (length === 0 || length > SIZE_DIGITS) throw new NoHttp("body");
      this.#aside = 0;
      this.#place = this.#left === 0 ? "trailer" : "data";
    }
  }
}
