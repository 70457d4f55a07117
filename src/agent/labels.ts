/** The label of a session and of what comes into it, raised by new rules and by protected content that the scanner finds. */
import { type Label, labelOf } from "../boundary/policy/label.ts";
import { resolve } from "../platform/path.ts";
import { sourceOfFormer, type UsedFiles } from "../session/item.ts";
import { resultOf } from "./content_scanner.ts";
import type { Session } from "./session.ts";

/**
 * Protects every item from the first one on that used a file which is protected by now: no scan finds what the file held
 * then. If the system message used one, everything is protected. A file that is protected only for its content was open
 * when it was used. `isElsewhere` names more protected paths.
 */
export function raiseLabels(
  { workspace: { protection, root }, system, items }: Session,
  isElsewhere: (path: string) => boolean = () => false,
): void {
  const isProtected = (file: string) => {
    const path = resolve(root, file);
    // A label stays raised, so a marker that is unusable for a moment does not count.
    const rule = protection.named(path);
    return rule !== null && rule.copyOf === undefined || isElsewhere(path);
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

/** Raises labels by what any known project protects by now. Called before the session goes to a model that is not local. */
export async function raiseLabelsAnywhere(session: Session): Promise<void> {
  const protects = sessionLabel(session) === "open" ? await session.protectedAnywhere?.() : null;
  if (protects) raiseLabels(session, memoized(protects));
}

/** Asks about each path once. */
export function memoized(protects: (path: string) => boolean): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const found = known.get(path) ?? protects(path);
    known.set(path, found);
    return found;
  };
}

/** Returns the highest label of anything that the session holds. */
export function sessionLabel(session: Session): Label {
  // Called several times per response, over thousands of items: no array is built for it.
  const open = labelOf(session.system) === "open" && session.items.every((item) => labelOf(item) === "open");
  return open ? "open" : "no-cloud";
}

/**
 * Returns the label of what a model said: at least that of what it was told, and `no-cloud` if it holds protected content.
 * The model may have read that from an image, decoded it or guessed it. Nothing that is found makes this throw: the words
 * have arrived, and have to be stored and shown.
 */
export async function labelOfWords(
  texts: readonly string[],
  session: Session,
  before = sessionLabel(session),
): Promise<Label> {
  const { scanner, model, workspace } = session;
  if (before !== "open" && !workspace.hasEndpoints) return before;
  const here = { provider: model.provider, local: true };
  const found = await scanner?.checkPart(texts, { name: "the response", hint: "" }, here);
  return found === "protected" ? "no-cloud" : before;
}

/** Returns the label of a text that comes without one: it is scanned as the result of a tool is. */
export async function labelOfText(text: string, from: string, session: Session): Promise<Label> {
  const before = sessionLabel(session);
  if (before !== "open" && !session.workspace.hasEndpoints) return before;
  const found = await session.scanner?.checkPart([text], resultOf(from), session.model);
  return found === "protected" ? "no-cloud" : before;
}
