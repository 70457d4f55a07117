/** The bytes of a body as they come, whatever carries them, and small bodies read whole. */

/** Bytes of the one buffer that every read uses. Measured: a buffer for each piece costs three times the time. */
export const BUFFER_SIZE = 64 * 1024;

/** A body. Whoever has one reads it to its end or cancels it. */
export interface ByteSource {
  /** The next bytes, valid until the next read; null at the end. Rejects when the connection breaks. */
  read(): Promise<Uint8Array | null>;
  /** Lets go of the rest; what waits in {@link read} gets the end. */
  cancel(): Promise<void>;
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

/** A reader that fills our buffer; null for a stream of another kind, such as one that is unpacked. */
function byteReader(stream: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStreamBYOBReader | null {
  try {
    return stream.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}

/** The pieces as one. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The source unpacked by `format`. */
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

/** What was read: all of it, or the start of something longer. */
interface BoundedText {
  text: string;
  complete: boolean;
}

/** Reads at most about `limitBytes` (after decompression) as UTF-8, then lets go of the rest. */
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
