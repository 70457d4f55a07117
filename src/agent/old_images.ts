/** Items without their images: what goes first when room is short. Pure over items. */
import { imageTokens } from "../provider/image.ts";
import { imagesOf, type SessionItem } from "../session/item.ts";
import type { Shortened } from "./shorten.ts";
import { USUAL_RATIO } from "./tokens.ts";

/** The item with a note in place of its images; the same item where it has none. */
export function withoutImages(item: SessionItem, why: string): SessionItem {
  const images = imagesOf(item);
  if (item.kind === "assistant" || images.length === 0) return item;
  const { images: _gone, ...rest } = item;
  const note = images.map(({ name }) => `[image ${name} left out: ${why}]`).join("\n");
  return rest.kind === "user"
    ? { ...rest, text: `${rest.text}\n\n${note}`.trim() }
    : { ...rest, content: `${rest.content}\n${note}`.trim() };
}

/**
 * The items without the images before `end`, but for those of the user's last words; null when there are none. All in
 * one go, because each time the server has to read anew from the first of them.
 */
export function dropOldImages(items: readonly SessionItem[], { end }: { end: number }): Shortened | null {
  const lastWords = items.findLastIndex((item) => item.kind === "user" && item.origin === undefined);
  const isOld = (item: SessionItem, at: number) => at < end && at !== lastWords && imagesOf(item).length > 0;
  const first = items.findIndex(isOld);
  if (first < 0) return null;
  let savedBytes = 0;
  const callIds: string[] = [];
  const changed = items.map((item, at) => {
    if (!isOld(item, at)) return item;
    for (const image of imagesOf(item)) savedBytes += imageTokens(image) * USUAL_RATIO;
    if (item.kind === "tool_result") callIds.push(item.callId);
    return withoutImages(
      item,
      item.kind === "tool_result" ? `to save room; call ${item.name} again to see it` : "to save room",
    );
  });
  return { items: changed, first, callIds, savedBytes };
}

/** How many images the first list shows that the second does not. */
export function countDropped(before: readonly SessionItem[], after: readonly SessionItem[]): number {
  const count = (items: readonly SessionItem[]) => items.reduce((sum, item) => sum + imagesOf(item).length, 0);
  return count(before) - count(after);
}
