/** A reply while it arrives: bytes in, deltas and in the end a verdict out. Source: wire reference, §6. */
import { readChunk } from "./chunk.ts";
import { MessageAccumulator, TextCollector, tooLong } from "./message_accumulator.ts";
import { EventDecoder, LineDecoder } from "./sse.ts";
import { isRecord } from "../record.ts";
import type { ServerError } from "./server_error.ts";
import type { ChatDelta, ChatReply } from "../types.ts";

/**
 * Most bytes that are read of one reply (after decompression). What is kept of it has a limit of its own, in the draft:
 * around a token of four bytes servers put two hundred that are not kept.
 */
const WIRE_LIMIT = 1024 * 1024 * 1024;
/** Largest document that is read whole, in bytes. Source: specification of the no-cloud boundary, "Around it". */
const DOCUMENT_LIMIT = 64 * 1024 * 1024;
/** Longest `data: [DONE]` that is taken without its line end. */
const DONE_LENGTH = 16;

/** What a reply came to. `cut`: it ended without saying that it was complete. */
export type Verdict =
  | { kind: "complete"; reply: ChatReply }
  | { kind: "error"; error: ServerError }
  | { kind: "cut" }
  | { kind: "empty" }
  /** Nothing in it was a reply; `text` is the start of what was sent. */
  | { kind: "foreign"; text: string };

/** Reads one reply. `whole`: the content type says that it is one JSON document. */
export class ResponseDecoder {
  readonly #lines: LineDecoder;
  readonly #events: EventDecoder;
  readonly #draft = new MessageAccumulator();
  /** The bytes of a document that is read whole. */
  readonly #whole: { decoder: TextDecoder; text: TextCollector } | null;
  #bytes = 0;
  /** `[DONE]` came: nothing of the reply follows. */
  done = false;

  constructor(options: { whole: boolean }) {
    this.#whole = options.whole ? { decoder: new TextDecoder(), text: new TextCollector() } : null;
    this.#events = new EventDecoder({
      value: (value, event) => readChunk(value, { event, sink: this.#draft }),
      done: () => this.done = true,
      junk: (text) => this.#draft.junk ??= text,
    });
    this.#lines = new LineDecoder((line) => this.#events.line(line));
  }

  /** Takes the next bytes of the body. More than 64 MiB of answer, or a line over 16 MiB, is `invalid_reply`. */
  feed(bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength;
    if (this.#bytes > (this.#whole === null ? WIRE_LIMIT : DOCUMENT_LIMIT)) throw tooLong();
    if (this.#whole !== null) {
      this.#whole.text.push(this.#whole.decoder.decode(bytes, { stream: true }));
      return;
    }
    this.#lines.feed(bytes);
    // Kobold closes, others keep the connection: the last line may never get its end.
    if (!this.done && this.#lines.shortRest(DONE_LENGTH).trim() === "data: [DONE]") this.done = true;
  }

  /** The server said that the reply is complete. */
  get finished(): boolean {
    return this.done || this.#draft.ending !== null;
  }

  /** Whether something that could be shown, or was reported, has come. */
  get started(): boolean {
    return this.#draft.started;
  }

  /** What came since the last call: at most one delta of a kind, and of a call. */
  takeDeltas(): ChatDelta[] {
    return this.#draft.takeDeltas();
  }

  /** Ends the reading; `takeDeltas` once more gives what was held back. */
  end(): void {
    if (this.#whole !== null) this.#endWhole(this.#whole.text.take() + this.#whole.decoder.decode());
    else {
      this.#lines.end();
      this.#events.end();
    }
    this.#draft.end();
  }

  /** What had arrived so far. */
  partial(): { text: string; reasoning: string } {
    return this.#draft.partial();
  }

  /** What it came to, after {@link end}. An error wins over everything that follows it. */
  async verdict(): Promise<Verdict> {
    const draft = this.#draft;
    if (draft.failure !== null) return { kind: "error", error: draft.failure };
    if (draft.ending === null && !draft.started) {
      if (this.done) return { kind: "empty" };
      return draft.junk === null ? { kind: "cut" } : { kind: "foreign", text: draft.junk };
    }
    if (!this.finished) return { kind: "cut" };
    return { kind: "complete", reply: await draft.reply() };
  }

  #endWhole(text: string): void {
    const document = parsed(text);
    if (isRecord(document)) {
      // A document that could be parsed is complete, whether it gives a reason or not.
      this.done = Array.isArray(document["choices"]) && document["choices"].length > 0;
      if (!this.done) this.#draft.junk = text.slice(0, 200);
      return readChunk(document, { event: "", sink: this.#draft });
    }
    // Some servers call a stream JSON.
    for (const line of text.split(/\r\n|\n|\r/)) this.#events.line(line);
    this.#events.end();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
