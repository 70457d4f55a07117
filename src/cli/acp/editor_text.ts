/** Asks the client for its text of a file, which may have changes that are not saved. */
import { type Clock, OutputClosed } from "../../platform/io.ts";
import { fieldsOf } from "../../platform/record.ts";
import { orLate } from "../../platform/time_limit.ts";
import type { RpcPeer } from "../../rpc/peer.ts";
import type { UnsavedText } from "../../tools/tool.ts";

/** How long an editor is waited for, in milliseconds. */
const WAIT_MS = 2000;

/**
 * Editors answer with what they loaded, also when a command has changed the file since. So what changed after this was
 * made, with the session, is as it is on the disk. An editor that cannot answer has nothing to say.
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
