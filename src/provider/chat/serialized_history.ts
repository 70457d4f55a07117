/**
 * The beginning of a request as bytes, kept from request to request. A history only grows between two compactions: each
 * message is written once, and what a session of a thousand rounds sends a thousand times is in memory once.
 */
import type { WireMessage } from "../types.ts";

/** Bytes of a piece; also what the runtime takes of a body at a time. */
const PIECE = 64 * 1024;

/** Where a message ends: pieces that are full by then, and bytes of the next. */
interface Place {
  full: number;
  used: number;
}

/** What stands in a request up to and with its last message. */
export interface Beginning {
  /** All that stands before the first message. */
  head: string;
  messages: readonly WireMessage[];
  /** A message as JSON; asked once for each. */
  textOf(message: WireMessage): string;
}

/** The bytes of one history. */
export class SerializedHistory {
  #head: string | null = null;
  readonly #messages: WireMessage[] = [];
  /** Of the head, then of each message. */
  #ends: Place[] = [];
  #full: Uint8Array<ArrayBuffer>[] = [];
  #open = new Uint8Array(0);
  #used = 0;

  /**
   * The head and the messages with commas between them, in pieces. What was asked for last is written anew only from the
   * first message on that is another one; messages are never changed once they were given here. The bytes of earlier
   * answers stay as they are: a request on its way may still be reading them.
   */
  write({ head, messages, textOf }: Beginning): Uint8Array<ArrayBuffer>[] {
    if (head === this.#head) this.#cut(sameStart(this.#messages, messages));
    else this.#begin(head);
    for (const message of messages.slice(this.#messages.length)) {
      const text = textOf(message);
      this.#append(this.#messages.length === 0 ? text : `,${text}`);
      this.#messages.push(message);
      this.#mark();
    }
    return [...this.#full, this.#open.subarray(0, this.#used)];
  }

  #begin(head: string): void {
    this.#head = head;
    this.#messages.length = 0;
    this.#ends = [];
    this.#full = [];
    this.#open = new Uint8Array(PIECE);
    this.#used = 0;
    this.#append(head);
    this.#mark();
  }

  #mark(): void {
    this.#ends.push({ full: this.#full.length, used: this.#used });
  }

  /** Forgets all messages but the first `count`. */
  #cut(count: number): void {
    const end = this.#ends[count];
    if (end === undefined || count === this.#messages.length) return;
    this.#messages.length = count;
    this.#ends.length = count + 1;
    const last = this.#full[end.full] ?? this.#open;
    this.#full.length = end.full;
    this.#open = new Uint8Array(PIECE);
    this.#open.set(last.subarray(0, end.used));
    this.#used = end.used;
  }

  #append(text: string): void {
    let rest = text;
    for (;;) {
      const { read, written } = encoder.encodeInto(rest, this.#open.subarray(this.#used));
      this.#used += written;
      if (read === rest.length) return;
      // Full but for a character that has no room.
      rest = rest.slice(read);
      this.#full.push(this.#open.subarray(0, this.#used));
      this.#open = new Uint8Array(PIECE);
      this.#used = 0;
    }
  }
}

const encoder = new TextEncoder();

/** How many messages both begin with. */
function sameStart(one: readonly WireMessage[], other: readonly WireMessage[]): number {
  let at = 0;
  for (; at < one.length && at < other.length; at++) {
    const [before, now] = [one[at], other[at]];
    if (before === undefined || now === undefined || !sameMessage(before, now)) break;
  }
  return at;
}

/** Whether they are written alike, as far as that is seen without writing them: some are made anew for each request. */
function sameMessage(one: WireMessage, other: WireMessage): boolean {
  if (one === other) return true;
  return isPlain(one) && isPlain(other) && one.role === other.role && one.content === other.content;
}

/** A role and a text, and nothing else. */
function isPlain(message: WireMessage): boolean {
  return message.role !== "tool" && typeof message.content === "string" && Object.keys(message).length === 2;
}
