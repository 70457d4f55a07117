/** Questions to the client and its answers, which come in any order or not at all. */
import type { ClientQuestion } from "../../protocol/control_schema.ts";
import type { ControlResponse } from "../../protocol/input.ts";
import type { ClientOutput } from "./client_output.ts";

/** What came of a question: the answer, the client's error, or nothing because the client has ended its input. */
export type ClientAnswer = { response: Record<string, unknown> } | { error: string } | { gone: true };

/** Asks the client. */
export interface Questions {
  /** Rejects with the signal's reason; the client is told that no answer is needed any more. */
  ask(question: ClientQuestion, signal: AbortSignal): Promise<ClientAnswer>;
  /** Takes an answer; false for one to a question that was never asked, or is answered. */
  answer(message: ControlResponse): boolean;
  /** No more answers will come: what is open and what follows is `gone`. */
  end(): void;
}

/** No question is open. */
export function createQuestions(output: ClientOutput): Questions {
  const open = new Map<string, (answer: ClientAnswer) => void>();
  let ended = false;
  return {
    async ask(question, signal) {
      signal.throwIfAborted();
      if (ended) return { gone: true };
      const id = crypto.randomUUID();
      const { promise, resolve, reject } = Promise.withResolvers<ClientAnswer>();
      const stop = () => reject(signal.reason);
      // The client can interrupt before we hear that its question was written: nobody waits for the answer yet.
      promise.catch(() => {});
      open.set(id, resolve);
      signal.addEventListener("abort", stop, { once: true });
      try {
        await output.control({ type: "control_request", request_id: id, request: question });
        return await promise;
      } catch (error) {
        if (signal.aborted) await output.control({ type: "control_cancel_request", request_id: id });
        throw error;
      } finally {
        open.delete(id);
        signal.removeEventListener("abort", stop);
      }
    },
    answer(message) {
      const resolve = open.get(message.id);
      open.delete(message.id);
      resolve?.(message.outcome);
      return resolve !== undefined;
    },
    end() {
      ended = true;
      for (const resolve of open.values()) resolve({ gone: true });
      open.clear();
    },
  };
}
