/**
 * A stored session as a document: everything that was said, without what may not be written. Loaded with show and
 * export.
 */
import type { Home } from "../../platform/home.ts";
import { judged } from "../../runtime/reopen_store.ts";
import { sessionHtml, sessionMarkdown, sessionValue } from "../../session/export.ts";
import { storedForm } from "../../session/line.ts";
import type { SessionSummary } from "../../session/list.ts";
import { loadTranscript, type StoredSession } from "../../session/load.ts";
import { jsonText } from "../../terminal/clean.ts";
import type { EXPORT_FORMATS } from "../conversation_commands.ts";

export type ExportFormat = typeof EXPORT_FORMATS[number];

/**
 * The session with its whole conversation, including what summaries replaced. What was read from files that are
 * protected now, and everything after it, is replaced by placeholders, as in transcripts.
 */
export async function openDocument(
  home: Home,
  { slug, id }: Pick<SessionSummary, "slug" | "id">,
): Promise<StoredSession> {
  const stored = await loadTranscript(home, { slug, id });
  const projectRoot = stored.meta?.projectRoot ?? "/";
  const { items, context } = await judged({ ...stored, items: [...stored.whole] }, { home, projectRoot });
  const tools = new Set(context?.tools.map((tool) => tool.function.name));
  const written = items.map((item) => storedForm(item, (name) => tools.has(name)));
  return {
    ...stored,
    items: written,
    context: context?.system.label === "open" ? context : null,
    redacted: written.filter(({ label }) => label !== "open").length,
  };
}

/** Returns the text of the document. */
export function documentText(stored: StoredSession, format: ExportFormat): string {
  if (format === "json") return jsonText(sessionValue(stored));
  return format === "markdown" ? sessionMarkdown(stored) : sessionHtml(stored);
}
