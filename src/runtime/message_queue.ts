/** The queue of messages that were sent while the session was busy. */
import type { PromptInput } from "./agent_session.ts";

/** A message that waits for the next tool result of the running turn, or for a turn of its own. */
export interface QueuedMessage {
  /** As it was typed or sent. */
  text: string;
  /** The client's name for it. */
  id?: string | undefined;
  /** Makes the prompt; null for a command, which waits until the turn is over. Throws where no prompt can be made. */
  toPrompt(): Promise<PromptInput | null>;
}

/** Characters that may be queued before input is no longer read. */
const LIMIT = 32 * 1024 * 1024;

/** A bounded queue. Between turns its owner takes from it, during a turn the session does. */
export class MessageQueue {
  readonly #messages: { message: QueuedMessage; size: number }[] = [];
  #size = 0;
  #ended = false;
  #changed = Promise.withResolvers<void>();

  /** Adds a message; resolves when there is room for more, so that input is read no faster than it is used. */
  async push(message: QueuedMessage, size: number = message.text.length): Promise<void> {
    this.#messages.push({ message, size });
    this.#size += size;
    this.#wake();
    while (this.#size > LIMIT && !this.#ended) await this.#changed.promise;
  }

  /** Takes the oldest message once there is one; null when none will come. */
  async next(): Promise<QueuedMessage | null> {
    while (this.#messages.length === 0 && !this.#ended) await this.#changed.promise;
    const { first } = this;
    if (first !== null) this.remove(first);
    return first;
  }

  get first(): QueuedMessage | null {
    return this.#messages[0]?.message ?? null;
  }

  get waiting(): QueuedMessage[] {
    return this.#messages.map(({ message }) => message);
  }

  /** Removes a message; false when it is not there any more. */
  remove(message: QueuedMessage): boolean {
    const at = this.#messages.findIndex((queued) => queued.message === message);
    const [removed] = at < 0 ? [] : this.#messages.splice(at, 1);
    if (removed === undefined) return false;
    this.#size -= removed.size;
    this.#wake();
    return true;
  }

  /** Removes and returns all messages. */
  drain(): QueuedMessage[] {
    this.#size = 0;
    const all = this.#messages.splice(0).map(({ message }) => message);
    this.#wake();
    return all;
  }

  /** No more will come. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
