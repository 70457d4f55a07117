/**
 * The label of a session and of what comes into it, raised by new rules and by protected content that the scanner
 * finds.
 */
import { type Label, labelOf } from "../boundary/policy/label.ts";
import { resolve } from "../platform/path.ts";
import { imageUrl } from "../provider/chat/content.ts";
import { imagesOf, sourceOfFormer, type ToolResultItem, type UsedFiles, type UserItem } from "../session/item.ts";
import type { Session } from "./session.ts";

/**
 * Protects every item from the first one that used a file which is now protected: no scan finds what the file held
 * then. If the system message used one, everything is protected. A file that is protected only for its content was open
 * when it was used.
 */
export function raiseLabels({ workspace: { protection, root }, system, items }: Session): void {
  const isProtected = (file: string) => {
    // A label stays raised, so a marker that is unusable for a moment does not count.
    const rule = protection.named(resolve(root, file));
    return rule !== null && rule.copyOf === undefined;
  };
  const holds = (one: { label: Label; files?: UsedFiles }) =>
    one.label === "open" && one.files?.some(isProtected) === true;
  const isSystem = holds(system);
  const first = isSystem ? 0 : items.findIndex((item) => item.kind !== "assistant" && holds(item));
  const item = items[first];
  if (item !== undefined && item.kind !== "assistant") {
    const file = (isSystem ? system : item).files?.find(isProtected);
    if (file !== undefined) item.source ??= sourceOfFormer(resolve(root, file), root);
  }
  if (isSystem) system.label = "no-cloud";
  for (const item of first < 0 ? [] : items.slice(first)) item.label = "no-cloud";
}

/** Returns the highest label of anything that the session holds. */
export function sessionLabel(session: Session): Label {
  // Called several times per response over thousands of items, so it builds no array.
  const open = labelOf(session.system) === "open" && session.items.every((item) => labelOf(item) === "open");
  return open ? "open" : "no-cloud";
}

/**
 * Returns the label of what a model or a person said: at least that of the session, and `no-cloud` if it holds
 * protected content. A model may have read that from an image, decoded it or guessed it. Nothing that is found makes
 * this throw: the words have arrived, and have to be stored and shown.
 */
export async function labelOfWords(
  texts: readonly string[],
  session: Session,
  before = sessionLabel(session),
): Promise<Label> {
  const { scanner, model } = session;
  if (before !== "open") return before;
  const here = { provider: model.provider, local: true };
  return await scanner?.checkPart(texts, { name: "the response", hint: "" }, here) ?? before;
}

/** Returns everything of an item that is sent or stored. Links can lead to files whose names hold protected content. */
export function textsOfItem(item: UserItem | ToolResultItem): string[] {
  const text = item.kind === "user" ? item.text : item.content;
  return [text, ...imagesOf(item).map(imageUrl), ...item.files ?? []];
}

/**
 * Returns the label of texts that have none, or only that of an open file, which can hold a copy of protected content:
 * they are scanned as the result of a tool is.
 */
export async function labelOfTexts(texts: readonly string[], from: string, session: Session): Promise<Label> {
  const before = sessionLabel(session);
  if (before !== "open") return before;
  const result = { name: `the result of ${from}`, hint: "continue with a local model, or protect that file too" };
  return await session.scanner?.checkPart(texts, result, session.model) ?? before;
}
