/** Shortening results of tools. */
import { byteLength, headOf, tailOf } from "../../platform/text.ts";
import type { SessionItem, ToolCall, ToolResultItem } from "../../session/item.ts";

/** Results up to this many bytes stay: shortening them would break the prefix for almost nothing. */
const SMALLEST = 1200;
/** Bytes kept of an old result, from its beginning; commands end with what matters, so half is taken from the end. */
const KEPT = 400;
/** Bytes of a call's arguments that are repeated. */
const ARGUMENTS_LIMIT = 160;
/** Bytes kept at least of a new result that does not fit: enough to see what it is, before the turn has to end. */
const SMALLEST_PART = 100;

export interface Shortened {
  items: SessionItem[];
  first: number;
  callIds: string[];
  savedBytes: number;
}

/** Where the last tool calls begin: the last response with calls, and their results; the end where there is none. */
export function lastCallsStart(items: readonly SessionItem[]): number {
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at];
    if (item?.kind === "assistant") return item.calls.length > 0 ? at : items.length;
  }
  return items.length;
}

/**
 * Shortens results before `end` until `saveBytes` are saved, those first that are old and large; null when there are
 * none worth it. All at once, because each time the server has to read again from the first of them.
 */
export function shortenOld(
  items: readonly SessionItem[],
  options: { end: number; saveBytes: number },
): Shortened | null {
  const candidates: { at: number; item: ToolResultItem; bytes: number }[] = [];
  for (let at = 0; at < options.end; at++) {
    const item = items[at];
    if (item?.kind !== "tool_result") continue;
    const bytes = byteLength(item.content);
    if (bytes > SMALLEST) candidates.push({ at, item, bytes });
  }
  const weight = ({ at, bytes }: { at: number; bytes: number }) => bytes * (items.length - at);
  candidates.sort((one, other) => weight(other) - weight(one));
  const calls = callsById(items);
  const changed = [...items];
  let [saved, first] = [0, items.length];
  const callIds: string[] = [];
  for (const { at, item, bytes } of candidates) {
    if (saved >= options.saveBytes) break;
    const content = shortForm(item, { bytes, call: calls.get(item.callId) });
    changed[at] = { ...item, content };
    saved += bytes - byteLength(content);
    first = Math.min(first, at);
    callIds.push(item.callId);
  }
  return callIds.length === 0 ? null : { items: changed, first, callIds, savedBytes: saved };
}

function callsById(items: readonly SessionItem[]): Map<string, ToolCall> {
  const calls = new Map<string, ToolCall>();
  for (const item of items) {
    if (item.kind !== "assistant") continue;
    for (const call of item.calls) calls.set(call.id, call);
  }
  return calls;
}

/** A shortened result: its source, what remains, and how to read the rest. */
function shortForm(item: ToolResultItem, known: { bytes: number; call: ToolCall | undefined }): string {
  const given = JSON.stringify(known.call?.input ?? {});
  const shown = byteLength(given) > ARGUMENTS_LIMIT ? `${headOf(given, ARGUMENTS_LIMIT)}...` : given;
  const again = item.name === "Bash"
    ? "Run a command again only if it is safe to repeat."
    : `Call ${item.name} again to see it.`;
  const [head, tail] = item.name === "Bash"
    ? [headOf(item.content, KEPT / 2), tailOf(item.content, KEPT / 2)]
    : [headOf(item.content, KEPT), ""];
  const note = `[${item.name} ${shown}: result shortened to save room, it had ${known.bytes} bytes. ${again}]`;
  return tail === "" ? `${note}\n${head}...` : `${note}\n${head}\n...\n${tail}`;
}

/**
 * Cuts the results from `start` on so that together they have at most about `bytes`; the largest lose most. Null when
 * they fit. Each keeps its beginning and its end, and says how to ask for less.
 */
export function cutResults(
  items: readonly SessionItem[],
  options: { start: number; bytes: number },
): Shortened | null {
  const results = items.flatMap((item, at) =>
    at >= options.start && item.kind === "tool_result" ? [{ at, item, bytes: byteLength(item.content) }] : []
  );
  const share = Math.max(fairShare(results.map((result) => result.bytes), options.bytes), SMALLEST_PART);
  const long = results.filter((result) => result.bytes > share + NOTE_BYTES);
  const [earliest] = long;
  if (earliest === undefined) return null;
  const changed = [...items];
  let savedBytes = 0;
  for (const { at, item, bytes } of long) {
    const content = middleCut(item.content, { share, bytes });
    changed[at] = { ...item, content };
    savedBytes += bytes - byteLength(content);
  }
  return { items: changed, first: earliest.at, callIds: long.map(({ item }) => item.callId), savedBytes };
}

/** About the bytes of the note in a cut result. */
const NOTE_BYTES = 160;

function fairShare(sizes: readonly number[], total: number): number {
  let [left, count] = [total, sizes.length];
  for (const size of [...sizes].sort((one, other) => one - other)) {
    if (size * count > left) break;
    left -= size;
    count--;
  }
  return count === 0 ? Infinity : Math.floor(left / count) - NOTE_BYTES;
}

/** Bytes that tools append after the part that they limit themselves. */
const NOTES_ROOM = 600;

/** A new result within about `bytes`; as it is where it is little longer. */
export function cutResult(content: string, bytes: number): string {
  if (content.length * 3 <= bytes + NOTES_ROOM) return content;
  const given = byteLength(content);
  return given <= bytes + NOTES_ROOM ? content : middleCut(content, { share: bytes, bytes: given });
}

function middleCut(content: string, { share, bytes }: { share: number; bytes: number }): string {
  const tail = Math.floor(share / 4);
  const note = `[${bytes - share} of ${bytes} bytes left out: the context is full. ` +
    "Ask for a part: offset and limit, a narrower pattern, or a command that prints less.]";
  return `${headOf(content, share - tail)}\n${note}\n${tailOf(content, tail)}`;
}
