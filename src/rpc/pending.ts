/** Requests to the other side that wait for their answers. */

/** How one request is sent and canceled. */
interface PendingRequest<Id> {
  id: Id;
  send(): Promise<void>;
  /** Tells the other side that no answer is needed any more. */
  cancel(): Promise<void>;
}

/** Answers by the id of their request. */
export class PendingRequests<Id, Answer> {
  readonly #open = new Map<Id, (answer: Answer) => void>();

  /**
   * Sends a request and resolves with its answer. Rejects with the signal's reason once the other side was notified.
   */
  async ask({ id, send, cancel }: PendingRequest<Id>, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const stop = () => reject(signal.reason);
    // It can be stopped before the request is known to be written: nobody waits for the answer yet.
    promise.catch(() => {});
    this.#open.set(id, resolve);
    signal.addEventListener("abort", stop, { once: true });
    try {
      await send();
      return await promise;
    } catch (error) {
      if (signal.aborted) await cancel();
      throw error;
    } finally {
      this.#open.delete(id);
      signal.removeEventListener("abort", stop);
    }
  }

  /** Takes an answer; false if the request was never sent, or is already answered. */
  settle(id: Id, answer: Answer): boolean {
    const resolve = this.#open.get(id);
    this.#open.delete(id);
    resolve?.(answer);
    return resolve !== undefined;
  }

  /** Answers everything that is open. */
  settleAll(answer: Answer): void {
    for (const resolve of this.#open.values()) resolve(answer);
    this.#open.clear();
  }
}
