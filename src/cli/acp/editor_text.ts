/** Asks the client for its text of a file, which may have changes that are not saved. */
import { type Clock, OutputClosed } from "../../platform/io.ts";
import { fieldsOf } from "../../platform/record.ts";
import { orLate } from "../../platform/time_limit.ts";
import type { RpcPeer } from "../../rpc/peer.ts";
import type { UnsavedText } from "../../tools/tool.ts";

/** Longest wait for an editor, in milliseconds. */
const WAIT_MS = 2000;

/**
 * Editors answer with what they loaded, even when a command has changed the file since. So for files changed after the
 * session began, the disk counts. An editor that cannot answer is ignored.
 */
export function editorText(
  { peer, sessionId, clock }: { peer: RpcPeer; sessionId: string; clock: Clock },
): UnsavedText {
  const begun = clock.now();
  return async (path, { modified, signal }) => {
    if (modified >= begun) return null;
    const ask = (asking: AbortSignal) => peer.request("fs/read_text_file", { sessionId, path }, asking);
    try {
      const { content } = fieldsOf(await orLate(WAIT_MS, { clock, signal }, ask));
      return typeof content === "string" ? content : null;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof OutputClosed) throw error;
      return null;
    }
  };
}
