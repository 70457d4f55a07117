/** Which part of a session a summary stands for, and which part stays. Pure over items. */
import { isUsersWords, type SessionItem } from "../session/item.ts";

/** Share of the budget that a summary may take. */
export const SUMMARY_SHARE = 0.2;

/** A plan for a compaction. */
export interface CompactPlan {
  /** What stays in front of the summary: the user's first words, which most often are the task, unless they are long. */
  head: SessionItem[];
  /** What the summary is made from. */
  summarised: SessionItem[];
  /** What stays behind it: the user's last words and the last rounds. A valid history by itself. */
  kept: SessionItem[];
  /** Items from the beginning that the summary stands for. */
  replaced: number;
}

/** What a plan is made by. */
export interface PlanOptions {
  /** About the bytes to keep. */
  keepBytes: number;
  /** Bytes below which what is new to a summary is not worth one. */
  leastBytes: number;
  sizeOf(item: SessionItem): number;
}

/** Share of the summarised bytes that must not be a summary already: else a compaction would only chew its own work. */
const FRESH_SHARE = 0.25;
/** Share of the kept bytes that the user's first words may have. */
const HEAD_SHARE = 1 / 3;

/**
 * Plans a compaction that keeps about `keepBytes`; null when what is old is next to nothing, or little more than the last
 * summary. The kept part begins with words of the user or with a reply, so no result is without its call.
 */
export function planCompaction(items: readonly SessionItem[], options: PlanOptions): CompactPlan | null {
  const { sizeOf, keepBytes, leastBytes } = options;
  const lastWords = items.findLastIndex(isUsersWords);
  const start = keptFrom(items, { ...options, lastWords });
  const words = items[lastWords];
  const pinned = words !== undefined && lastWords < start ? [words] : [];
  const first = items.slice(0, start).find(isUsersWords);
  const head = first !== undefined && first !== words && sizeOf(first) <= keepBytes * HEAD_SHARE ? [first] : [];
  const summarised = items.slice(0, start).filter((item) => item !== words && !head.includes(item));
  const sum = (list: readonly SessionItem[]) => list.reduce((bytes, item) => bytes + sizeOf(item), 0);
  const fresh = sum(summarised.filter((item) => !isSummary(item)));
  if (fresh === 0 || fresh < leastBytes || fresh < sum(summarised) * FRESH_SHARE) return null;
  return { head, summarised, kept: [...pinned, ...items.slice(start)], replaced: start };
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

function isSummary(item: SessionItem): boolean {
  return item.kind === "user" && item.origin === "summary";
}
