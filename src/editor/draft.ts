/** A file while a plan is made: what stands there, and what will. */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { type FoundFile, linkOnTheWay, readFound } from "./disk.ts";
import { type Ledger, readOriginal } from "./ledger.ts";
import { LiveText } from "./live_text.ts";
import { textOfFile } from "./piece.ts";

/** One file while it is worked on. */
export interface Draft {
  path: string;
  base: string;
  before: FoundFile | null;
  now: Uint8Array<ArrayBuffer> | null;
  /** `now` as text while pieces of it are worked on; null: it was not asked for, or is no text. */
  live: LiveText | null;
  executable: boolean;
  original: LiveText | null;
  /** Something of ours goes out of it. */
  removed: boolean;
  /** Something of others comes back into it. */
  returned: boolean;
  /** What was taken over goes too: the first original must not come back. */
  discarded: boolean;
}

/** Opens a file. Throws `usage` for one behind a link, and for what cannot be read. */
export async function openDraft(
  path: string,
  base: string,
  { ledger, home }: { ledger: Ledger; home: Home },
): Promise<Draft> {
  const link = await linkOnTheWay(base, path);
  if (link !== null) throw new AgentcliError("usage", `${link} is a link; nothing is written through links`);
  const before = readFound(path);
  const kept = ledger.files[path] === undefined ? before : await readOriginal(home, path);
  const original = kept === null ? null : textOfFile(kept.bytes);
  return {
    path,
    base,
    before,
    now: before?.bytes ?? null,
    live: null,
    executable: false,
    original: original === null ? null : new LiveText(original),
    removed: false,
    returned: false,
    discarded: false,
  };
}

/** The draft as text; null for bytes that are none. */
export function liveText(draft: Draft): LiveText | null {
  const text = draft.live === null ? textOfFile(draft.now) : null;
  if (text !== null) draft.live = new LiveText(text);
  return draft.live;
}

/** The bytes of the draft, with what was changed in its text. */
export function bytesNow(draft: Draft): Uint8Array<ArrayBuffer> | null {
  if (draft.live?.isChanged) {
    draft.now = new TextEncoder().encode(draft.live.text);
    draft.live = null;
  }
  return draft.now;
}
