/** The transcript of a session that is not stored (`--no-session-persistence`): the same calls, and nothing written. */
import type { SessionItem } from "./item.ts";
import type { Transcript } from "./transcript.ts";

/** Counts turns and does nothing else. */
export function unstoredTranscript(sessionId: string): Transcript {
  let turns = 0;
  let last: readonly SessionItem[] = [];
  const isPrompt = (item: SessionItem) => item.kind === "user" && item.origin === undefined;
  return {
    sessionId,
    file: "",
    persisted: false,
    get turns() {
      return turns;
    },
    append(item) {
      if (isPrompt(item)) turns++;
      last = [...last, item];
      return Promise.resolve();
    },
    record(items) {
      const known = new Set(last);
      turns += items.filter((item) => isPrompt(item) && !known.has(item)).length;
      last = [...items];
      return Promise.resolve();
    },
    setContext: () => {},
    note: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
