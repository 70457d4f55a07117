/** The history of typed lines. One JSON text per line, oldest first, in the home; nothing protected. */
import { type Session } from "../../../agent/session.ts";
import { applyMarkers } from "../../../agent/admission.ts";
import { labelOfWords } from "../../../agent/labels.ts";
import { type Home, openHome } from "../../../platform/home.ts";
import type { Io } from "../../../platform/io.ts";
import { parseJson } from "../../../platform/record.ts";

const FILE = "history";
const MOST_ENTRIES = 1000;
/** A longer text is a paste, not something to type again. Characters. */
const LONGEST_ENTRY = 16 * 1024;

/** The stored lines, oldest first; what cannot be read is left out. */
export async function readHistory(home: Home): Promise<string[]> {
  const text = await home.read(FILE).catch(() => null);
  return text === null ? [] : entriesOf(text);
}

function entriesOf(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const entry = parseJson(line);
    return typeof entry === "string" ? [entry] : [];
  }).slice(-MOST_ENTRIES);
}

/** Adds a line; several chats may do so at the same time. Throws `home_unusable`. */
export async function addToHistory(home: Home, entry: string): Promise<void> {
  if (entry.length > LONGEST_ENTRY) return;
  await home.locked(FILE, async () => {
    const entries = entriesOf(await home.read(FILE) ?? "");
    if (entries.at(-1) === entry) return;
    const lines = [...entries, entry].slice(-MOST_ENTRIES).map((line) => JSON.stringify(line));
    await home.write(FILE, lines.join("\n") + "\n");
  });
}

/**
 * Keeps what was typed in a session for later chats, unless it may hold something protected. Never throws: a history
 * that cannot be written, or a text that may not leave, is not kept.
 */
export async function rememberTyped(text: string, session: Session, io: Io): Promise<void> {
  try {
    await applyMarkers(session);
    if (await labelOfWords([text], session) === "open") await addToHistory(await openHome(io), text);
  } catch {
    // Nothing is kept.
  }
}
