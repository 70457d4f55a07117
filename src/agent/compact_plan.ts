/** Which part of a session a summary stands for, and which part stays. Pure over items. */
import type { SessionItem } from "../session/item.ts";

/** A plan for a compaction. */
export interface CompactPlan {
  /** What the summary is made from. */
  summarised: SessionItem[];
  /** What stays behind it: the user's last words and the last rounds. A valid history by itself. */
  kept: SessionItem[];
  /** Items from the beginning that the summary stands for. */
  replaced: number;
}

/** Share of the summarised bytes that must not be a summary already: else a compaction would only chew its own work. */
const FRESH_SHARE = 0.25;

/**
 * Plans a compaction that keeps about `keepBytes`; null when what is old is nothing, or little more than the last
 * summary. The kept part begins with words of the user or with a reply, so no result is without its call.
 */
export function planCompaction(
  items: readonly SessionItem[],
  options: { keepBytes: number; sizeOf(item: SessionItem): number },
): CompactPlan | null {
  const { sizeOf } = options;
  const lastWords = items.findLastIndex(isUsersWords);
  const start = keptFrom(items, { ...options, lastWords });
  const words = items[lastWords];
  const pinned = words !== undefined && lastWords < start ? [words] : [];
  const summarised = items.slice(0, start).filter((item) => item !== words);
  const sum = (list: readonly SessionItem[]) => list.reduce((bytes, item) => bytes + sizeOf(item), 0);
  const fresh = summarised.filter((item) => !isSummary(item));
  if (fresh.length === 0 || sum(fresh) < sum(summarised) * FRESH_SHARE) return null;
  return { summarised, kept: [...pinned, ...items.slice(start)], replaced: start };
}

/** The earliest place from which the items have at most `keepBytes`; at least the last round is kept. */
function keptFrom(
  items: readonly SessionItem[],
  { keepBytes, sizeOf, lastWords }: { keepBytes: number; sizeOf(item: SessionItem): number; lastWords: number },
): number {
  let bytes = 0;
  let start: number | null = null;
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at];
    if (item === undefined) continue;
    if (isSummary(item)) break;
    bytes += sizeOf(item);
    if (bytes > keepBytes && start !== null) break;
    // Behind the user's last words every reply may begin the kept part, before them only a turn.
    if (at > lastWords ? item.kind === "assistant" : isUsersWords(item)) start = at;
    if (bytes > keepBytes && start !== null) break;
  }
  return start ?? items.length;
}

function isUsersWords(item: SessionItem): boolean {
  return item.kind === "user" && item.origin === undefined;
}

function isSummary(item: SessionItem): boolean {
  return item.kind === "user" && item.origin === "summary";
}
