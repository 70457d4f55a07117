/** Lets a server read what the next prompt begins with while the user still types: `warm_up` of a model. */
import { requestOf } from "../agent/chat_request.ts";
import type { OpenSession } from "./open_session.ts";

/** Stands for the words that are to come: a history has to end with the user's. */
const WORDS_TO_COME = "(nothing yet)";
/** Ends the request; never shown. */
const NOT_NEEDED = "not needed any more";

/** At most one such request; it ends before anything else is asked. */
export class WarmUp {
  #running: { stop: AbortController; done: Promise<unknown> } | null = null;

  /** Sends the history with room for one token, where the model is configured so. */
  start({ session, chat }: OpenSession): void {
    const { items, model: { entry } } = session;
    if (this.#running !== null || entry.warmUp !== true || items.length === 0) return;
    const stop = new AbortController();
    const request = requestOf(session);
    const messages = [...request.messages, { role: "user" as const, content: WORDS_TO_COME }];
    const asked = chat({ ...request, messages, maxTokens: 1 }, {
      signal: stop.signal,
      onDelta: () => {},
      // What does not work at once is not worth a second try.
      onRetry: () => stop.abort(NOT_NEEDED),
    });
    // Whatever is wrong, the next turn says it better.
    this.#running = { stop, done: asked.catch(() => {}) };
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    running?.stop.abort(NOT_NEEDED);
    await running?.done;
  }
}
