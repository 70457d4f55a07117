/** A transcript that is opened when something is recorded for the first time, so that a request need not wait for it. */
import type { SessionContext } from "./line.ts";
import type { Transcript } from "./transcript.ts";

/**
 * The transcript of a new session, opened by `open` with the first record; `file` is where it will be. What `open` throws
 * every record throws.
 */
export function lateTranscript(file: string, open: () => Promise<Transcript>): Transcript {
  let context: SessionContext | null = null;
  let opening: Promise<Transcript> | null = null;
  let transcript: Transcript | null = null;
  const start = async () => {
    transcript = await open();
    if (context !== null) transcript.setContext(context);
    return transcript;
  };
  return {
    file,
    get turns() {
      return transcript?.turns ?? 0;
    },
    async record(items, facts) {
      const now = [...items];
      await (await (opening ??= start())).record(now, facts);
    },
    setContext(next) {
      context = next;
      transcript?.setContext(next);
    },
    // Nothing is kept of a session in which nothing was said.
    note: async (fields) => await (await opening)?.note(fields),
    // One that did not open has nothing to give back.
    close: async () => await (await opening?.catch(() => null))?.close(),
  };
}
