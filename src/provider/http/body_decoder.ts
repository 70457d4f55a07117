/** The body of an HTTP/1.1 response, taken out of what the connection brings. Source: RFC 9112, sections 6 and 7. */
import { type BodyLength, HEAD_LIMIT, NoHttp } from "./headers.ts";

/** Takes a body out of the bytes of a connection, in pieces of any size. */
export interface BodyDecoder {
  /** Whether the body is complete. */
  readonly done: boolean;
  /** Moves what belongs to the body to the front of `bytes`; how many bytes that is. Throws {@link NoHttp}. */
  take(bytes: Uint8Array): number;
  /** Says that the connection ended. Throws when the body is not complete. */
  end(): void;
}

/** The decoder for a body of that length. */
export function bodyDecoder(length: BodyLength): BodyDecoder {
  switch (length.kind) {
    case "none":
      return new Counted(0);
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

/** What the next byte belongs to. */
type Place = "size" | "extension" | "data" | "after data" | "trailer" | "end";

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
/** Hexadecimal digits of a size that is still exact. */
const SIZE_DIGITS = 13;

class Chunked implements BodyDecoder {
  #place: Place = "size";
  /** Of the chunk: its size as far as it is read, then the bytes to come. */
  #left = 0;
  #digits = 0;
  /** Bytes of the current line of the trailer. */
  #line = 0;
  /** Bytes of the extension or of the trailer. */
  #aside = 0;

  get done(): boolean {
    return this.#place === "end";
  }

  take(bytes: Uint8Array): number {
    let taken = 0;
    let at = 0;
    while (at < bytes.length && this.#place !== "end") {
      if (this.#place === "data") {
        const count = Math.min(this.#left, bytes.length - at);
        if (taken !== at) bytes.copyWithin(taken, at, at + count);
        taken += count;
        at += count;
        this.#left -= count;
        if (this.#left === 0) this.#place = "after data";
      } else {
        this.#control(bytes[at++] ?? 0);
      }
    }
    return taken;
  }

  end(): void {
    if (!this.done) throw incomplete();
  }

  #control(byte: number): void {
    switch (this.#place) {
      case "size":
        return this.#size(byte);
      case "extension":
        this.#note();
        if (byte === LINE_FEED) this.#sizeEnds();
        return;
      case "after data":
        if (byte === CARRIAGE_RETURN) return;
        if (byte !== LINE_FEED) throw new NoHttp("body");
        this.#place = "size";
        this.#digits = 0;
        return;
      default:
        return this.#trailer(byte);
    }
  }

  #size(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== null) {
      if (++this.#digits > SIZE_DIGITS) throw new NoHttp("body");
      this.#left = this.#left * 16 + digit;
    } else if (byte === LINE_FEED) {
      this.#sizeEnds();
    } else if (byte === CARRIAGE_RETURN || byte === 59 || byte === 32 || byte === 9) {
      this.#place = "extension";
    } else {
      throw new NoHttp("body");
    }
  }

  #sizeEnds(): void {
    if (this.#digits === 0) throw new NoHttp("body");
    this.#aside = 0;
    this.#place = this.#left === 0 ? "trailer" : "data";
  }

  #trailer(byte: number): void {
    this.#note();
    if (byte === LINE_FEED) {
      if (this.#line === 0) this.#place = "end";
      this.#line = 0;
    } else if (byte !== CARRIAGE_RETURN) {
      this.#line++;
    }
  }

  #note(): void {
    if (++this.#aside > HEAD_LIMIT) throw new NoHttp("body");
  }
}

function hexDigit(byte: number): number | null {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : null;
}
