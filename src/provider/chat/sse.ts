/** Decodes bytes into lines, and lines into JSON values: server-sent events, JSON lines, or JSON spread over lines. */
import { parseJson } from "../../platform/record.ts";
import { ProviderFailure } from "../failure.ts";

/** Longest line, in characters. Source: specification of the no-cloud boundary, "Around it". */
const LINE_LIMIT = 16 * 1024 * 1024;

/**
 * Cuts UTF-8 bytes, however they are split, into lines that end in LF, CRLF or CR. A byte order mark at the start is
 * dropped; U+2028 and the like do not end a line. Each line costs its length once, also when it comes byte by byte.
 */
export class LineDecoder {
  readonly #decoder = new TextDecoder();
  readonly #onLine: (line: string) => void;
  /** The line that has not ended. */
  #pending = "";
  /** The last chunk ended in CR: a LF that follows belongs to it. */
  #afterReturn = false;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Takes the next bytes; their lines have been handed on when it returns. A line over 16 Mi is `invalid_reply`. */
  feed(bytes: Uint8Array): void {
    this.#split(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Passes on what follows the last line end, if anything. */
  end(): void {
    this.#split(this.#decoder.decode());
    if (this.#pending !== "") this.#onLine(this.#pending);
    this.#pending = "";
  }

  /** The start of a line that has not ended. */
  get rest(): string {
    return this.#pending;
  }

  #split(decoded: string): void {
    if (decoded === "") return;
    let text = this.#afterReturn && decoded.startsWith("\n") ? decoded.slice(1) : decoded;
    this.#afterReturn = text.endsWith("\r");
    if (text.includes("\r")) text = text.replace(/\r\n?/g, "\n");
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      const line = this.#pending + text.slice(start, end);
      this.#pending = "";
      this.#onLine(line);
      start = end + 1;
    }
    this.#pending += text.slice(start);
    if (this.#pending.length <= LINE_LIMIT) return;
    throw new ProviderFailure("invalid_reply", "the server sent a line of more than 16 MiB", { kind: "invalid" });
  }
}

interface EventSink {
  /** One JSON object. `event` is the name that stood before it, or empty. */
  value(value: Record<string, unknown>, event: string): void;
  done(): void;
  /** A line does not belong to any format. */
  junk(): void;
}

/** Number of lines that are tried as one value before only an empty line or the end decides: keeps the work linear. */
const ATTEMPTS = 64;

/**
 * Hands values on as soon as the lines read so far are valid JSON: servers differ in how, and whether, they end an
 * event (single line ends, a last line without one). `:` lines are comments, that is, signs of life.
 */
export class EventDecoder {
  readonly #sink: EventSink;
  #event = "";
  /** Lines of a value that is not complete. */
  #lines: string[] = [];
  /** The lines come without `data:`; then empty lines are part of the value. */
  #bare = false;

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  line(line: string): void {
    if (line === "") return this.#blank();
    const first = line.charCodeAt(0);
    if (first === COLON) return;
    if (first === SMALL_D && line.startsWith("data:")) {
      this.#bare = false;
      return this.#data(line.slice(line.charCodeAt(5) === SPACE ? 6 : 5));
    }
    if (this.#bare && this.#lines.length > 0) return this.#data(line);
    this.#field(line);
  }

  /** The stream, or an event, ended. What is still incomplete is damaged, and dropped. */
  end(): void {
    const lines = this.#lines;
    this.#lines = [];
    // Fewer lines were tried together when the last of them came.
    if (lines.length > ATTEMPTS) this.#try(lines.join("\n"));
  }

  #blank(): void {
    if (this.#bare && this.#lines.length > 0) return;
    if (this.#lines.length > 0) this.end();
    this.#event = "";
  }

  #field(line: string): void {
    if (line.startsWith("event:")) {
      this.#event = line.slice(6).trim();
    } else if (line.startsWith("error:")) {
      // Old llama.cpp and llamafile write the error as a field of its own.
      this.#event = "error";
      this.#data(line.slice(6).trim());
    } else if (/^\s*[{[]/.test(line)) {
      this.#bare = true;
      this.#data(line);
    } else if (!/^(?:id|retry|data|event)(?::|$)/.test(line) && line.trim() !== "") {
      this.#sink.junk();
    }
  }

  #data(text: string): void {
    if (text === "[DONE]" || (text.length < 16 && text.trim() === "[DONE]")) {
      this.#lines = [];
      return this.#sink.done();
    }
    if (this.#lines.length === 0) {
      if (this.#try(text)) return;
      if (/^\s*[{[]/.test(text)) this.#lines.push(text);
      else if (text.trim() !== "") this.#sink.junk();
      return;
    }
    if (this.#lines.length < ATTEMPTS && this.#try(this.#lines.join("\n") + "\n" + text)) {
      this.#lines = [];
    } else if (!this.#bare && text.startsWith("{") && this.#try(text)) {
      // A whole value after a damaged one: the damage must not swallow it.
      this.#lines = [];
    } else {
      this.#lines.push(text);
    }
  }

  #try(text: string): boolean {
    const last = text.charCodeAt(text.length - 1);
    if (last !== BRACE && last !== BRACKET && !/[}\]]\s*$/.test(text.slice(-64))) return false;
    const value = parseJson(text);
    if (value === undefined) return false;
    if (Array.isArray(value)) { for (const each of value) this.#hand(each); }
    else this.#hand(value);
    return true;
  }

  #hand(value: unknown): void {
    if (typeof value === "object" && value !== null) this.#sink.value(value as Record<string, unknown>, this.#event);
  }
}

const SPACE = 0x20;
const COLON = 0x3a;
const SMALL_D = 0x64;
const BRACKET = 0x5d;
const BRACE = 0x7d;
